"""Totals of effects, the stop switch, and the first of two approvals."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "totals",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "scope", "name", "day", "tool", "unit"),
    )
    op.create_table(
        "stops",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk"),
    )
    op.create_index("llm_calls_at", "llm_calls", ["desk", "at"])
    op.add_column("reviews", sa.Column("signed_by", sa.Text()))


def downgrade() -> None:
    with op.batch_alter_table("reviews") as table:
        table.drop_column("signed_by")
    op.drop_index("llm_calls_at", "llm_calls")
    op.drop_table("stops")
    op.drop_table("totals")
