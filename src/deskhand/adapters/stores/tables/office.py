"""Where channels have read to, and what the calendar holds."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from deskhand.adapters.stores.tables.schema import Position, metadata

channel_marks = Table(
    "channel_marks",
    metadata,
    Column("desk", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("mark", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "channel", "name"),
)

arrivals = Table(
    "arrivals",
    metadata,
    Column("desk", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("shown", Text, nullable=False),
    PrimaryKeyConstraint("desk", "channel", "place"),
    Index("arrivals_run", "run"),
)

bookings = Table(
    "bookings",
    metadata,
    Column("desk", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("holder", Text),
    Column("starts_at", Float, nullable=False),
    Column("ends_at", Float, nullable=False),
    Column("state", Text, nullable=False),
    Column("expires_at", Float),
    Column("reason", Text, nullable=False),
    Column("written", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("uid", Text),
    PrimaryKeyConstraint("desk", "key"),
    Index("bookings_time", "desk", "ends_at"),
    Index("bookings_run", "run_id"),
)

calendar_turns = Table(
    "calendar_turns",
    metadata,
    Column("desk", Text, primary_key=True),
    Column("turn", BigInteger, nullable=False),
)
