"""What keeps desks and workers going: limits, leases, workers, seals, stored responses."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
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
    PrimaryKeyConstraint("desk", "run", "number"),
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
