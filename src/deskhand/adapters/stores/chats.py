"""Chats in the database. A line is added once per key, under numbers without gaps: the row of its
chat is locked while it is numbered."""

import json
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import chat_answers, chat_codes, chat_mails
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.chat_lines import ChatWords, add_line
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.adapters.stores.judgements import note_afterwards
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.model.chats import (
    DESK,
    PERSON,
    VISITOR,
    Chat,
    ChatCode,
    ChatFile,
    ChatLine,
    ChatMail,
    ChatMailKind,
    ChatSpending,
    ChatStanding,
    ChatUse,
)
from deskhand.model.judgement import Judged


class SqlChats:
    """The chats of one desk. Tokens and network addresses are kept as digests alone."""

    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._desk = desk
        self._now = now

    async def open(self, token: str, customer: str | None, network: str) -> Chat:
        chat = Chat(id=f"chat_{digest_of(f'the chat of {token}')[:20]}", customer=customer)
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
        await self._database.write_core(lambda core: insert_if_new(core, t.chats, values))
        return chat

    async def find(self, token: str) -> Chat | None:
        here = sa.and_(t.chats.c.desk == self._desk, t.chats.c.token_hash == digest_of(token))
        return await self._database.read_core(
            lambda core: _chat(core, self._desk, here, self._now())
        )

    async def chat(self, chat: str) -> Chat | None:
        here = sa.and_(t.chats.c.desk == self._desk, t.chats.c.id == chat)
        return await self._database.read_core(
            lambda core: _chat(core, self._desk, here, self._now())
        )

    async def say(
        self, chat: str, key: str, author: str, text: str, files: Sequence[ChatFile] = ()
    ) -> bool:
        words = ChatWords(key, author, text, files=tuple(files))
        return await self._database.write_core(
            lambda core: add_line(core, self._desk, chat, words, self._now())
        )

    async def reply(self, chat: str, key: str, run_id: str, text: str) -> bool:
        """Say what a run answers: the program's words, or those of the colleague who wrote them."""

        def op(core: sa.Connection) -> bool:
            chat_answers.check_silence(core, self._desk, chat, run_id)
            author, name = chat_answers.writer_of(core, self._desk, run_id)
            words = ChatWords(key, author, text, name)
            return add_line(core, self._desk, chat, words, self._now())

        return await self._database.write_core(op)

    async def answer(self, chat: str, key: str, by: str, name: str, text: str) -> bool:
        def op(core: sa.Connection) -> bool:
            now = self._now()
            words = ChatWords(key, PERSON, text, name)
            if not add_line(core, self._desk, chat, words, now):
                return False
            chat_answers.take_and_settle(core, self._desk, chat, by, name, text, now)
            return True

        return await self._database.write_core(op)

    async def standing(self, chat: str) -> ChatStanding:
        return await self._database.read_core(
            lambda core: chat_answers.standing(core, self._desk, chat)
        )

    async def leave_address(self, chat: str, address: str) -> None:
        here = sa.and_(t.chats.c.desk == self._desk, t.chats.c.id == chat)
        left = t.chats.update().where(here).values(address=address)
        await self._database.write_core(lambda core: core.execute(left))

    async def rate(self, chat: str, number: int, thumb: str) -> bool:
        return await self._database.write_core(
            lambda core: _rate(core, self._desk, chat, number, thumb, self._now())
        )

    async def people_since(self, chat: str, message_id: str) -> str:
        return await self._database.read_core(
            lambda core: chat_answers.people_since(core, self._desk, chat, message_id)
        )

    async def codes_since(self, chat: str, thing: str, since: float) -> tuple[int, int]:
        return await self._database.read_core(
            lambda core: chat_codes.count(core, self._desk, chat, thing, since)
        )

    async def keep_code(self, code: ChatCode) -> None:
        await self._database.write_core(
            lambda core: chat_codes.keep(core, self._desk, code, self._now())
        )

    async def try_code(self, chat: str, thing: str, most: int) -> ChatCode | None:
        return await self._database.write_core(
            lambda core: chat_codes.attempt(core, self._desk, chat, thing, most, self._now())
        )

    async def use_code(self, code_id: str) -> bool:
        return await self._database.write_core(
            lambda core: chat_codes.prove(core, self._desk, code_id, self._now())
        )

    async def queue_mail(self, mail: ChatMail) -> bool:
        return await self._database.write_core(
            lambda core: chat_mails.queue(core, self._desk, mail, self._now())
        )

    async def mails_since(self, chat: str, kind: ChatMailKind, since: float) -> int:
        return await self._database.read_core(
            lambda core: chat_mails.count(core, self._desk, chat, kind, since)
        )

    async def take_mails(self) -> list[ChatMail]:
        return await self._database.write_core(
            lambda core: chat_mails.take(core, self._desk, self._now())
        )

    async def settle_mail(self, key: str, *, again_at: float | None, trouble: str = "") -> None:
        await self._database.write_core(
            lambda core: chat_mails.settle(core, self._desk, key, again_at, trouble, self._now())
        )

    async def said(self, key: str) -> bool:
        """Whether there is a line under this key."""
        here = sa.and_(t.chat_lines.c.desk == self._desk, t.chat_lines.c.key == key)
        query = sa.select(t.chat_lines.c.number).where(here)
        row = await self._database.read_core(lambda core: core.execute(query).first())
        return row is not None

    async def marks(self, chats: Sequence[str]) -> dict[str, str]:
        rows = await self._database.glance(lambda core: _marks(core, self._desk, chats))
        return {row[0]: f"{row[1:]}" for row in rows}

    async def lines(self, chat: str, after: int = 0, limit: int = 200) -> list[ChatLine]:
        columns = t.chat_lines.c
        here = sa.and_(columns.desk == self._desk, columns.chat == chat, columns.number > after)
        query = sa.select(*_LINE).where(here).order_by(columns.number).limit(limit)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [_line(row) for row in rows]

    async def use(self, chat: str | None, network: str, since: float) -> ChatUse:
        return await self._database.read_core(
            lambda core: _use(core, self._desk, chat, digest_of(network), since)
        )

    async def spent(self, chat: str | None, network: str, since: float) -> ChatSpending:
        return await self._database.read_core(
            lambda core: _spent(core, self._desk, chat, digest_of(network), since)
        )


