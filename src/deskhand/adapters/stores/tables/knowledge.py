"""Articles and answered messages, which replies are drawn from.

The full-text index (`kb_words`) and, with pgvector, the vectors (`kb_vectors`) differ between
databases: see migration 0003, knowledge_fulltext.py and knowledge_pgvector.py.
"""

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
)

from deskhand.adapters.stores.tables.schema import Position, metadata

kb_articles = Table(
    "kb_articles",
    metadata,
    Column("position", Position, primary_key=True, autoincrement=True),
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
    sqlite_autoincrement=True,  # a position is never used twice: snapshots know rows by it
)

kb_chunks = Table(
    "kb_chunks",
    metadata,
    Column("position", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("article", Position, nullable=False),
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

exchanges = Table(
    "exchanges",
    metadata,
    Column("position", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("run", Position, nullable=False, unique=True),
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
    Column("run", Position, nullable=False),
    Column("person", Text, nullable=False),
    PrimaryKeyConstraint("desk", "sentence", "run"),
    Index("told_sentences_run", "run"),
)
