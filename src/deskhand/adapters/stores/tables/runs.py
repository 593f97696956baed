"""Messages, the runs that work them, and what a run records."""

from sqlalchemy import (
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

runs = Table(
    "runs",
    metadata,
    Column("position", Position, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("desk", Text, nullable=False),
    Column("message_key", LargeBinary, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("flow", Text, nullable=False),
    Column("flow_version", Text),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("error_code", Text),
    Column("owner", Text),
    Column("crashes", Integer, nullable=False),
    Column("successor", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("due_at", Float),
    Column("waits_for", Text),
    Column("pruned_at", Float),
    Column("pruned_rows", Integer),
    Column("pruned_chain", LargeBinary),
    Column("steps_pruned_at", Float),
    Index("runs_message", "desk", "message_key", unique=True),
    Index("runs_conversation", "desk", "conversation"),
)
# The migrations build the indexes, on PostgreSQL with the same conditions. Written down here too,
# those would bring SQLAlchemy's part for PostgreSQL into every process that uses SQLite.
runs_active = Index(
    "runs_active",
    runs.c.status,
    sqlite_where=runs.c.status.in_(("queued", "running")),
)
runs_waiting = Index(
    "runs_waiting",
    runs.c.conversation,
    sqlite_where=runs.c.status == "waiting_user",
)
runs_due = Index(
    "runs_due",
    runs.c.desk,
    runs.c.due_at,
    sqlite_where=runs.c.due_at.is_not(None),
)
_screened = and_(runs.c.status == "done", runs.c.error_code == "automatic_mail")
runs_screened = Index(
    "runs_screened",
    runs.c.desk,
    runs.c.position,
    sqlite_where=_screened,
)
runs_status = Index(
    "runs_status",
    runs.c.status,
    runs.c.desk,
    runs.c.position,
    sqlite_where=runs.c.pruned_at.is_(None),
)

messages = Table(
    "messages",
    metadata,
    Column("run", Position, primary_key=True, autoincrement=False),
    Column("desk", Text, nullable=False),
    Column("sender", Text),
    Column("body", LargeBinary),
    Column("salt", LargeBinary),
    Column("body_digest", LargeBinary, nullable=False),
    Index("messages_sender", "desk", "sender"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("taken_over_by", Text),
    Column("taken_over_at", Float),
    Column("forgotten_before", Position),
    PrimaryKeyConstraint("desk", "id"),
)

steps = Table(
    "steps",
    metadata,
    Column("run", Position, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("flow_version", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("latency_ms", Float, nullable=False),
    Column("body", LargeBinary),
    Column("salt", LargeBinary),
    Column("body_digest", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Column("desk", Text, nullable=False),
    PrimaryKeyConstraint("run", "seq"),
)

effects = Table(
    "effects",
    metadata,
    Column("run", Position, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("call", Integer, nullable=False),
    Column("desk", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("call_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("result", LargeBinary),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("leaving_at", Float),
    PrimaryKeyConstraint("run", "seq", "call"),
)

effect_counts = Table(
    "effect_counts",
    metadata,
    Column("run", Position, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("call", Integer, nullable=False),
    Column("desk", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("run", "seq", "call"),
    Index("effect_counts_at", "desk", "at"),
)
"""What each effect added to the totals, so that a total somebody lowered is noticed."""

llm_calls = Table(
    "llm_calls",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run_id", Text),
    Column("stage", Text, nullable=False),
    Column("call_type", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    Column("latency_ms", Float, nullable=False),
    Column("error", Text),
    Column("at", Float, nullable=False),
    Column("answer", LargeBinary),
    Column("cached_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Index("llm_calls_run", "run_id"),
    Index("llm_calls_at", "desk", "at"),
)

events = Table(
    "events",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run_id", Text),
    Column("kind", Text, nullable=False),
    Column("by", Text),
    Column("payload", LargeBinary),
    Column("at", Float, nullable=False),
    Index("events_run", "run_id"),
)

answer_sources = Table(
    "answer_sources",
    metadata,
    Column("run", Position, nullable=False),
    Column("article", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("run", "article"),
    Index("answer_sources_article", "desk", "article", "content_hash"),
)

attachments = Table(
    "attachments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("origin", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("by", Text),
    Column("at", Float, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("attachments_run", "run", "number"),
)
