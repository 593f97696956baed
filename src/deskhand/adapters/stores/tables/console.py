"""What open consoles follow, and the words that their search finds. Triggers write down changes,
whoever makes them and however."""

from sqlalchemy import Column, Float, Index, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from deskhand.adapters.stores.tables.schema import Position, metadata

console_changes = Table(
    "console_changes",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("at", Float, nullable=False),
    Index("console_changes_at", "at"),
    sqlite_autoincrement=True,  # a number is never used twice: readers go by it
)

eval_reports = Table(
    "eval_reports",
    metadata,
    Column("desk", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("desk", "at"),
)

console_lookers = Table(
    "console_lookers",
    metadata,
    Column("window", Text, nullable=False),
    Column("desk", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("seen_at", Float, nullable=False),
    PrimaryKeyConstraint("window"),
)

# Each database has an index of its own over the words of the following tables: FTS5 in SQLite, a
# column with a GIN index in PostgreSQL. SQLAlchemy has no words for them; migrations build both.
search_due = Table(
    "search_due",
    metadata,
    Column("number", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run", Position),
    Column("address", Text),
    Index("search_due_desk", "desk", "number"),
    sqlite_autoincrement=True,  # a higher number is always a later change
)
"""Runs and people whose words changed; triggers write this."""

search_runs = Table(
    "search_runs",
    metadata,
    Column("run", Position, primary_key=True, autoincrement=False),
    Column("desk", Text, nullable=False),
    Column("words", Text, nullable=False),
)

search_people = Table(
    "search_people",
    metadata,
    Column("number", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("words", Text, nullable=False),
    UniqueConstraint("desk", "address", name="search_people_address"),
)
