"""Up to which run a conversation was forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0035"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("conversations", sa.Column("forgotten_before", _position))


def downgrade() -> None:
    op.drop_column("conversations", "forgotten_before")
