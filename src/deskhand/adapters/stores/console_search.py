"""Searching everything that a desk has: messages, people, orders and runs, by an index of words.

Upper and lower case and accents do not matter, and the beginning of a word is enough. What has
other signs in it (`A-10007`, `100%`) must stand there as it is asked for.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.search_words import (
    IN_MESSAGE,
    IN_NUMBERS,
    IN_RUN,
    SHORTEST_NUMBER,
    index_terms,
    message_text,
    number_text,
    parts_of,
    written_terms,
)
from deskhand.engine.review_search import fold
from deskhand.model.message import Message
from deskhand.ports.console import SearchHit

_BATCH = 200
_MOST_LOOKED_AT = 4000
"""Candidates of a kind that are read: the parts of `A-10007` may stand far from each other."""
_SHOWN = 160

Finder = Callable[[Sequence[int]], Iterator[SearchHit]]
"""Reads the runs at these positions and yields those that have all that was asked for."""


def search_desks(
    core: sa.Connection, desks: Collection[str], words: Sequence[str], limit: int
) -> list[SearchHit]:
    """What has all of these words, by kind, the newest first."""
    asked = [word for word in map(fold, words) if parts_of(word)]
    if not asked:
        return []
    search = _Search(core, desks, asked, limit)
    return [*search.messages(), *search.people(), *search.runs(), *search.orders()]


class _Search:
    def __init__(
        self, core: sa.Connection, desks: Collection[str], asked: Sequence[str], limit: int
    ) -> None:
        self._core = core
        self._desks = list(desks)
        self._asked = asked
        self._limit = limit

    def messages(self) -> list[SearchHit]:
        return self._of_runs(IN_MESSAGE, self._asked, self._read_messages)

    def runs(self) -> list[SearchHit]:
        return self._of_runs(IN_RUN, self._asked, self._read_runs)

    def orders(self) -> list[SearchHit]:
        """Runs in which the desk worked with such a number: in a tool's arguments or its result."""
        numbers = [word for word in self._asked if _is_number(word)]
        if not numbers:
            return []
        return self._of_runs(
            IN_NUMBERS, numbers, lambda positions: self._read_orders(positions, numbers)
        )

    def people(self) -> list[SearchHit]:
        here = t.contacts.c
        addresses = _find_people(self._core, self._desks, index_terms("", self._asked))
        query = (
            sa.select(here.desk, here.address, here.name, here.mail_name, here.company)
            .add_columns(here.customer_id, here.phone, here.updated_at)
            .where(here.desk.in_(self._desks), here.address.in_(addresses))
            .order_by(here.updated_at.desc(), here.address)
        )
        hits: list[SearchHit] = []
        for row in self._core.execute(query):
            if len(hits) < self._limit and _has_all(" ".join(filter(None, row[1:7])), self._asked):
                title = row.name or row.mail_name or row.address
                detail = " · ".join(filter(None, (row.address, row.company)))
                hits.append(
                    SearchHit("person", row.desk, row.address, title, detail, row.updated_at)
                )
        return hits

    def _of_runs(self, place: str, asked: Sequence[str], read: Finder) -> list[SearchHit]:
        terms = index_terms(place, asked)
        size = self._limit if _are_words(asked) else _BATCH
        hits: list[SearchHit] = []
        before: int | None = None
        for _ in range(0, _MOST_LOOKED_AT, size):
            positions = _find_runs(self._core, self._desks, terms, before, size)
            hits += read(positions)
            if len(positions) < size or len(hits) >= self._limit:
                break
            before = positions[-1]
        return hits[: self._limit]

    def _read_messages(self, positions: Sequence[int]) -> Iterator[SearchHit]:
        here = t.messages.c
        for row in self._rows(positions, here.body, t.messages, here.run, here.body.is_not(None)):
            message = Message.model_validate_json(row.body)
            if not _has_all(message_text(message), self._asked):
                continue
            title, detail = str(message.writer), _passage(message, self._asked[0])
            if message.subject:
                title, detail = message.subject, f"{title}: {detail}"
            yield SearchHit("message", row.desk, row.id, title, detail, row.created_at)

    def _read_runs(self, positions: Sequence[int]) -> Iterator[SearchHit]:
        here = t.runs.c
        query = (
            sa.select(here.desk, here.id, here.status, here.reason, here.created_at)
            .where(here.position.in_(positions))
            .order_by(here.position.desc())
        )
        for row in self._core.execute(query):
            if _has_all(f"{row.id} {row.reason or ''}", self._asked):
                detail = row.reason or row.status
                yield SearchHit("run", row.desk, row.id, row.id, detail, row.created_at)

    def _read_orders(self, positions: Sequence[int], numbers: Sequence[str]) -> Iterator[SearchHit]:
        here = t.steps.c
        of_tools = sa.and_(here.name.contains("/"), here.body.is_not(None))
        listed_runs: set[str] = set()
        for row in self._rows(positions, here.body, t.steps, here.run, of_tools, here.name):
            if row.id not in listed_runs and _has_all(number_text([row.body]), numbers):
                listed_runs.add(row.id)
                tool = row.name.rpartition("/")[2]
                title = " ".join(numbers).upper()
                yield SearchHit("order", row.desk, row.id, title, tool, row.created_at)

    def _rows(
        self,
        positions: Sequence[int],
        body: sa.Column[bytes],
        table: sa.Table,
        run: sa.Column[int],
        which: sa.ColumnElement[bool],
        *more: sa.Column[Any],
    ) -> Sequence[sa.Row[Any]]:
        here = t.runs.c
        query = (
            sa.select(here.id, here.desk, here.created_at, body, *more)
            .join_from(t.runs, table, run == here.position)
            .where(run.in_(positions), which)
            .order_by(here.position.desc(), *more)
        )
        return self._core.execute(query).all()


