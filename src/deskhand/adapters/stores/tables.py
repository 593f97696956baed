"""The tables, as SQLAlchemy sees them; the migrations build them, a test holds the two together.

Every table carries the desk. Rows that belong to a run point at `runs.position`, an integer: a text
key in every row and again in its index took a tenth of the space.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

metadata = MetaData()

_Position = BigInteger().with_variant(Integer, "sqlite")

runs = Table(
    "runs",
    metadata,
    Column("position", _Position, primary_key=True, autoincrement=True),
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
    Index("runs_message", "desk", "message_key", unique=True),
    Index("runs_conversation", "desk", "conversation"),
)
runs_active = Index(
    "runs_active",
    runs.c.status,
    sqlite_where=runs.c.status.in_(("queued", "running")),
    postgresql_where=runs.c.status.in_(("queued", "running")),
)
runs_waiting = Index(
    "runs_waiting",
    runs.c.conversation,
    sqlite_where=runs.c.status == "waiting_user",
    postgresql_where=runs.c.status == "waiting_user",
)

messages = Table(
    "messages",
    metadata,
    Column("run", _Position, primary_key=True, autoincrement=False),
    Column("desk", Text, nullable=False),
    Column("sender", Text),
    Column("body", LargeBinary),
    Column("salt", LargeBinary),
    Column("body_digest", LargeBinary, nullable=False),
    Index("messages_sender", "desk", "sender"),
)

steps = Table(
    "steps",
    metadata,
    Column("run", _Position, nullable=False),
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
    Column("run", _Position, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("call", Integer, nullable=False),
    Column("desk", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("call_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("result", LargeBinary),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    PrimaryKeyConstraint("run", "seq", "call"),
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", Text, primary_key=True),
    Column("desk", Text, nullable=False),
    Column("run", _Position, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("payload", LargeBinary),
    Column("payload_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("fallback", Text),
    Column("decision", Text),
    Column("decided_by", Text),
    Column("decided_at", Float),
    Column("note", Text),
    Column("edit", LargeBinary),
    Column("signed_by", Text),
    Column("causes", Text),
    Column("facts", LargeBinary),
    Column("assignee", Text),
    Column("snoozed_until", Float),
    Column("announced", Integer),
    Index("reviews_conversation", "conversation", "state"),
    Index("reviews_run", "run"),
    Index("reviews_queue", "desk", "state", "created_at", "id"),
    Index("reviews_announced", "desk", "announced"),
)

review_edits = Table(
    "review_edits",
    metadata,
    Column("review", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("run", _Position, nullable=False),
    Column("edit", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("review", "by"),
    Index("review_edits_run", "run"),
)

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

llm_calls = Table(
    "llm_calls",
    metadata,
    Column("id", _Position, primary_key=True, autoincrement=True),
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
    Index("llm_calls_run", "run_id"),
    Index("llm_calls_at", "desk", "at"),
)

events = Table(
    "events",
    metadata,
    Column("id", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run_id", Text),
    Column("kind", Text, nullable=False),
    Column("by", Text),
    Column("payload", LargeBinary),
    Column("at", Float, nullable=False),
    Index("events_run", "run_id"),
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run", _Position, nullable=False),
    Column("category", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("judged", Text, nullable=False),
    Column("share", Float, nullable=False),
    Column("facts", Integer, nullable=False),
    Column("counts", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Index("judgements_run", "run", "judged", unique=True),
    Index("judgements_category", "desk", "category", "id"),
)

mode_changes = Table(
    "mode_changes",
    metadata,
    Column("desk", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("how", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("figures", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "category", "number"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("taken_over_by", Text),
    Column("taken_over_at", Float),
    PrimaryKeyConstraint("desk", "id"),
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
    Column("id", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("heads", LargeBinary, nullable=False),
    Column("mac", Text, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("desks", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("revoked_at", Float),
)

notices = Table(
    "notices",
    metadata,
    Column("id", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("error", Text),
    PrimaryKeyConstraint("desk", "id"),
    Index("notices_due", "desk", "state", "next_at"),
)

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password", Text, nullable=False),
    Column("desks", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("removed_at", Float),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("name", Text, nullable=False),
    Column("csrf", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Index("sessions_name", "name"),
)

login_failures = Table(
    "login_failures",
    metadata,
    Column("key", Text, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("since", Float, nullable=False),
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

# The full-text index (`kb_words`) and, with pgvector, the vectors (`kb_vectors`) are each
# database's own affair: see migration 0003 and knowledge_*.py.

kb_articles = Table(
    "kb_articles",
    metadata,
    Column("position", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("category", Text),
    Column("language", Text),
    Column("valid_until", Float),
    Column("source", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("built_with", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("updated_at", Float, nullable=False),
    Index("kb_articles_id", "desk", "id", unique=True),
    sqlite_autoincrement=True,  # a position is never used twice: snapshots in memory know rows by it  # noqa: E501
)

kb_chunks = Table(
    "kb_chunks",
    metadata,
    Column("position", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("article", _Position, nullable=False),
    Column("heading_path", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("kb_chunks_article", "article"),
    sqlite_autoincrement=True,
)

kb_versions = Table(
    "kb_versions",
    metadata,
    Column("desk", Text, primary_key=True),
    Column("version", BigInteger, nullable=False),
)

answer_sources = Table(
    "answer_sources",
    metadata,
    Column("run", _Position, nullable=False),
    Column("article", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("run", "article"),
    Index("answer_sources_article", "desk", "article", "content_hash"),
)

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
    Column("run", _Position, nullable=False),
    Column("shown", Text, nullable=False),
    PrimaryKeyConstraint("desk", "channel", "place"),
    Index("arrivals_run", "run"),
)

exchanges = Table(
    "exchanges",
    metadata,
    Column("position", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run", _Position, nullable=False, unique=True),
    Column("person", Text, nullable=False),
    Column("owner", Text),
    Column("category", Text),
    Column("language", Text),
    Column("how", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("answered_at", Float, nullable=False),
    Index("exchanges_owner", "desk", "owner"),
    sqlite_autoincrement=True,  # a position is never used twice: vectors in memory are known by it
)

told_sentences = Table(
    "told_sentences",
    metadata,
    Column("desk", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("run", _Position, nullable=False),
    Column("person", Text, nullable=False),
    PrimaryKeyConstraint("desk", "sentence", "run"),
    Index("told_sentences_run", "run"),
)

contacts = Table(
    "contacts",
    metadata,
    Column("desk", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("language", Text),
    Column("company", Text, nullable=False),
    Column("phone", Text, nullable=False),
    Column("customer_id", Text),
    Column("tier", Text),
    Column("tags", Text, nullable=False),
    Column("mail_name", Text, nullable=False),
    Column("mail_language", Text),
    Column("seen", _Position, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "address"),
)

contact_notes = Table(
    "contact_notes",
    metadata,
    Column("id", _Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
    Index("contact_notes_address", "desk", "address"),
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
