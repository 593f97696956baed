"""Runs that wait in the queue for a model: until when, and for which."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_WAITING = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("runs", sa.Column("due_at", sa.Float()))
    op.add_column("runs", sa.Column("waits_for", sa.Text()))
    op.create_index(
        "runs_due",
        "runs",
        ["desk", "due_at"],
        sqlite_where=_WAITING,
        postgresql_where=_WAITING,
    )


def downgrade() -> None:
    op.drop_index("runs_due", "runs")
    op.drop_column("runs", "waits_for")
    op.drop_column("runs", "due_at")
