"""What has been said in which conversation, in SQLAlchemy Core."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.rows import RUN_COLUMNS, run_of
from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, EffectKey


def message_key(channel: str, message_id: str) -> bytes:
    return sha256(f"{channel}\0{message_id}".encode()).digest()[:16]


def message_known(
    core: sa.Connection, desk: str, channel: str, message_id: str
) -> ConversationTurn | None:
    return _first(
        core, _turns(desk).where(t.runs.c.message_key == message_key(channel, message_id))
    )


def reply_sent(
    core: sa.Connection, desk: str, key: EffectKey, tools: Sequence[str]
) -> ConversationTurn | None:
    sent = sa.exists().where(
        t.effects.c.run == t.runs.c.position,
        t.effects.c.seq == key.seq,
        t.effects.c.call == key.index,
        t.effects.c.tool.in_(tools),
    )
    return _first(core, _turns(desk).where(t.runs.c.id == key.run_id, sent))


def newest_turn(core: sa.Connection, desk: str, conversation: str) -> ConversationTurn | None:
    query = _turns(desk).where(t.runs.c.conversation == conversation)
    return _first(core, query.order_by(t.runs.c.position.desc()).limit(1))


def messages_from(
    core: sa.Connection, desk: str, address: str, since: float, limit: int
) -> list[ConversationTurn]:
    query = (
        _turns(desk)
        .where(
            t.messages.c.desk == desk,
            t.messages.c.sender == address.strip().lower(),
            t.runs.c.created_at >= since,
        )
        .order_by(t.runs.c.position.desc())
        .limit(limit)
    )
    return [_turn(row) for row in core.execute(query)]


def _turns(desk: str) -> sa.Select[Any]:
    return (
        sa.select(*RUN_COLUMNS, t.messages.c.body)
        .join(t.messages, t.messages.c.run == t.runs.c.position)
        .where(t.runs.c.desk == desk, t.messages.c.body.is_not(None))
    )


def _first(core: sa.Connection, query: sa.Select[Any]) -> ConversationTurn | None:
    row = core.execute(query).first()
    return None if row is None else _turn(row)


def _turn(row: Any) -> ConversationTurn:
    return ConversationTurn(run_of(row[:-1]), Message.model_validate_json(row[-1]))
