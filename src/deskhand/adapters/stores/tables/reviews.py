"""What waits for people, what they decide, and what the decisions say about replies."""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text

from deskhand.adapters.stores.tables.schema import Position, metadata

reviews = Table(
    "reviews",
    metadata,
    Column("id", Text, primary_key=True),
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
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
    Column("search_text", Text),
    Column("rank", Integer),
    Column("deadline", Float),
    Column("category", Text),
    Column("language", Text),
    Index("reviews_conversation", "conversation", "state"),
    Index("reviews_run", "run"),
    Index("reviews_queue", "desk", "state", "created_at", "id"),
    Index("reviews_time", "desk", "created_at", "id", "causes"),
)

_PLACE = ("desk", "state", "rank", "deadline", "created_at", "id")
_QUEUE = (*_PLACE, "snoozed_until", "fallback", "assignee", "category", "language")
reviews_open = Index(
    "reviews_open",
    *(reviews.c[name] for name in _QUEUE),
    sqlite_where=reviews.c.state == "open",
)
"""The queue in its order, with what it is counted by. On PostgreSQL the migration says which."""

review_edits = Table(
    "review_edits",
    metadata,
    Column("review", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
    Column("edit", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("review", "by"),
    Index("review_edits_run", "run"),
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
    Column("leaving_at", Float),
    PrimaryKeyConstraint("desk", "id"),
    Index("notices_due", "desk", "state", "next_at"),
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False),
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
