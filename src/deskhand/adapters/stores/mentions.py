"""Where an address stands in the database beyond the runs of the person whose it is."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t

_CHUNK = 200
_NOT_TEXT = {"vector", "chain", "salt", "digest", "body_digest", "message_key", "heads", "mark"}
_OF_RUNS_BY_ID = (t.events.name, t.llm_calls.name, t.bookings.name)


def passed_on_for(core: sa.Connection, desk: str, address: str) -> list[int]:
    """Positions of runs whose mail a contact form passed on for this person: its Reply-To is
    theirs."""
    positions: list[int] = []
    wanted = address.encode()
    query = sa.select(t.messages.c.run, t.messages.c.body).where(
        t.messages.c.desk == desk, t.messages.c.body.is_not(None)
    )
    for row in _rows(core, query):
        body = bytes(row.body)
        if wanted in body.lower() and _answers_go_to(body, address):
            positions.append(row.run)
    return positions


def _answers_go_to(body: bytes, address: str) -> bool:
    from deskhand.mail.reply_to import plain, reply_to  # who lists runs does not wait for it
    from deskhand.model.message import Message

    people = reply_to(Message.model_validate_json(body))
    return address in {plain(person.address) for person in people}


def forget_responses(core: sa.Connection, desk: str, address: str, run_ids: Iterable[str]) -> int:
    """Delete what was kept for repeated requests that brought these runs, or name the address;
    returns how many requests that were."""
    wanted = [address.encode(), *(run_id.encode() for run_id in run_ids)]
    names: set[str] = set()
    query = sa.select(t.responses.c.key, t.responses.c.response).where(t.responses.c.desk == desk)
    for row in _rows(core, query):
        text = row.key.encode().lower() + b"\n" + bytes(row.response).lower()
        if any(word in text for word in wanted):
            names.add(row.key.partition(":")[2])
    for name in names:
        keys = (f"request:{name}", f"response:{name}")
        here = (t.responses.c.desk == desk, t.responses.c.key.in_(keys))
        core.execute(t.responses.delete().where(*here))
    return len(names)


def find_mentions(core: sa.Connection, desk: str, address: str) -> list[str]:
    """Every place in the database that still names the address, with table, column and what it
    belongs to: other people's runs that quote it, an assignee, a note."""
    wanted = address.strip().lower()
    places: list[str] = []
    run_ids = {
        row.position: row.id
        for row in core.execute(sa.select(t.runs.c.position, t.runs.c.id)).all()
    }
    for table in t.metadata.sorted_tables:
        columns = [column for column in table.c if _holds_text(column)]
        query = sa.select(table)
        if "desk" in table.c:
            query = query.where(table.c.desk == desk)
        for row in _rows(core, query):
            values = row._mapping
            names = [column.name for column in columns if _names(values[column.name], wanted)]
            if names:
                of = _owner(table, values, run_ids)
                places.append(f"{table.name}.{', '.join(names)} of {of}")
    return places


def _holds_text(column: sa.Column[Any]) -> bool:
    is_text = isinstance(column.type, sa.Text | sa.LargeBinary)
    return is_text and column.name not in _NOT_TEXT


def _names(value: Any, wanted: str) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        return wanted in value.lower()
    content = bytes(value).lower()
    escaped = json.dumps(wanted)[1:-1].encode()
    return wanted.encode() in content or escaped in content


def _owner(table: sa.Table, values: Any, run_ids: dict[int, str]) -> str:
    """What a row belongs to, in words that an operator can look up."""
    if "run" in table.c:
        return run_ids.get(values["run"], "the desk")
    if table.name in _OF_RUNS_BY_ID and values["run_id"]:
        return str(values["run_id"])
    return "/".join(str(values[column.name]) for column in table.primary_key.columns)


def _rows(core: sa.Connection, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
    """All rows, without holding a large table in memory."""
    # Said of the query, not of the connection: that would go on for all that comes after, and
    # nothing there would know how many rows it changed.
    yield from core.execute(query.execution_options(yield_per=_CHUNK))
