"""Adding a line to a chat, in somebody's transaction: once per key, under a number without gaps."""

import json
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.model.chats import ChatFile


class ChatWords(NamedTuple):
    """What is said, by whom, under which key."""

    key: str
    author: str
    text: str
    name: str | None = None
    files: tuple[ChatFile, ...] = ()


def add_line(core: sa.Connection, desk: str, chat: str, words: ChatWords, now: float) -> bool:
    """False where there is a line under this key already; the chat's row is locked meanwhile."""
    same_key = sa.and_(t.chat_lines.c.desk == desk, t.chat_lines.c.key == words.key)
    here = sa.and_(t.chats.c.desk == desk, t.chats.c.id == chat)
    insert_if_new(core, t.chats, _without_holder(desk, chat, now))
    counted = t.chats.update().where(here)
    core.execute(counted.values(lines=t.chats.c.lines + 1, spoken_at=now))
    if core.execute(sa.select(t.chat_lines.c.number).where(same_key)).first() is not None:
        core.execute(counted.values(lines=t.chats.c.lines - 1))
        return False
    number = core.execute(sa.select(t.chats.c.lines).where(here)).scalar_one()
    files = [file.model_dump() for file in words.files]
    line = {
        "desk": desk,
        "chat": chat,
        "number": number,
        "key": words.key,
        "author": words.author,
        "text": words.text,
        "at": now,
        "name": words.name,
        "files": json.dumps(files, ensure_ascii=False) if files else None,
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
