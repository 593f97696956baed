"""What a desk's rows have to tell, in the order in which runs came to rest.

A statement is written whenever a run comes to rest. Statements of several processes have no order
of their own, so the one teller of a desk numbers them: from then on the order stays, and a mark is
such a number.
"""

import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic_core import from_json

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase, SqlDesk, insert_if_new
from deskhand.adapters.stores.rows import STEP_COLUMNS, call_of
from deskhand.engine.statements import STEPS
from deskhand.errors import NotFound
from deskhand.model.codes import ErrorCode
from deskhand.model.run import LlmCall, Run, RunStatus, StepRow
from deskhand.ports.telemetry import SinkMark, ToldRun

_MARKS = t.telemetry_marks.c
_STATED = t.statements.c
_RUNS = t.runs.c
_RUN_COLUMNS = (
    _RUNS.id,
    _RUNS.desk,
    _RUNS.position,
    _RUNS.message_key,
    _RUNS.conversation,
    _RUNS.flow,
    _RUNS.status,
    _RUNS.error_code,
    _RUNS.created_at,
)
_TOLD_COLUMNS = STEP_COLUMNS[:-3]
"""All but salt, digest and chain: telemetry proves nothing."""
_UNREAD: tuple[Any, ...] = (None, b"", b"")
_DESK: sa.BindParameter[str] = sa.bindparam("desk")
_POSITIONS: sa.BindParameter[list[int]] = sa.bindparam("positions", expanding=True)
_CONVERSATIONS: sa.BindParameter[list[str]] = sa.bindparam("conversations", expanding=True)
_FIRST: sa.BindParameter[int] = sa.bindparam("first")
_TOLD_AFTER = (
    sa.select(_STATED.told, _STATED.run, _STATED.number)
    .where(_STATED.desk == _DESK, _STATED.told > sa.bindparam("mark"))
    .order_by(_STATED.told)
    .limit(sa.bindparam("most"))
)
_OF_RUNS = (
    sa.select(*_RUN_COLUMNS, t.messages.c.body)
    .join(t.messages, t.messages.c.run == t.runs.c.position)
    .where(t.runs.c.position.in_(_POSITIONS))
    .order_by(t.runs.c.position)
)
_OF_STEPS = (
    sa.select(t.steps.c.run, *_TOLD_COLUMNS)
    .where(t.steps.c.run.in_(_POSITIONS))
    .order_by(t.steps.c.run, t.steps.c.seq)
)
_OF_STATEMENTS = (
    sa.select(_STATED.run, _STATED.number, _STATED.body, _STATED.at)
    .where(_STATED.desk == _DESK, _STATED.run.in_(_POSITIONS))
    .order_by(_STATED.run, _STATED.number)
)
_IN_CONVERSATIONS = (
    _RUNS.desk == _DESK,
    _RUNS.conversation.in_(_CONVERSATIONS),
    sa.or_(
        _RUNS.status != RunStatus.DONE,
        sa.func.coalesce(_RUNS.error_code, "") != ErrorCode.AUTOMATIC_MAIL,
    ),
)
_MESSAGES_BEFORE = (
    sa.select(_RUNS.conversation, sa.func.count())
    .where(*_IN_CONVERSATIONS, _RUNS.position < _FIRST)
    .group_by(_RUNS.conversation)
)
_MESSAGES_BETWEEN = (
    sa.select(_RUNS.conversation, _RUNS.position)
    .where(*_IN_CONVERSATIONS, _RUNS.position.between(_FIRST, sa.bindparam("last")))
    .order_by(_RUNS.position)
)
_COUNT_BEGINS = f'"{STEPS}":"'


