"""Digests of what customers said, so that messages that a program hands in again are known."""

import sqlalchemy as sa
from alembic import op
from pydantic import ValidationError

from deskhand.adapters.stores.taken_turns import rows_of
from deskhand.model.message import HANDED_BACK, Message

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
CHUNK = 500
_MESSAGES = sa.text(
    "SELECT m.run, m.body, k.desk, k.customer FROM messages m"
    " JOIN ticket_messages l ON l.run = m.run"
    " JOIN tickets k ON k.desk = l.desk AND k.id = l.ticket"
    " WHERE m.body IS NOT NULL AND m.run > :after ORDER BY m.run LIMIT :most"
)


def upgrade() -> None:
    table = op.create_table(
        "taken_turns",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", POSITION, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Float()),
        sa.Column("conversation", sa.Text()),
        sa.PrimaryKeyConstraint("desk", "run", "place"),
    )
    op.create_index("taken_turns_digest", "taken_turns", ["desk", "digest", "run"])
    _fill(op.get_bind(), table)


def _fill(core: sa.Connection, table: sa.Table) -> None:
    """What programs handed in; of other messages, `deskhand tickets rebuild` tells it."""
    after = -1
    while messages := core.execute(_MESSAGES, {"after": after, "most": CHUNK}).all():
        for run, body, desk, customer in messages:
            message = _handed_in(bytes(body))
            rows = [] if message is None else rows_of(desk, customer, run, message)
            if rows:
                core.execute(table.insert(), rows)
        after = messages[-1].run


def _handed_in(body: bytes) -> Message | None:
    if HANDED_BACK.encode() not in body:
        return None
    try:
        message = Message.model_validate_json(body)
    except ValidationError:
        return None
    return message if message.channel == HANDED_BACK else None


def downgrade() -> None:
    op.drop_table("taken_turns")
