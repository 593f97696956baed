"""Runs of a conversation are found by desk and conversation: PostgreSQL without statistics took
the desk alone."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("runs_conversation", table_name="runs")
    op.create_index("runs_conversation", "runs", ["desk", "conversation"])


def downgrade() -> None:
    op.drop_index("runs_conversation", table_name="runs")
    op.create_index("runs_conversation", "runs", ["conversation"])