def digest_of(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _chat(core: sa.Connection, desk: str, here: sa.ColumnElement[bool], now: float) -> Chat | None:
    query = sa.select(t.chats.c.id, t.chats.c.customer, t.chats.c.address).where(here)
    row = core.execute(query).first()
    if row is None:
        return None
    proven = () if row.customer is not None else chat_codes.proven(core, desk, row.id, now)
    return Chat(id=row.id, customer=row.customer, address=row.address, proven=proven)


_LINE = [
    t.chat_lines.c[name]
    for name in ("number", "key", "author", "text", "at", "name", "files", "thumb")
]


def _line(row: Any) -> ChatLine:
    fields = dict(row._mapping)
    key = fields.pop("key")
    fields["id"] = key.partition("/")[2] if row.author == VISITOR else None
    fields["files"] = json.loads(fields["files"] or "[]")
    return ChatLine.model_validate(fields)


def _rate(core: sa.Connection, desk: str, chat: str, number: int, thumb: str, now: float) -> bool:
    """Note what a visitor thinks of a line of the program; False where it is no such line."""
    columns = t.chat_lines.c
    here = sa.and_(columns.desk == desk, columns.chat == chat, columns.number == number)
    rated = t.chat_lines.update().where(here, columns.author == DESK).values(thumb=thumb)
    if core.execute(rated).rowcount == 0:
        return False
    key = core.execute(sa.select(columns.key).where(here)).scalar_one()
    run_id = key.partition(".")[0]
    record_event(core, desk, f"chat.thumb_{thumb}", run_id, VISITOR, {"line": number}, now)
    if thumb == "down":
        note_afterwards(core, desk, run_id, Judged.COMPLAINED, now)
    return True


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


def _spent(
    core: sa.Connection, desk: str, chat: str | None, network: str, since: float
) -> ChatSpending:
    calls, runs, chats = t.llm_calls.c, t.runs.c, t.chats.c

    def cost(*of: sa.ColumnElement[bool]) -> sa.ColumnElement[float]:
        every = sa.func.sum(calls.cost)
        return sa.func.coalesce(every.filter(*of) if of else every, 0.0)

    of_run = sa.and_(runs.desk == calls.desk, runs.id == calls.run_id)
    of_chat = sa.and_(chats.desk == runs.desk, chats.id == runs.conversation)
    query = (
        sa.select(cost(chats.id == chat), cost(chats.network == network), cost())
        .select_from(t.llm_calls.join(t.runs, of_run).join(t.chats, of_chat))
        .where(calls.desk == desk, calls.at >= since)
    )
    of_one, of_network, of_desk = core.execute(query).one()
    return ChatSpending(of_chat=of_one, of_network=of_network, of_desk=of_desk)


def _marks(core: sa.Connection, desk: str, chats: Sequence[str]) -> list[tuple[Any, ...]]:
    here, runs, taken = t.chats.c, t.runs.c, t.conversations.c
    of_chat = sa.and_(runs.desk == here.desk, runs.conversation == here.id)
    worked_at = sa.select(sa.func.max(runs.updated_at)).where(of_chat).scalar_subquery()
    held = sa.and_(taken.desk == here.desk, taken.id == here.id)
    held_by = sa.select(taken.taken_over_by).where(held).scalar_subquery()
    query = sa.select(here.id, here.lines, worked_at, held_by)
    rows = core.execute(query.where(here.desk == desk, here.id.in_(chats)))
    return [tuple(row) for row in rows]


def forget_chat(core: sa.Connection, desk: str, chat: str) -> None:
    """Remove the lines of a chat and its holder; nobody opens it any more."""
    lines = sa.and_(t.chat_lines.c.desk == desk, t.chat_lines.c.chat == chat)
    core.execute(t.chat_lines.delete().where(lines))
    codes = sa.and_(t.chat_codes.c.desk == desk, t.chat_codes.c.chat == chat)
    core.execute(t.chat_codes.delete().where(codes))
    mails = sa.and_(t.chat_mails.c.desk == desk, t.chat_mails.c.chat == chat)
    core.execute(t.chat_mails.delete().where(mails))
    core.execute(t.chats.delete().where(t.chats.c.desk == desk, t.chats.c.id == chat))