# --- the index


def _find_runs(
    core: sa.Connection,
    desks: Sequence[str],
    terms: Sequence[tuple[str, bool]],
    before: int | None,
    limit: int,
) -> list[int]:
    """The positions of runs of these desks that have all the terms, the newest first."""
    here = t.search_runs.c
    query = sa.select(here.run).where(here.desk.in_(desks))
    rowid = sa.literal_column("search_runs_words.rowid", sa.Integer)
    number: sa.ColumnElement[int] = here.run
    if core.dialect.name == "postgresql":
        query = query.where(sa.text("lexemes @@ CAST(:asked AS tsquery)"))
    else:
        # FTS5 itself goes through its rows from the newest on.
        words = sa.table("search_runs_words")
        query = query.join_from(words, t.search_runs, here.run == rowid)
        query = query.where(sa.text("search_runs_words MATCH :asked"))
        number = rowid
    if before is not None:
        query = query.where(number < before)
    ordered = query.order_by(number.desc()).limit(limit)
    return list(core.execute(ordered, {"asked": written_terms(core, terms)}).scalars())


def _find_people(
    core: sa.Connection, desks: Sequence[str], terms: Sequence[tuple[str, bool]]
) -> list[str]:
    here = t.search_people.c
    query = sa.select(here.address).where(here.desk.in_(desks))
    if core.dialect.name == "postgresql":
        query = query.where(sa.text("lexemes @@ CAST(:asked AS tsquery)"))
    else:
        match = sa.text(
            "number IN (SELECT rowid FROM search_people_words WHERE search_people_words"
            " MATCH :asked)"
        )
        query = query.where(match)
    newest = query.order_by(here.number.desc()).limit(_BATCH)
    return list(core.execute(newest, {"asked": written_terms(core, terms)}).scalars())


# --- what a candidate says


def _is_number(word: str) -> bool:
    return len(word) >= SHORTEST_NUMBER and any(map(str.isdigit, word))


def _are_words(asked: Sequence[str]) -> bool:
    """Whether the index alone tells what has them: whole words or their beginnings."""
    return all(parts_of(word) == [word] for word in asked)


def _has_all(text: str, asked: Sequence[str]) -> bool:
    if _are_words(asked):
        return True
    folded = fold(text)
    return all(word in folded for word in asked)


def _passage(message: Message, word: str) -> str:
    """What the message says around the word; its beginning where the word stands elsewhere."""
    said = (message.words, message.body, *(file.text or "" for file in message.attachments))
    with_word = (text for text in said if word in fold(text))
    return _around(next(with_word, message.words), word)


def _around(text: str, word: str) -> str:
    """The words around the first place where it stands."""
    line = " ".join(text.split())
    at = max(0, _place_of(line, word) - _SHOWN // 3)
    return ("… " if at else "") + line[at : at + _SHOWN]


def _place_of(line: str, word: str) -> int:
    """Where a folded word stands in a line; folding may make one letter of two."""
    left = max(0, fold(line).find(word))
    for place, letter in enumerate(line):
        left -= len(fold(letter))
        if left < 0:
            return place
    return 0
