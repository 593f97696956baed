"""What keeps desks and workers going: limits, leases, workers, seals, stored responses,
telemetry."""

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
    and_,
)

from deskhand.adapters.stores.tables.schema import Position, metadata

totals = Table(
    "totals",
    metadata,
    Column("desk", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    PrimaryKeyConstraint("desk", "scope", "name", "day", "tool", "unit"),
)

stops = Table(
    "stops",
    metadata,
    Column("desk", Text, primary_key=True),
    Column("by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("acquired_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("desks", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("beat_at", Float, nullable=False),
    Column("running", Integer, nullable=False),
)

model_rates = Table(
    "model_rates",
    metadata,
    Column("model", Text, primary_key=True),
    Column("free_at", Float, nullable=False),
)

seals = Table(
    "seals",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("heads", LargeBinary, nullable=False),
    Column("mac", Text, nullable=False),
    Column("kind", Text),
)

statements = Table(
    "statements",
    metadata,
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("body", Text, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Column("salt", LargeBinary),
    Column("told", Integer),
    PrimaryKeyConstraint("desk", "run", "number"),
    Index("statements_told", "desk", "told", unique=True),
)
# The migration builds it on PostgreSQL with the same condition.
statements_untold = Index(
    "statements_untold",
    statements.c.desk,
    statements.c.run,
    statements.c.number,
    sqlite_where=and_(statements.c.told.is_(None), statements.c.run > 0),
)

responses = Table(
    "responses",
    metadata,
    Column("desk", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("response", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "key"),
)

write_checks = Table(
    "write_checks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("at", Float, nullable=False),
)

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
