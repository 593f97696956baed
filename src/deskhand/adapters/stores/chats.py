"""Chats in the database. A line is added once per key, under numbers without gaps: the row of its
chat is locked while it is numbered."""

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.model.chats import VISITOR, Chat, ChatLine, ChatUse
from deskhand.model.ids import new_id


class SqlChats:
    """The chats of one desk. Tokens and network addresses are kept as digests alone."""

    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._desk = desk
        self._now = now

    async def open(self, token: str, customer: str | None, network: str) -> Chat:
        chat = Chat(id=new_id("chat"), customer=customer)
        now = self._now()
        values = {
            "desk": self._desk,
            "id": chat.id,
            "token_hash": digest_of(token),
            "customer": customer,
            "network": digest_of(network),
            "lines": 0,
            "opened_at": now,
            "spoken_at": now,
        }
        await self._database.write_core(lambda core: core.execute(t.chats.insert().values(values)))
        return chat

    async def find(self, token: str) -> Chat | None:
        here = sa.and_(t.chats.c.desk == self._desk, t.chats.c.token_hash == digest_of(token))
        query = sa.select(t.chats.c.id, t.chats.c.customer).where(here)
        row = await self._database.read_core(lambda core: core.execute(query).first())
        return None if row is None else Chat(id=row.id, customer=row.customer)

    async def say(self, chat: str, key: str, author: str, text: str) -> bool:
        return await self._database.write_core(
            lambda core: _say(core, self._desk, chat, key, author, text, self._now())
        )

    async def said(self, key: str) -> bool:
        """Whether there is a line under this key."""
        here = sa.and_(t.chat_lines.c.desk == self._desk, t.chat_lines.c.key == key)
        query = sa.select(t.chat_lines.c.number).where(here)
        row = await self._database.read_core(lambda core: core.execute(query).first())
        return row is not None

    async def lines(self, chat: str, after: int = 0, limit: int = 200) -> list[ChatLine]:
        columns = t.chat_lines.c
        here = sa.and_(columns.desk == self._desk, columns.chat == chat, columns.number > after)
        query = (
            sa.select(columns.number, columns.author, columns.text, columns.at)
            .where(here)
            .order_by(columns.number)
            .limit(limit)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [ChatLine.model_validate(dict(row._mapping)) for row in rows]

    async def use(self, chat: str | None, network: str, since: float) -> ChatUse:
        return await self._database.read_core(
            lambda core: _use(core, self._desk, chat, digest_of(network), since)
        )


def digest_of(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _say(
    core: sa.Connection, desk: str, chat: str, key: str, author: str, text: str, now: float
) -> bool:
    known = sa.and_(t.chat_lines.c.desk == desk, t.chat_lines.c.key == key)
    here = sa.and_(t.chats.c.desk == desk, t.chats.c.id == chat)
    insert_if_new(core, t.chats, _without_holder(desk, chat, now))
    counted = t.chats.update().where(here)
    core.execute(counted.values(lines=t.chats.c.lines + 1, spoken_at=now))
    if core.execute(sa.select(t.chat_lines.c.number).where(known)).first() is not None:
        core.execute(counted.values(lines=t.chats.c.lines - 1))
        return False
    number = core.execute(sa.select(t.chats.c.lines).where(here)).scalar_one()
    line = {
        "desk": desk,
        "chat": chat,
        "number": number,
        "key": key,
        "author": author,
        "text": text,
        "at": now,
    }
    core.execute(t.chat_lines.insert().values(line))
    return True


def _without_holder(desk: str, chat: str, now: float) -> dict[str, Any]:
    """A chat that came by the API: its lines are kept, and no visitor's token opens it."""
    return {
        "desk": desk,
        "id": chat,
        "token_hash": None,
        "customer": None,
        "network": "",
        "lines": 0,
        "opened_at": now,
        "spoken_at": now,
    }


def _use(core: sa.Connection, desk: str, chat: str | None, network: str, since: float) -> ChatUse:
    lines, chats = t.chat_lines.c, t.chats.c
    turns = (
        sa.select(
            sa.func.count(),
            sa.func.count().filter(lines.chat == chat),
            sa.func.count().filter(chats.network == network),
        )
        .select_from(
            t.chat_lines.join(t.chats, sa.and_(chats.desk == lines.desk, chats.id == lines.chat))
        )
        .where(lines.desk == desk, lines.author == VISITOR, lines.at >= since)
    )
    opened = sa.select(sa.func.count(), sa.func.count().filter(chats.network == network)).where(
        chats.desk == desk, chats.spoken_at >= since
    )
    of_desk, of_chat, of_network = core.execute(turns).one()
    chats_of_desk, chats_of_network = core.execute(opened).one()
    return ChatUse(
        turns_of_chat=of_chat,
        turns_of_network=of_network,
        turns_of_desk=of_desk,
        chats_of_network=chats_of_network,
        chats_of_desk=chats_of_desk,
    )


def forget_chat(core: sa.Connection, desk: str, chat: str) -> None:
    """Remove the lines of a chat and its holder; nobody opens it any more."""
    lines = sa.and_(t.chat_lines.c.desk == desk, t.chat_lines.c.chat == chat)
    core.execute(t.chat_lines.delete().where(lines))
    core.execute(t.chats.delete().where(t.chats.c.desk == desk, t.chats.c.id == chat))
