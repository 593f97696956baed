"""Writing statements: what a run's records are when it comes to rest, or is changed there.

Whatever changes records of a run at rest says so with `mark_run`; the statement is made at the end
of the same transaction. Every database reads the records with the same statements in SQL.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.stated_records import (
    LATER_COLUMNS,
    as_stated,
    desk_record_name,
    rows_as_stated,
    values_of,
)
from deskhand.engine.seal_checks import ACCOUNTS
from deskhand.engine.statements import OPEN, make_statement, record_digest, steps_record
from deskhand.model.audited import DeskRecords, Statement, StatementKind
from deskhand.model.ids import random_bytes

T = TypeVar("T")

_OF_DESK = 0
"""Where a run's position stands in statements, in those of a desk's own records."""
_MARKED_RUNS = "statements: runs"
_MARKED_RECORDS = "statements: records"
_OPEN_EFFECTS = ("intended", "unknown")


class _Source(NamedTuple):
    """How the records of one table are read, `{these}` being the runs."""

    name: str
    sql: str
    keys: int
    """How many columns after the run's position tell its records apart."""
    open_at: int | None = None
    """Which column says whether a record may still change."""
    open_values: tuple[str, ...] = ()
    later: int = 0
    """How many of its last columns earlier rows do not have."""


_KEPT_TO_SORT = "made from what the review says, for the order of the queue"
LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "reviews": {
        "search_text": "made from the review and its message, for the search",
        "rank": _KEPT_TO_SORT,
        "deadline": _KEPT_TO_SORT,
        "category": _KEPT_TO_SORT,
        "language": _KEPT_TO_SORT,
    },
    "attachments": {"content": "compared with its digest instead"},
}
"""Columns that no statement covers, by table, each with the reason. `audit verify` compares them
with what they are made from."""


def _columns(table: sa.Table, without: Iterable[str] = ()) -> list[str]:
    return [column.name for column in table.c if column.name not in without]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'x."{name}"' for name in columns)


def _of_run(
    table: sa.Table,
    name: str,
    keys: Sequence[str],
    state: tuple[str, ...] = (),
) -> _Source:
    without = ("run", *keys, *LEFT_OUT.get(table.name, ()))
    values = _columns(table, without)
    columns = [*keys, *values]
    open_at = values.index("state") if state else None
    if "run" in table.c:
        sql = f"SELECT x.run, {_listed(columns)} FROM {table.name} x WHERE x.run {{these}}"  # noqa: S608
    else:
        sql = (
            f"SELECT r.position, {_listed(columns)} FROM {table.name} x"  # noqa: S608
            " JOIN runs r ON r.id = x.run_id WHERE r.position {these}"
        )
    return _Source(name, sql, len(keys), open_at, state, LATER_COLUMNS.get(table.name, 0))


_ACCEPTED = ("id", "desk", "message_key", "conversation", "flow", "created_at")
_RUN = _columns(t.runs, _ACCEPTED)

HEAD_OF_RUN = (
    f"SELECT x.position, x.status, m.salt, {_listed(_ACCEPTED)}, {_listed(_RUN)},"  # noqa: S608
    " m.desk, m.sender, m.body_digest FROM runs x LEFT JOIN messages m ON m.run = x.position"
    " WHERE x.position {these}"
)
LAST_STEP = (
    "SELECT x.run, x.seq, x.chain FROM steps x WHERE x.run {these} AND x.seq ="
    " (SELECT max(y.seq) FROM steps y WHERE y.run = x.run)"
)
LAST_STATEMENT = (
    "SELECT x.run, x.number, x.kind, x.at, x.body, x.chain FROM statements x WHERE x.run {these}"
    " AND x.desk = (SELECT r.desk FROM runs r WHERE r.position = x.run) AND x.number ="
    " (SELECT max(y.number) FROM statements y WHERE y.desk = x.desk AND y.run = x.run)"
)
SOURCES = (
    _of_run(t.effects, "effect", ("seq", "call"), state=_OPEN_EFFECTS),
    _of_run(t.effect_counts, "count", ("seq", "call")),
    _of_run(t.reviews, "review", ("id",), state=("open",)),
    _of_run(t.events, "event", ("id",)),
    _of_run(t.llm_calls, "model call", ("id",)),
    _of_run(t.attachments, "attachment", ("id",)),
    _of_run(t.judgements, "judgement", ("id",)),
)

_Rows = list[Sequence[Any]]


class ReadRecords(NamedTuple):
    """What was read of some runs, source by source."""

    heads: _Rows
    steps: _Rows
    records: list[_Rows]


class RunRecords(NamedTuple):
    run_id: str
    desk: str
    status: str
    records: dict[str, str]


