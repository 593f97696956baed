"""Users and API keys are stated from here on: say what those are that there are."""

import json
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

_ACCOUNTS = "@accounts"
_STATED = {
    "users": "name password desks created_at removed_at role limit mail identity",
    "api_keys": "id digest name scopes desks created_at revoked_at",
}
"""Each table with its columns, in the order in which they are stated."""
_INSERT = sa.text(
    "INSERT INTO statements(desk, run, number, kind, at, body, chain, salt)"
    " VALUES(:desk, 0, :number, 'changed', :at, :body, :chain, :salt)"
)


def upgrade() -> None:
    connection = op.get_bind()
    head = sha256(f"statements\0@{_ACCOUNTS}".encode()).digest()
    for number, (name, values) in enumerate(_records(connection)):
        at, salt = time.time(), secrets.token_bytes(16)
        body = json.dumps({name: _digest(salt, values)}, separators=(",", ":"))
        head = sha256(head + f"{number}\0changed\0{at!r}\0{body}".encode()).digest()
        stated = {"desk": _ACCOUNTS, "number": number, "at": at, "body": body, "salt": salt}
        connection.execute(_INSERT, {**stated, "chain": head})


def _records(connection: sa.Connection) -> Iterator[tuple[str, list[object]]]:
    for table, columns in _STATED.items():
        listed = ", ".join(f'"{name}"' for name in columns.split())
        rows = connection.execute(sa.text(f"SELECT {listed} FROM {table} ORDER BY 1"))  # noqa: S608
        for row in rows.all():
            yield f"{table} {row[0]}", list(row)


def _digest(salt: bytes, values: list[object]) -> str:
    text = json.dumps(values, default=lambda value: bytes(value).hex())
    return urlsafe_b64encode(sha256(salt + text.encode()).digest()[:15]).decode()


def downgrade() -> None:
    forget = sa.text("DELETE FROM statements WHERE desk = :desk")
    op.get_bind().execute(forget, {"desk": _ACCOUNTS})
