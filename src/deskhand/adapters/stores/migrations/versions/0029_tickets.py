"""Tickets: events, and the rows that are told from them."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0024"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "ticket_events",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("run", _position),
        sa.Column("change", sa.Text()),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("desk", "ticket", "number"),
    )
    op.create_index("ticket_events_run", "ticket_events", ["run"])
    op.create_index("ticket_events_change", "ticket_events", ["desk", "change"])
    op.create_table(
        "ticket_customers",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("customer", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "customer"),
    )
    op.create_table(
        "tickets",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("customer", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("opened_at", sa.Float(), nullable=False),
        sa.Column("changed_at", sa.Float(), nullable=False),
        sa.Column("solved_at", sa.Float()),
        sa.Column("merged_into", sa.Text()),
        sa.Column("assignee", sa.Text()),
        sa.Column("group", sa.Text()),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("checkpoint", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("desk", "id"),
    )
    op.create_index("tickets_customer", "tickets", ["desk", "customer", "state", "changed_at"])
    op.create_index("tickets_queue", "tickets", ["desk", "state", "changed_at", "id"])
    op.create_index("tickets_changed", "tickets", ["desk", "changed_at", "id"])
    op.create_table(
        "ticket_messages",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", _position, nullable=False),
        sa.Column("ticket", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "run"),
    )
    op.create_index("ticket_messages_ticket", "ticket_messages", ["desk", "ticket"])
    op.create_index(
        "ticket_messages_conversation", "ticket_messages", ["desk", "conversation", "ticket"]
    )
    op.create_table(
        "active_tickets",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("customer", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Text(), nullable=False),
        sa.Column("checkpoint", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "customer", "ticket"),
    )


def downgrade() -> None:
    op.drop_table("active_tickets")
    op.drop_index("ticket_messages_conversation", "ticket_messages")
    op.drop_index("ticket_messages_ticket", "ticket_messages")
    op.drop_table("ticket_messages")
    op.drop_index("tickets_changed", "tickets")
    op.drop_index("tickets_queue", "tickets")
    op.drop_index("tickets_customer", "tickets")
    op.drop_table("tickets")
    op.drop_table("ticket_customers")
    op.drop_index("ticket_events_change", "ticket_events")
    op.drop_index("ticket_events_run", "ticket_events")
    op.drop_table("ticket_events")
