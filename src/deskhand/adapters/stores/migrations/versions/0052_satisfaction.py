"""What customers say of how their tickets were handled."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tickets", sa.Column("surveyed_at", sa.Float()))
    op.add_column("tickets", sa.Column("rating", sa.Text()))


def downgrade() -> None:
    op.drop_column("tickets", "rating")
    op.drop_column("tickets", "surveyed_at")
