"""Customers in the address book and in chats; colleagues and programs that may log in."""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text

from deskhand.adapters.stores.tables.schema import Position, metadata

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
    Column("seen", Position, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("plan", Text),
    Column("tenure_months", Integer),
    Column("seats", Integer),
    Column("region", Text),
    PrimaryKeyConstraint("desk", "address"),
    Index("contacts_customer", "desk", "customer_id"),
)

contact_notes = Table(
    "contact_notes",
    metadata,
    Column("id", Position, primary_key=True, autoincrement=True),
    Column("desk", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
    Index("contact_notes_address", "desk", "address"),
)

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password", Text, nullable=False),
    Column("desks", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("removed_at", Float),
    Column("role", Text),
    Column("limit", Text),
    Column("mail", Text),
    Column("identity", Text),
    Index("users_identity", "identity", unique=True),
)

begun_logins = Table(
    "begun_logins",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("to", Text, nullable=False),
    Column("begun_at", Float, nullable=False),
    Index("begun_logins_at", "begun_at"),
)

setup_links = Table(
    "setup_links",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("made_at", Float, nullable=False),
)

console_actions = Table(
    "console_actions",
    metadata,
    Column("number", Position, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),
    Column("client", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Index("console_actions_at", "at"),
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
    Column("address", Text),
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
    Column("name", Text),
    Column("files", Text),
    Column("thumb", Text),
    PrimaryKeyConstraint("desk", "chat", "number"),
    Index("chat_lines_key", "desk", "key", unique=True),
    Index("chat_lines_at", "desk", "author", "at"),
)
chat_codes = Table(
    "chat_codes",
    metadata,
    Column("desk", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("chat", Text, nullable=False),
    Column("thing", Text, nullable=False),
    Column("object", Text),
    Column("salt", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("proven_at", Float),
    PrimaryKeyConstraint("desk", "id"),
    Index("chat_codes_chat", "desk", "chat", "created_at"),
    Index("chat_codes_thing", "desk", "thing", "created_at"),
)
chat_mails = Table(
    "chat_mails",
    metadata,
    Column("desk", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("chat", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("due_at", Float),
    Column("until", Float, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("sent_at", Float),
    Column("trouble", Text),
    PrimaryKeyConstraint("desk", "key"),
    Index("chat_mails_due", "desk", "due_at"),
    Index("chat_mails_chat", "desk", "chat", "kind"),
)