class SqlTelemetryFeed(SqlDesk):
    """The order lies in `statements.told`, the marks in `telemetry_marks`."""

    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, desk, now)

    async def put_in_order(self, limit: int = 1000) -> int:
        untold = await self._database.read_core(lambda core: self._untold(core, 1))
        if not untold:
            return 0
        return await self._database.write_core(lambda core: self._number(core, limit))

    def _untold(self, core: sa.Connection, limit: int) -> list[tuple[int, int]]:
        query = (
            sa.select(_STATED.run, _STATED.number)
            .where(_STATED.desk == self.desk, _STATED.told.is_(None), _STATED.run > 0)
            .order_by(_STATED.run, _STATED.number)
            .limit(limit)
        )
        return [(row.run, row.number) for row in core.execute(query)]

    def _number(self, core: sa.Connection, limit: int) -> int:
        untold = self._untold(core, limit)
        begin = self._newest(core) + 1
        this = (
            _STATED.desk == self.desk,
            _STATED.run == sa.bindparam("of_run"),
            _STATED.number == sa.bindparam("its_number"),
        )
        update = t.statements.update().where(*this).values(told=sa.bindparam("place"))
        rows = [
            {"of_run": run, "its_number": number, "place": place}
            for place, (run, number) in enumerate(untold, begin)
        ]
        if rows:
            core.execute(update, rows)
        return len(rows)

    async def newest(self) -> int:
        return await self._database.read_core(self._newest)

    def _newest(self, core: sa.Connection) -> int:
        query = sa.select(sa.func.max(_STATED.told)).where(_STATED.desk == self.desk)
        return core.execute(query).scalar() or 0

    async def after(self, number: int, limit: int, *, with_calls: bool = False) -> list[ToldRun]:
        return await self._database.read_core(
            lambda core: self._after(core, number, limit, with_calls)
        )

    def _after(
        self, core: sa.Connection, number: int, limit: int, with_calls: bool
    ) -> list[ToldRun]:
        asked = {"desk": self.desk, "mark": number, "most": limit}
        statements = core.execute(_TOLD_AFTER, asked).all()
        positions = sorted({position for _, position, _ in statements})
        if not positions:
            return []
        runs = _runs(core, positions)
        rows = _rows(core, {position: run.id for position, (run, _, _) in runs.items()})
        stated = self._stated(core, positions)
        calls: dict[str, list[LlmCall]] = {}
        if with_calls:
            calls = _calls(core, [run.id for run, _, _ in runs.values()])
        told_runs: list[ToldRun] = []
        for place, position, last in statements:
            run, message_id, history = runs[position]
            times = [stated_at for stated_at in stated[position] if stated_at[0] <= last]
            ends = [count for _, count, _ in times]
            before, now = _span(times)
            since = [call for call in calls.get(run.id, ()) if before < call.at <= now]
            until = rows[position][: ends[-1]]
            told_runs.append(ToldRun(place, run, message_id, until, ends, history, since))
        return told_runs

    async def of_run(self, run_id: str) -> ToldRun:
        """One run with all of its rows; NotFound where there is none."""
        return await self._database.read_core(lambda core: self._of_run(core, run_id))

    def _of_run(self, core: sa.Connection, run_id: str) -> ToldRun:
        here = (t.runs.c.desk == self.desk, t.runs.c.id == run_id)
        position = core.execute(sa.select(t.runs.c.position).where(*here)).scalar()
        if position is None:
            raise NotFound(f"there is no run {run_id}")
        run, message_id, history = _runs(core, [position])[position]
        rows = _rows(core, {position: run.id})[position]
        return ToldRun(0, run, message_id, rows, [len(rows)], history)

    def _stated(
        self, core: sa.Connection, positions: Sequence[int]
    ) -> dict[int, list[tuple[int, int, float]]]:
        """Number, count of rows and time of every statement of these runs."""
        wanted = {"desk": self.desk, "positions": positions}
        stated: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
        for position, number, body, at in core.execute(_OF_STATEMENTS, wanted).all():
            stated[position].append((number, _count_of(body), at))
        return stated

    # --- marks

    async def mark(self, sink: str, *, first: int | None = None) -> int:
        return await self._database.write_core(lambda core: self._mark(core, sink, first))

    def _mark(self, core: sa.Connection, sink: str, first: int | None) -> int:
        begin = self._newest(core) if first is None else first
        insert_if_new(core, t.telemetry_marks, {"desk": self.desk, "sink": sink, "number": begin})
        this = (_MARKS.desk == self.desk, _MARKS.sink == sink)
        number: int = core.execute(sa.select(_MARKS.number).where(*this)).scalar_one()
        return number

    async def set_mark(self, sink: str, before: int, after: int) -> bool:
        this = (_MARKS.desk == self.desk, _MARKS.sink == sink, _MARKS.number == before)
        values = {"number": after, "told_at": self._now(), "failure": None}
        update = t.telemetry_marks.update().where(*this).values(**values)
        return bool(await self._database.write_core(lambda core: core.execute(update).rowcount))

    async def note_failure(self, sink: str, failure: str | None) -> None:
        this = (_MARKS.desk == self.desk, _MARKS.sink == sink)
        update = t.telemetry_marks.update().where(*this).values(failure=failure)
        await self._database.write_core(lambda core: core.execute(update).rowcount)

    async def marks(self) -> list[SinkMark]:
        query = sa.select(t.telemetry_marks).where(_MARKS.desk == self.desk).order_by(_MARKS.sink)
        return await self._database.read_core(
            lambda core: [
                SinkMark(row.sink, row.number, row.told_at, row.failure)
                for row in core.execute(query)
            ]
        )