def digests_of(read: ReadRecords) -> dict[int, RunRecords]:
    """The records of each run, by its position."""
    runs: dict[int, RunRecords] = {}
    salts: dict[int, bytes | None] = {}
    accepted_at = 3 + len(_ACCEPTED)
    run_at = accepted_at + len(_RUN)
    for head in read.heads:
        position, status = head[0], head[1]
        salt = None if head[2] is None else bytes(head[2])
        salts[position] = salt
        records = {
            "status": status,
            "accepted": record_digest(salt, list(head[3:accepted_at])),
            "run": record_digest(salt, list(head[accepted_at:run_at])),
            "message": record_digest(salt, list(head[run_at:])),
            "steps": steps_record(0, None),
        }
        runs[position] = RunRecords(head[3], head[4], status, records)
    for position, seq, chain in read.steps:
        runs[position].records["steps"] = steps_record(seq + 1, bytes(chain))
    for source, rows in zip(SOURCES, read.records, strict=True):
        for row in rows:
            values = as_stated(list(row[1 + source.keys :]), source.later)
            key = ".".join(map(str, row[1 : 1 + source.keys]))
            digest = record_digest(salts[row[0]], values)
            if source.open_at is not None and values[source.open_at] in source.open_values:
                digest = OPEN + digest
            runs[row[0]].records[f"{source.name} {key}"] = digest
    return runs


def next_statement(
    run: RunRecords, last: Sequence[Any] | None, kind: StatementKind, at: float
) -> Statement:
    previous = None
    if last is not None:
        previous = Statement(last[1], last[2], last[3], last[4], bytes(last[5]))
    return make_statement(previous, run.run_id, kind, at, run.records)


# --- SQLite's hot path

_INSERT = "INSERT INTO statements(desk, run, number, kind, at, body, chain) VALUES(?,?,?,?,?,?,?)"


def _of_one_run(sql: str) -> str:
    return sql.format(these="= ?")


_ONE_HEAD, _ONE_STEPS, _ONE_LAST = (
    _of_one_run(HEAD_OF_RUN),
    _of_one_run(LAST_STEP),
    _of_one_run(LAST_STATEMENT),
)
_ONE_OF_EACH = [_of_one_run(source.sql) for source in SOURCES]
_HAS_ANY = "SELECT " + ", ".join(
    [f"EXISTS({source.sql.format(these='= ?1')})" for source in SOURCES]
)
"""Most runs have nothing in most of these tables: one question in place of one for each."""


def state_on_sqlite(raw: sqlite3.Connection, position: int, now: float) -> None:
    """State what a run's records are, now that it has come to rest."""
    this = (position,)
    has_any = raw.execute(_HAS_ANY, this).fetchone()
    records: list[_Rows] = []
    for sql, is_there in zip(_ONE_OF_EACH, has_any, strict=True):
        records.append(raw.execute(sql, this).fetchall() if is_there else [])
    heads, steps = raw.execute(_ONE_HEAD, this), raw.execute(_ONE_STEPS, this)
    read = ReadRecords(heads.fetchall(), steps.fetchall(), records)
    run = digests_of(read)[position]
    last = raw.execute(_ONE_LAST, this).fetchone()
    made = next_statement(run, last, StatementKind.RESTED, now)
    row = (run.desk, position, made.number, made.kind, made.at, made.body, made.chain)
    raw.execute(_INSERT, row)


def state_late_on_sqlite(raw: sqlite3.Connection, run_id: str | None, now: float) -> None:
    """State a run's records after one that came while it was at rest."""
    at_rest = "SELECT position FROM runs WHERE id=? AND status NOT IN ('queued', 'running')"
    row = raw.execute(at_rest, (run_id,)).fetchone()
    if row is not None:
        state_on_sqlite(raw, row[0], now)


# --- everything else


def mark_run(
    core: sa.Connection, run: str | int, kind: StatementKind = StatementKind.CHANGED
) -> None:
    """Have a run's records stated at the end of this transaction; the run by id or position."""
    marked: dict[str | int, StatementKind] = core.info.setdefault(_MARKED_RUNS, {})
    if marked.get(run, StatementKind.CHANGED) is StatementKind.CHANGED:
        marked[run] = kind


def mark_record(core: sa.Connection, desk: str, table: sa.Table, *key: Any) -> None:
    """Have a record stated that belongs to the desk and to no run."""
    core.info.setdefault(_MARKED_RECORDS, []).append((desk, table, key))


def mark_ticket(core: sa.Connection, desk: str, ticket: str) -> None:
    """Have all events of a ticket stated, as one record of the desk: a ticket outlives its runs."""
    mark_record(core, desk, t.ticket_events, ticket)


def stated(core: sa.Connection, op: Callable[[sa.Connection], T]) -> T:
    """Do a write, then state what it has marked."""
    core.info.pop(_MARKED_RUNS, None)
    core.info.pop(_MARKED_RECORDS, None)
    result = op(core)
    runs: dict[str | int, StatementKind] = core.info.pop(_MARKED_RUNS, {})
    records = core.info.pop(_MARKED_RECORDS, [])
    if runs:
        _state_runs(core, runs)
    for desk, table, key in dict.fromkeys(records):
        _state_record(core, desk, table, key)
    return result


