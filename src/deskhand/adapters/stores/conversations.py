"""What has been said in which conversation, in SQLAlchemy Core."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import RUN_COLUMNS, run_of
from deskhand.errors import Conflict
from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, EffectKey, RunStatus


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


def newest_turns(
    core: sa.Connection, desk: str, limit: int, before: int | None
) -> list[ConversationTurn]:
    """The newest turn of each conversation, the latest first."""
    newer = t.runs.alias()
    is_newest = ~sa.exists().where(
        newer.c.desk == t.runs.c.desk,
        newer.c.conversation == t.runs.c.conversation,
        newer.c.position > t.runs.c.position,
    )
    query = _turns(desk).where(is_newest)
    if before is not None:
        query = query.where(t.runs.c.position < before)
    rows = core.execute(query.order_by(t.runs.c.position.desc()).limit(limit))
    return [_turn(row) for row in rows]


def forget(core: sa.Connection, desk: str, conversation: str, by: str, now: float) -> int:
    """Move the mark before which nothing is remembered, and end what waits for the customer."""
    here = (t.runs.c.desk == desk, t.runs.c.conversation == conversation)
    rows = core.execute(sa.select(t.runs.c.id, t.runs.c.position, t.runs.c.status).where(*here))
    runs = rows.all()
    active = [run.id for run in runs if RunStatus(run.status).is_active]
    if active:
        raise Conflict(f"run {active[0]} of this conversation is at work; wait until it is over")
    mark = _forgotten_before(core, desk, conversation)
    forgotten = [run for run in runs if run.position > mark]
    if not forgotten:
        return 0
    for run in forgotten:
        if run.status == RunStatus.WAITING_USER:
            _end_waiting(core, desk, run.position, run.id, by, now)
    _set_mark(core, desk, conversation, max(run.position for run in forgotten))
    payload = {"conversation": conversation}
    record_event(core, desk, "conversation.forgotten", None, by, payload, now)
    return len(forgotten)


def _forgotten_before(core: sa.Connection, desk: str, conversation: str) -> int:
    here = t.conversations.c
    query = sa.select(here.forgotten_before).where(here.desk == desk, here.id == conversation)
    return core.execute(query).scalar() or 0


def _end_waiting(
    core: sa.Connection, desk: str, position: int, run_id: str, by: str, now: float
) -> None:
    reason = f"forgotten by {by}"
    values = {"status": RunStatus.CANCELLED, "reason": reason, "updated_at": now}
    core.execute(t.runs.update().where(t.runs.c.position == position).values(**values))
    record_event(core, desk, "run.cancelled", run_id, by, {}, now)


def _set_mark(core: sa.Connection, desk: str, conversation: str, position: int) -> None:
    here = (t.conversations.c.desk == desk, t.conversations.c.id == conversation)
    values = {"forgotten_before": position}
    if core.execute(t.conversations.update().where(*here).values(**values)).rowcount == 0:
        core.execute(t.conversations.insert().values(desk=desk, id=conversation, **values))


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