def _runs(core: sa.Connection, positions: Sequence[int]) -> dict[int, tuple[Run, str | None, int]]:
    """Runs with the ids of their messages, and how many messages their conversations had by
    then."""
    read = core.execute(_OF_RUNS, {"positions": positions}).all()
    runs_with_bodies = [(_run_of(values), body) for *values, body in read]
    counted = _messages_by_then(core, [run for run, _ in runs_with_bodies])
    runs: dict[int, tuple[Run, str | None, int]] = {}
    for run, body in runs_with_bodies:
        runs[run.position] = (run, _message_id(body), counted[run.position])
    return runs


def _run_of(values: Sequence[Any]) -> Run:
    """A run as far as telemetry tells of it: the rest stays behind."""
    run_id, desk, position, key, conversation, flow, status, error_code, created_at = values
    return Run(
        run_id,
        desk,
        position,
        bytes(key).hex(),
        conversation,
        flow,
        RunStatus(status),
        error_code=error_code,
        created_at=created_at,
    )


def _message_id(body: bytes | None) -> str | None:
    """Telemetry needs no more of a message, so it is not read as one."""
    if body is None:
        return None
    message_id: str = from_json(body)["id"]
    return message_id


def _messages_by_then(core: sa.Connection, runs: Sequence[Run]) -> dict[int, int]:
    """How many messages the conversation of each run had by then; runs of one desk, in order.

    What lies before all of these runs is counted once for each conversation, not for each run.
    """
    conversations = list({run.conversation for run in runs})
    these = {"desk": runs[0].desk, "conversations": conversations, "first": runs[0].position}
    earlier: dict[str, int] = dict(core.execute(_MESSAGES_BEFORE, these).all())
    until = {**these, "last": runs[-1].position}
    places: dict[str, list[int]] = defaultdict(list)
    for conversation, position in core.execute(_MESSAGES_BETWEEN, until).all():
        places[conversation].append(position)
    counts: dict[int, int] = {}
    for run in runs:
        since = bisect_right(places[run.conversation], run.position)
        counts[run.position] = earlier.get(run.conversation, 0) + since
    return counts


def _rows(core: sa.Connection, ids: dict[int, str]) -> dict[int, list[StepRow]]:
    rows: dict[int, list[StepRow]] = defaultdict(list)
    for row in core.execute(_OF_STEPS, {"positions": list(ids)}).all():
        position = row[0]
        rows[position].append(StepRow(ids[position], *row[1:], *_UNREAD))
    return rows


def _calls(core: sa.Connection, run_ids: Iterable[str]) -> dict[str, list[LlmCall]]:
    query = (
        sa.select(t.llm_calls)
        .where(t.llm_calls.c.run_id.in_(list(run_ids)))
        .order_by(t.llm_calls.c.id)
    )
    calls: dict[str, list[LlmCall]] = defaultdict(list)
    for row in core.execute(query):
        calls[row.run_id].append(call_of(row))
    return calls


def _span(times: Sequence[tuple[int, int, float]]) -> tuple[float, float]:
    """When the run rested before, and when it did this time."""
    before = times[-2][2] if len(times) > 1 else float("-inf")
    return before, times[-1][2]


def _count_of(body: str) -> int:
    """How many rows a statement covers: `"steps":"12:..."`."""
    _, separator, rest = body.partition(_COUNT_BEGINS)
    count = rest.partition(":")[0] if separator else ""
    return int(count) if count.isdecimal() else 0