def _state_runs(core: sa.Connection, marked: Mapping[str | int, StatementKind]) -> None:
    positions = [run for run in marked if isinstance(run, int)]
    ids = [run for run in marked if isinstance(run, str)]
    query = (
        sa.select(t.runs.c.position, t.runs.c.id)
        .where(
            sa.or_(t.runs.c.position.in_(positions), t.runs.c.id.in_(ids)),
            t.runs.c.status != "running",
        )
        .order_by(t.runs.c.position)
        .with_for_update()
    )
    kinds: dict[int, StatementKind] = {}
    for row in core.execute(query):
        by_position = marked.get(row.position, StatementKind.CHANGED)
        is_plain = by_position is StatementKind.CHANGED
        kinds[row.position] = marked.get(row.id, by_position) if is_plain else by_position
    if not kinds:
        return
    last = {row[0]: row for row in _fetch(core, LAST_STATEMENT, list(kinds))}
    now = time.time()
    for position, run in read_records(core, list(kinds)).items():
        kind = kinds[position]
        made = next_statement(run, last.get(position), kind, now)
        here = (t.statements.c.desk == run.desk, t.statements.c.run == position)
        if kind is StatementKind.PRUNED:
            core.execute(t.statements.delete().where(*here))
        core.execute(t.statements.insert().values(desk=run.desk, run=position, **made._asdict()))


def last_statement(core: sa.Connection, position: int) -> Sequence[Any] | None:
    """The row of a run's last statement."""
    rows = _fetch(core, LAST_STATEMENT, [position])
    return rows[0] if rows else None


def read_records(core: sa.Connection, positions: Sequence[int]) -> dict[int, RunRecords]:
    """The digests of all records of these runs, by position."""
    heads = _fetch(core, HEAD_OF_RUN, positions)
    steps = _fetch(core, LAST_STEP, positions)
    records = [_fetch(core, source.sql, positions) for source in SOURCES]
    return digests_of(ReadRecords(heads, steps, records))


def _fetch(core: sa.Connection, sql: str, positions: Sequence[int]) -> _Rows:
    query = sa.text(sql.format(these="IN :these"))
    these: sa.BindParameter[Any] = sa.bindparam("these", expanding=True)
    return _tuples(core.execute(query.bindparams(these), {"these": list(positions)}))


def _tuples(rows: Iterable[Any]) -> _Rows:
    return [tuple(row) for row in rows]


def read_statements(core: sa.Connection, desk: str, runs: Any) -> dict[int, list[Statement]]:
    """Statements in their order, by the position of their run."""
    here = t.statements.c
    query = (
        sa.select(here.run, here.number, here.kind, here.at, here.body, here.chain, here.salt)
        .where(here.desk == desk, runs)
        .order_by(here.run, here.number)
    )
    rows = core.execute(query)
    stated: dict[int, list[Statement]] = {}
    for row in rows:
        stated.setdefault(row.run, []).append(_statement(row))
    return stated


def _statement(row: Any) -> Statement:
    salt = None if row.salt is None else bytes(row.salt)
    return Statement(row.number, row.kind, row.at, row.body, bytes(row.chain), salt)


# --- records of a desk that belong to no run


def _state_record(core: sa.Connection, desk: str, table: sa.Table, key: Sequence[Any]) -> None:
    if core.dialect.name == "postgresql":
        lock = "SELECT pg_advisory_xact_lock(hashtextextended('deskhand statements ' || :desk, 0))"
        core.execute(sa.text(lock), {"desk": desk})
    values = values_of(core, desk, table, key)
    salt = random_bytes()
    name = desk_record_name(table, key)
    digest = "" if values is None else record_digest(salt, values)
    here = t.statements.c
    of_desk = (here.desk == desk, here.run == _OF_DESK)
    newest = sa.select(t.statements).where(*of_desk).order_by(here.number.desc()).limit(1)
    last = core.execute(newest).first()
    previous = None if last is None else _statement(last)
    kind = StatementKind.CHANGED
    made = make_statement(previous, f"@{desk}", kind, time.time(), {name: digest}, salt)
    core.execute(t.statements.insert().values(desk=desk, run=_OF_DESK, **made._asdict()))


def forget_salts(core: sa.Connection, desk: str, table: sa.Table, *key: Any) -> None:
    """Nobody can guess any more what an erased record held."""
    here = t.statements.c
    named = here.body.contains(f'"{desk_record_name(table, key)}"', autoescape=True)
    core.execute(
        t.statements.update()
        .where(here.desk == desk, here.run == _OF_DESK, named)
        .values(salt=None)
    )


# --- who may log in and which programs may call: in a chain that all desks of a database share.
# A statement holds a salted digest of the row, from which neither a password nor a key can be read.


def mark_user(core: sa.Connection, name: str) -> None:
    """Have a user stated at the end of this transaction."""
    mark_record(core, ACCOUNTS, t.users, name)


def mark_key(core: sa.Connection, key_id: str) -> None:
    """Have a key stated at the end of this transaction."""
    mark_record(core, ACCOUNTS, t.api_keys, key_id)


def account_records(core: sa.Connection) -> DeskRecords:
    """Users and keys as they are, and what was stated about them."""
    stated = read_statements(core, ACCOUNTS, t.statements.c.run == 0).get(0, [])
    records = rows_as_stated(core, t.users) | rows_as_stated(core, t.api_keys)
    return DeskRecords(stated, records)
