"""Webhooks: addresses, what has happened and is not passed on yet, and what became of each
delivery."""

from sqlalchemy import (
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

webhook_endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", Text, primary_key=True),
    Column("url", Text, nullable=False),
    Column("desks", Text, nullable=False),
    Column("events", Text, nullable=False),
    Column("content", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("rotated_at", Float),
    Column("key_check", Text, nullable=False),
    Column("disabled_at", Float),
    Column("disabled_because", Text, nullable=False),
    Column("failing_since", Float),
)

webhook_events = Table(
    "webhook_events",
    metadata,
    Column("number", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("at", Float, nullable=False),
    Index("webhook_events_desk", "desk", "number"),
)
"""Written by triggers while anybody wants to know, and gone when it has become deliveries."""

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("endpoint", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("run_id", Text),
    Column("type", Text, nullable=False),
    Column("payload", LargeBinary),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("tried_at", Float),
    Column("status", Integer),
    Column("error", Text),
    PrimaryKeyConstraint("endpoint", "id"),
    Index("webhook_deliveries_due", "desk", "state", "next_at"),
    Index("webhook_deliveries_log", "endpoint", "created_at", "id"),
    Index("webhook_deliveries_run", "run_id"),
)
