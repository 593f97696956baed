"""What each effect added to the totals."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0029"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "effect_counts",
        sa.Column("run", _position, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("call", sa.Integer(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run", "seq", "call"),
    )
    op.create_index("effect_counts_at", "effect_counts", ["desk", "at"])


def downgrade() -> None:
    op.drop_table("effect_counts")
