"""What open consoles follow, and the words that their search finds. Triggers write down changes,
whoever makes them and however."""

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

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

run_figures = Table(
    "run_figures",
    metadata,
    Column("run", Position, primary_key=True, autoincrement=False),
    Column("desk", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("day", Integer, nullable=False),
    Column("category", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("became", Text, nullable=False),
    Column("looked_at", Text),
    Column("reply_seconds", Float),
    Column("in_time", Integer),
    Column("cost", Float, nullable=False),
    Column("ended_day", Integer),
    Index(
        "run_figures_day",
        "desk",
        "day",
        "run",
        "became",
        "looked_at",
        "in_time",
        "category",
        "language",
        "channel",
        "reply_seconds",
        "ended_day",
    ),
)
"""What became of each message: no word of it. Days are numbered from 1970, as the desk's zone has
them."""
run_figures_open = Index(
    "run_figures_open",
    run_figures.c.desk,
    run_figures.c.run,
    sqlite_where=run_figures.c.ended_day.is_(None),
)
"""On PostgreSQL the migration says which."""

_WHOSE = ("desk", "day", "category", "language", "channel")
day_figures = Table(
    "day_figures",
    metadata,
    Column("desk", Text, nullable=False),
    Column("day", Integer, nullable=False),
    Column("category", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("became", Text, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("wrong", Integer, nullable=False),
    Column("in_time", Integer, nullable=False),
    Column("late", Integer, nullable=False),
    Column("ended", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    PrimaryKeyConstraint(*_WHOSE, "became"),
)
"""What the figures of runs add up to on each day."""

day_replies = Table(
    "day_replies",
    metadata,
    Column("desk", Text, nullable=False),
    Column("day", Integer, nullable=False),
    Column("category", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("took", Integer, nullable=False),
    Column("messages", Integer, nullable=False),
    PrimaryKeyConstraint(*_WHOSE, "took"),
)
"""How many first replies took how long; `took` is a step of `model/figures.py`."""
