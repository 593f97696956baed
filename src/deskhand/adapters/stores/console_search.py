"""Searching everything that a desk has: messages, people, orders and runs, in SQL.

Every record is looked at, newest first: what is found is all there is. Upper and lower case do not
matter; accents do.
"""

import json
from collections.abc import Collection, Iterator, Sequence

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.message import Message
from deskhand.ports.console import SearchHit

_BATCH = 200
_MOST_LOOKED_AT = 4000
"""Candidates of a kind that are read: a word such as `subject` stands in every record."""
_SHOWN = 160


def search_desks(
    core: sa.Connection, desks: Collection[str], words: Sequence[str], limit: int
) -> list[SearchHit]:
    """What has all of these words, by kind, the newest first."""
    hits = [*_messages(core, desks, words, limit), *_people(core, desks, words, limit)]
    hits += _runs(core, desks, words, limit)
    numbers = [word for word in words if len(word) >= 4 and any(map(str.isdigit, word))]
    if numbers:
        hits += _orders(core, desks, numbers, limit)
    return hits


def _messages(
    core: sa.Connection, desks: Collection[str], words: Sequence[str], limit: int
) -> list[SearchHit]:
    found: list[SearchHit] = []
    here = t.messages.c
    query = (
        sa.select(t.runs.c.id, t.runs.c.created_at, here.desk, here.run, here.body)
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk.in_(desks), here.body.is_not(None), *_have(core, here.body, words))
        .order_by(here.run.desc())
        .limit(_BATCH)
    )
    before: int | None = None
    for _ in range(_MOST_LOOKED_AT // _BATCH):
        page = query if before is None else query.where(here.run < before)
        rows = core.execute(page).all()
        for row in rows:
            message = Message.model_validate_json(row.body)
            text = _text_of(message)
            if _has_all(text, words):
                detail = f"{message.writer}: {_around(text, words[0])}"
                title = message.subject or str(message.writer)
                found.append(SearchHit("message", row.desk, row.id, title, detail, row.created_at))
        if len(rows) < _BATCH or len(found) >= limit:
            break
        before = rows[-1].run
    return found[:limit]


def _text_of(message: Message) -> str:
    files = [f"{file.name} {file.text or ''}" for file in message.attachments]
    named = (message.subject, str(message.sender), str(message.writer), message.body)
    return "\n".join([*named, message.words, *files])


def _people(
    core: sa.Connection, desks: Collection[str], words: Sequence[str], limit: int
) -> list[SearchHit]:
    here = t.contacts.c
    columns = (here.name, here.mail_name, here.address, here.company, here.customer_id, here.phone)
    text: sa.ColumnElement[str] = sa.literal("")
    for column in columns:
        text = text + sa.literal(" ") + sa.func.coalesce(column, "")
    query = (
        sa.select(here.desk, here.address, here.name, here.mail_name, here.company, here.updated_at)
        .where(here.desk.in_(desks), *(_like(core, text, word) for word in words))
        .order_by(here.updated_at.desc(), here.address)
        .limit(limit)
    )
    return [
        SearchHit(
            "person",
            row.desk,
            row.address,
            row.name or row.mail_name or row.address,
            " · ".join(filter(None, (row.address, row.company))),
            row.updated_at,
        )
        for row in core.execute(query)
    ]


def _runs(
    core: sa.Connection, desks: Collection[str], words: Sequence[str], limit: int
) -> list[SearchHit]:
    here = t.runs.c
    text = here.id + sa.literal(" ") + sa.func.coalesce(here.reason, "")
    query = (
        sa.select(here.desk, here.id, here.status, here.reason, here.created_at)
        .where(here.desk.in_(desks), *(_like(core, text, word) for word in words))
        .order_by(here.position.desc())
        .limit(limit)
    )
    return [
        SearchHit("run", row.desk, row.id, row.id, row.reason or row.status, row.created_at)
        for row in core.execute(query)
    ]


def _orders(
    core: sa.Connection, desks: Collection[str], numbers: Sequence[str], limit: int
) -> list[SearchHit]:
    """Runs in which the desk worked with such a number: in a tool's arguments or its result."""
    here = t.steps.c
    query = (
        sa.select(t.runs.c.id, t.runs.c.desk, t.runs.c.created_at, sa.func.min(here.name))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk.in_(desks), here.name.contains("/"), *_have(core, here.body, numbers))
        .group_by(t.runs.c.position, t.runs.c.id, t.runs.c.desk, t.runs.c.created_at)
        .order_by(t.runs.c.position.desc())
        .limit(limit)
    )
    title = " ".join(numbers)
    return [
        SearchHit("order", desk, run_id, title, step.rpartition("/")[2], at)
        for run_id, desk, at, step in core.execute(query)
    ]


def _have(
    core: sa.Connection, body: sa.Column[bytes], words: Sequence[str]
) -> Iterator[sa.ColumnElement[bool]]:
    """Whether a JSON document that is kept as bytes has each of the words, as JSON writes them."""
    is_postgres = core.dialect.name == "postgresql"
    text = sa.func.convert_from(body, "UTF8") if is_postgres else sa.cast(body, sa.Text)
    for word in words:
        yield _like(core, text, json.dumps(word, ensure_ascii=False)[1:-1])


def _like(core: sa.Connection, text: sa.ColumnElement[str], word: str) -> sa.ColumnElement[bool]:
    """Whether the text has the word. SQLite knows upper and lower case of plain letters alone, so
    other letters are asked for in each way of writing."""
    if core.dialect.name == "postgresql":
        return text.icontains(word, autoescape=True)
    ways = dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))
    if word.isascii():
        ways = dict.fromkeys((word,))
    return sa.or_(*(text.contains(way, autoescape=True) for way in ways))


def _has_all(text: str, words: Sequence[str]) -> bool:
    plain = text.casefold()
    return all(word.casefold() in plain for word in words)


def _around(text: str, word: str) -> str:
    """The words around the first place where it stands."""
    line = " ".join(text.split())
    at = max(0, line.casefold().find(word.casefold()) - _SHOWN // 3)
    return ("… " if at else "") + line[at : at + _SHOWN]
