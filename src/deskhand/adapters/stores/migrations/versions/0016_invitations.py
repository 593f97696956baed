"""Times that are held because of an invitation know which."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bookings", sa.Column("uid", sa.Text()))


def downgrade() -> None:
    op.drop_column("bookings", "uid")
