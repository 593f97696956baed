"""The events of tickets are stated from here on: say which tickets are older."""

import json
import time
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

_OLDER = sa.text("SELECT DISTINCT desk, ticket FROM ticket_events ORDER BY desk, ticket")
_LAST = sa.text(
    "SELECT number, chain FROM statements WHERE desk = :desk AND run = 0"
    " ORDER BY number DESC LIMIT 1"
)
_INSERT = sa.text(
    "INSERT INTO statements(desk, run, number, kind, at, body, chain)"
    " VALUES(:desk, 0, :number, 'changed', :at, :body, :chain)"
)
_DELETE = sa.text(
    "DELETE FROM statements WHERE run = 0 AND body LIKE :body AND number ="
    " (SELECT max(s.number) FROM statements s WHERE s.desk = statements.desk AND s.run = 0)"
)
_NAME = "begun ticket_events"


def upgrade() -> None:
    connection = op.get_bind()
    older: dict[str, list[str]] = {}
    for desk, ticket in connection.execute(_OLDER).all():
        older.setdefault(desk, []).append(ticket)
    for desk, tickets in older.items():
        last = connection.execute(_LAST, {"desk": desk}).first()
        number = 0 if last is None else last.number + 1
        head = sha256(f"statements\0@{desk}".encode()).digest()
        if last is not None:
            head = bytes(last.chain)
        at = time.time()
        begun = json.dumps({"ticket_events": tickets}, separators=(",", ":"))
        body = json.dumps({_NAME: begun}, separators=(",", ":"))
        chain = sha256(head + f"{number}\0changed\0{at!r}\0{body}".encode()).digest()
        stated = {"desk": desk, "number": number, "at": at, "body": body, "chain": chain}
        connection.execute(_INSERT, stated)


def downgrade() -> None:
    op.get_bind().execute(_DELETE, {"body": f'{{"{_NAME}"%'})
