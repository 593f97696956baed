"""Mails of chats on their way: a row each until it has left, so that no crash loses one."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.model.chats import ChatMail, ChatMailKind

TAKEN_FOR = 120.0
"""Seconds after which another process tries what one took and never finished."""
_AT_ONCE = 20
_COLUMNS = [
    t.chat_mails.c[name]
    for name in ("key", "chat", "kind", "address", "subject", "text", "until", "tries")
]


def queue(core: sa.Connection, desk: str, mail: ChatMail, now: float) -> bool:
    """Due at once; False where there is a mail under this key, whatever became of it."""
    values = mail.model_dump() | {"desk": desk, "created_at": now, "due_at": now}
    return insert_if_new(core, t.chat_mails, values)


def count(core: sa.Connection, desk: str, chat: str, kind: ChatMailKind, since: float) -> int:
    columns = t.chat_mails.c
    here = sa.and_(columns.desk == desk, columns.chat == chat, columns.kind == kind)
    query = sa.select(sa.func.count()).where(here, columns.created_at >= since)
    return int(core.execute(query).scalar_one())


def take(core: sa.Connection, desk: str, now: float) -> list[ChatMail]:
    """What is due, taken by the caller alone for a while; what is of no use any more is dropped."""
    columns = t.chat_mails.c
    late = sa.and_(columns.desk == desk, columns.due_at.is_not(None), columns.until <= now)
    core.execute(t.chat_mails.update().where(late).values(due_at=None, trouble="too late"))
    due = sa.and_(columns.desk == desk, columns.due_at <= now)
    query = sa.select(*_COLUMNS).where(due).order_by(columns.due_at).limit(_AT_ONCE)
    rows = core.execute(query.with_for_update(skip_locked=True)).all()
    mails = [ChatMail.model_validate(dict(row._mapping)) for row in rows]
    for mail in mails:
        mine = sa.and_(columns.desk == desk, columns.key == mail.key)
        taken = {"due_at": now + TAKEN_FOR, "tries": mail.tries + 1}
        core.execute(t.chat_mails.update().where(mine).values(**taken))
    return mails


def settle(
    core: sa.Connection, desk: str, key: str, again_at: float | None, trouble: str, now: float
) -> None:
    """It has left, or is tried again then. What it said is not kept once it is done."""
    here = sa.and_(t.chat_mails.c.desk == desk, t.chat_mails.c.key == key)
    values: dict[str, object] = {"due_at": again_at, "trouble": trouble[:500] or None}
    if again_at is None:
        values |= {"text": "", "sent_at": None if trouble else now}
    core.execute(t.chat_mails.update().where(here).values(**values))
