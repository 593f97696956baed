"""What sinks of telemetry have been told, and what was told to the one in this database."""

from sqlalchemy import BigInteger, Column, Float, Index, PrimaryKeyConstraint, Table, Text

from deskhand.adapters.stores.tables.schema import Position, metadata

telemetry_marks = Table(
    "telemetry_marks",
    metadata,
    Column("desk", Text, nullable=False),
    Column("sink", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("told_at", Float),
    Column("failure", Text),
    PrimaryKeyConstraint("desk", "sink"),
)

telemetry_events = Table(
    "telemetry_events",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("position", Position, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("timestamp", Text, nullable=False),
    Column("interaction_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("intent_id", Text),
    Column("payload", Text, nullable=False),
    PrimaryKeyConstraint("desk", "id"),
    Index("telemetry_events_position", "desk", "position", unique=True),
    Index("telemetry_events_run", "run_id"),
    Index("telemetry_events_session", "desk", "session_id"),
)
