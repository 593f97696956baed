"""How urgent tickets are, when they are due, and saved views of them."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0041"
branch_labels = None
depends_on = None

_COLUMNS = {
    "urgency": sa.Text,
    "category": sa.Text,
    "language": sa.Text,
    "plan": sa.Text,
    "asked_at": sa.Float,
    "heard_at": sa.Float,
    "answered_at": sa.Float,
    "pauses": sa.Text,
    "told": sa.Text,
    "due_at": sa.Float,
    "due_for": sa.Text,
    "warn_at": sa.Float,
    "timed": sa.Integer,
}


def upgrade() -> None:
    for name, kind in _COLUMNS.items():
        op.add_column("tickets", sa.Column(name, kind()))
    op.create_index("tickets_due", "tickets", ["desk", "state", "due_at", "id"])
    op.create_table(
        "ticket_views",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "name"),
    )


def downgrade() -> None:
    op.drop_table("ticket_views")
    op.drop_index("tickets_due", "tickets")
    for name in reversed(_COLUMNS):
        op.drop_column("tickets", name)
