"""Chats: who holds which, and the lines that were said in them."""

from sqlalchemy import Column, Float, Index, Integer, PrimaryKeyConstraint, Table, Text

from deskhand.adapters.stores.tables.schema import metadata

chats = Table(
    "chats",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("token_hash", Text),
    Column("customer", Text),
    Column("network", Text, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("opened_at", Float, nullable=False),
    Column("spoken_at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "id"),
    Index("chats_token", "desk", "token_hash"),
    Index("chats_network", "desk", "network", "spoken_at"),
)
chat_lines = Table(
    "chat_lines",
    metadata,
    Column("desk", Text, nullable=False),
    Column("chat", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("desk", "chat", "number"),
    Index("chat_lines_key", "desk", "key", unique=True),
    Index("chat_lines_at", "desk", "author", "at"),
)
