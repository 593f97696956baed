"""What the console's search finds: the words of runs and of people, and whose words are due.

Each database has an index of its own over the words, which SQLAlchemy has no words for: FTS5 over
both tables in SQLite, a column with a GIN index in PostgreSQL.
"""

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint

from deskhand.adapters.stores.tables.schema import Position, metadata

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
