"""Tickets: their events, and what is told from those.

`ticket_events` is the truth. `tickets`, `ticket_messages`, `taken_turns` and `active_tickets` can
be made again from it and from the messages of runs.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from deskhand.adapters.stores.tables.schema import Position, metadata

ticket_events = Table(
    "ticket_events",
    metadata,
    Column("desk", Text, nullable=False),
    Column("ticket", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("run", Position),
    Column("change", Text),
    Column("body", LargeBinary, nullable=False),
    Column("vector", LargeBinary),
    PrimaryKeyConstraint("desk", "ticket", "number"),
    Index("ticket_events_run", "run"),
    Index("ticket_events_change", "desk", "change"),
)

ticket_customers = Table(
    "ticket_customers",
    metadata,
    Column("desk", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    PrimaryKeyConstraint("desk", "customer"),
)

tickets = Table(
    "tickets",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("opened_at", Float, nullable=False),
    Column("changed_at", Float, nullable=False),
    Column("solved_at", Float),
    Column("merged_into", Text),
    Column("assignee", Text),
    Column("group", Text),
    Column("tags", Text, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("search_text", Text, nullable=False),
    Column("checkpoint", LargeBinary),
    Column("urgency", Text),
    Column("category", Text),
    Column("language", Text),
    Column("plan", Text),
    Column("asked_at", Float),
    Column("heard_at", Float),
    Column("answered_at", Float),
    Column("pauses", Text),
    Column("told", Text),
    Column("due_at", Float),
    Column("due_for", Text),
    Column("warn_at", Float),
    Column("timed", Integer),
    Column("surveyed_at", Float),
    Column("rating", Text),
    PrimaryKeyConstraint("desk", "id"),
    Index("tickets_due", "desk", "state", "due_at", "id"),
    Index("tickets_customer", "desk", "customer", "state", "changed_at"),
    Index("tickets_queue", "desk", "state", "changed_at", "id"),
    Index("tickets_changed", "desk", "changed_at", "id"),
)

ticket_messages = Table(
    "ticket_messages",
    metadata,
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("ticket", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    PrimaryKeyConstraint("desk", "run"),
    Index("ticket_messages_ticket", "desk", "ticket"),
    Index("ticket_messages_conversation", "desk", "conversation", "ticket"),
)

taken_turns = Table(
    "taken_turns",
    metadata,
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("place", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("at", Float),
    Column("conversation", Text),
    PrimaryKeyConstraint("desk", "run", "place"),
    Index("taken_turns_digest", "desk", "digest", "run"),
)

active_tickets = Table(
    "active_tickets",
    metadata,
    Column("desk", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("ticket", Text, nullable=False),
    Column("checkpoint", LargeBinary, nullable=False),
    PrimaryKeyConstraint("desk", "customer", "ticket"),
)

ticket_views = Table(
    "ticket_views",
    metadata,
    Column("desk", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("made_at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "name"),
)
