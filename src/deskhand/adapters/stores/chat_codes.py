"""Codes that were mailed to visitors: how many, how often they were tried, and what they proved."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.chats import ChatCode

_COLUMNS = [
    t.chat_codes.c[name]
    for name in ("id", "chat", "thing", "object", "salt", "digest", "tries", "expires_at")
]
PROOF_LASTS = 86400.0
"""Seconds."""


def count(core: sa.Connection, desk: str, chat: str, thing: str, since: float) -> tuple[int, int]:
    """How many codes a chat asked for, and how many were asked for one thing by anybody."""
    columns = t.chat_codes.c
    lately = sa.and_(columns.desk == desk, columns.created_at >= since)
    query = sa.select(sa.func.count()).select_from(t.chat_codes)
    of_chat = core.execute(query.where(lately, columns.chat == chat)).scalar_one()
    of_thing = core.execute(query.where(lately, columns.thing == thing)).scalar_one()
    return int(of_chat), int(of_thing)


def keep(core: sa.Connection, desk: str, code: ChatCode, now: float) -> None:
    """A newer code for the same thing ends the older ones of this chat."""
    columns = t.chat_codes.c
    older = sa.and_(
        columns.desk == desk,
        columns.chat == code.chat,
        columns.thing == code.thing,
        columns.proven_at.is_(None),
    )
    core.execute(t.chat_codes.update().where(older).values(expires_at=0.0))
    values = code.model_dump() | {"desk": desk, "created_at": now}
    core.execute(t.chat_codes.insert().values(values))


def attempt(
    core: sa.Connection, desk: str, chat: str, thing: str, most: int, now: float
) -> ChatCode | None:
    """The code that counts now, with this attempt counted; None where none counts any more.

    The count is raised before anybody looks whether the code is right: of many guesses at once, no
    more than `most` are looked at.
    """
    columns = t.chat_codes.c
    query = (
        sa.select(columns.id)
        .where(
            columns.desk == desk,
            columns.chat == chat,
            columns.thing == thing,
            columns.expires_at > now,
            columns.proven_at.is_(None),
        )
        .order_by(columns.created_at.desc())
        .limit(1)
    )
    code_id = core.execute(query).scalar()
    here = sa.and_(columns.desk == desk, columns.id == code_id)
    counted = t.chat_codes.update().where(here, columns.tries < most)
    if core.execute(counted.values(tries=columns.tries + 1)).rowcount == 0:
        return None
    row = core.execute(sa.select(*_COLUMNS).where(here)).one()
    return ChatCode.model_validate(dict(row._mapping))


def prove(core: sa.Connection, desk: str, code_id: str, now: float) -> bool:
    """False where it was used before."""
    columns = t.chat_codes.c
    here = sa.and_(columns.desk == desk, columns.id == code_id, columns.proven_at.is_(None))
    return core.execute(t.chat_codes.update().where(here).values(proven_at=now)).rowcount == 1


def proven(core: sa.Connection, desk: str, chat: str, now: float) -> tuple[str, ...]:
    """The ids of what a chat has proven lately."""
    columns = t.chat_codes.c
    query = sa.select(columns.object).where(
        columns.desk == desk,
        columns.chat == chat,
        columns.proven_at >= now - PROOF_LASTS,
        columns.object.is_not(None),
    )
    return tuple(sorted(set(core.execute(query).scalars())))
