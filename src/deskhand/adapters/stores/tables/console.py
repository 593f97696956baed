"""What open consoles follow. Triggers write the changes, whoever changes a record and however."""

from sqlalchemy import Column, Float, Index, PrimaryKeyConstraint, Table, Text

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
