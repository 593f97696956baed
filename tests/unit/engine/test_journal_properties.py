"""Properties of the journal: what is folded, what comes back from a row, and what no forger gets
past."""

import asyncio
import json
import math
import zlib
from collections.abc import Collection
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deskhand.agents.parts import Parts
from deskhand.engine.audit import AuditReport, seal_desk, verify_desk
from deskhand.engine.context import RunContext
from deskhand.engine.journal import fold, make_row, result_of, seed, states, verify
from deskhand.engine.patience import Patience
from deskhand.engine.statements import make_statement, steps_record
from deskhand.model.audited import (
    ConsoleLog,
    DeskRecords,
    Journaled,
    LoweredTotal,
    Seal,
    StatementKind,
)
from deskhand.model.envelope import Ask, Delta, Envelope, ErrorNote, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState, RunStatus, StepRow, canonical_hash
from deskhand.tools.services import ServiceResult
from tests.kit import TestClock, a_flow, a_message, chain_of, engine
from tests.waiting import PATIENCE

DIGEST = sha256(b"message").digest()
FIRST = Envelope(run_id="run_1", raw_input="Hi")

Scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**60), max_value=10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
)
Json = st.recursive(
    Scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
Keys = st.sampled_from(["a", "b", "c.d", "", "ž"])
Rooms = st.dictionaries(Keys, Json, max_size=3)
Notes = st.builds(ErrorNote, stage=st.sampled_from("xy"), message=st.text(max_size=4))
Deltas = st.builds(
    Delta,
    raw_input=st.none() | st.text(max_size=4),
    outputs=Rooms,
    metadata=Rooms,
    append=st.dictionaries(
        st.sampled_from(["list.items", "list.other"]), st.lists(Json, max_size=2), max_size=2
    ),
    gone=st.lists(
        st.sampled_from(["outputs.a", "metadata.a", "outputs.c.d", "metadata.nothing"])
    ).map(tuple),
    errors=st.lists(Notes, max_size=2).map(tuple),
    errors_kept=st.none() | st.integers(0, 2),
    hops=st.integers(-1, 1),
)
Results = st.builds(
    StageResult,
    outcome=st.sampled_from(Outcome),
    delta=Deltas,
    next=st.none() | Keys,
    ask=st.none()
    | st.builds(Ask, kind=st.sampled_from(["reply", "tool_call"]), reason=Keys, payload=Rooms),
    reason=st.none() | st.text(max_size=4),
    error=st.none() | Notes,
    call=st.none() | Rooms,
    retry_at=st.none() | st.floats(0, 2e9),
)


def chained(
    results: list[StageResult], run_id: str = "run_1", digest: bytes = DIGEST
) -> list[StepRow]:
    rows: list[StepRow] = []
    head = seed(run_id, digest)
    for seq, result in enumerate(results):
        row = make_row(
            run_id,
            seq,
            f"stage{seq}",
            result,
            attempt=1 + seq % 3,
            flow_version="v1",
            started_at=1_800_000_000.125 + seq,
            latency_ms=seq / 3,
            previous=head,
        )
        rows.append(row)
        head = row.chain
    return rows


def as_json(value: Any) -> str:
    return canonical_hash(value.model_dump(mode="json"))


# --- folding


@given(st.lists(Results, max_size=5))
def test_folding_rows_equals_applying_their_deltas(results: list[StageResult]) -> None:
    rows = chained(results)
    applied = [FIRST]
    for result in results:
        applied.append(applied[-1].apply(result.delta))
    assert fold(FIRST, rows) == applied[-1]
    assert as_json(fold(FIRST, rows)) == as_json(applied[-1])
    assert [state.before for state in states(FIRST, rows)] == applied[:-1]
    assert [state.after for state in states(FIRST, rows)] == applied[1:]


@given(Results)
def test_a_result_comes_back_from_its_row_as_it_was(result: StageResult) -> None:
    [row] = chained([result])
    assert result_of(row) == result
    assert as_json(result_of(row)) == as_json(result)


# --- live equals resumed


class OneRun:
    """A journal of one run, in memory."""

    def __init__(self) -> None:
        self.written: list[StepRow] = []

    async def append(self, *rows: StepRow) -> None:
        self.written.extend(rows)

    async def find_reviews(self, *query: Any, **page: Any) -> list[Any]:
        return []


Odd = st.recursive(
    Json
    | st.floats()
    | st.binary(max_size=3)
    | st.datetimes()
    | st.tuples(st.integers(), st.text(max_size=2))
    | st.sets(st.integers(0, 3), max_size=2)
    | st.text(st.characters(), max_size=3)
    | st.just("\ud800")
    | st.builds(object),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.integers() | st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


def worked(
    store: OneRun, deltas: list[dict[str, Any]], rows: list[StepRow] | None = None
) -> RunContext:
    """A run of one stage a delta, begun afresh or from its rows."""

    async def work() -> RunContext:
        ctx = RunContext(FIRST, DIGEST, store, TestClock(), flow_version="v1", rows=rows or [])  # type: ignore[arg-type]
        for number, outputs in enumerate(deltas):

            async def stage(outputs: dict[str, Any] = outputs) -> StageResult:
                made = StageResult().changed(delta=Delta().changed(outputs={"part": outputs}))
                await ctx.step("part", lambda: _given(made))
                return made.changed(delta=Delta().changed(outputs=outputs, metadata=outputs))

            await ctx.stage(f"s{number}", stage, Patience(attempts=1))
        await ctx.rest(lambda left: store.append(*left))
        return ctx

    return asyncio.run(work())


async def _given(result: StageResult) -> StageResult:
    return result


@given(st.lists(st.dictionaries(Keys, Odd, max_size=2), min_size=1, max_size=2))
def test_whatever_stages_make_a_resumed_run_sees_what_the_first_one_saw(
    deltas: list[dict[str, Any]],
) -> None:
    store = OneRun()
    live = worked(store, deltas)
    resumed = worked(OneRun(), deltas, rows=store.written)
    assert repr(live.envelope) == repr(resumed.envelope), (
        "not even 1 for 1.0, or a tuple for a list"
    )
    assert live.envelope == fold(FIRST, store.written)
    assert verify("run_1", DIGEST, store.written) == []


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


UNSTORABLE = {
    "deep": nested(210),
    "deeper": nested(3000),
    "half": "\ud800",
    "endless": 10**5000,
    "bytes": b"\xff",
    "foreign": object(),
}


@pytest.mark.parametrize("value", UNSTORABLE.values(), ids=UNSTORABLE)
def test_what_cannot_come_back_from_a_row_fails_the_step_in_words(value: Any) -> None:
    store = OneRun()
    live = worked(store, [{"a": value}])
    [row] = store.written
    result = result_of(row)
    assert result.outcome is Outcome.ERROR
    assert result.error is not None
    assert "cannot be stored" in result.error.message
    assert live.envelope.outputs == {}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinities_are_null_in_every_eye(value: float) -> None:
    store = OneRun()
    live = worked(store, [{"a": value}])
    assert live.envelope.outputs["a"] is None
    assert worked(OneRun(), [{"a": value}], rows=store.written).envelope.outputs["a"] is None


async def test_an_agent_in_a_run_sees_the_same_live_and_after_a_restart(tmp_path: Path) -> None:
    """What a stage put down live, and what hooks and services of later stages then find, is what
    the rows say."""
    seen: list[Any] = []

    async def one(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"tuple": (1, 2), "nan": math.nan, "keys": {1: "a"}, "big": 2**70, "tiny": 5e-324}

    async def two(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        seen.append(env.outputs["one"])
        return {}

    parts = Parts(services={"one": one, "two": two})
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(chain_of(["one", "two"]), parts)
    ) as desk:
        rows = await desk.store.rows(await desk.work(a_message()))
    assert seen == [
        {"tuple": [1, 2], "nan": None, "keys": {"1": "a"}, "big": 2**70, "tiny": 5e-324}
    ]
    assert fold(Envelope(), rows[:1]).outputs["one"] == seen[0]


async def test_a_question_that_is_not_json_reaches_the_reviewer_as_its_row_says(
    tmp_path: Path,
) -> None:
    async def ask(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        payload = {"reply": {"text": "Hi", "at": a_message().received_at, "to": ("a", "b")}}
        return ServiceResult(
            outcome=Outcome.CONFIRM, ask=Ask(kind="reply", reason="r", payload=payload)
        )

    parts = Parts(services={"ask": ask})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(chain_of(["ask"]), parts)) as desk:
        run_id = await desk.work(a_message())
        [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    assert review.payload == {
        "reply": {"text": "Hi", "at": "2026-11-15T09:00:00Z", "to": ["a", "b"]}
    }
    assert review.payload_hash == canonical_hash(review.payload)
    assert review.run_id == run_id


@pytest.mark.parametrize(
    "made",
    [
        ServiceResult(outcome=Outcome.CONFIRM, ask=Ask(kind="dance", reason="r")),
        ServiceResult(outcome=Outcome.CONFIRM, ask=Ask(kind="reply", reason="r", fallback="shrug")),
        ServiceResult(outcome=Outcome.TERMINATE, status="finished?"),
    ],
)
async def test_words_the_engine_does_not_know_end_in_needs_review(
    tmp_path: Path, made: ServiceResult
) -> None:
    """They must not be tried for ever, which is what becomes of a run that cannot be put down."""

    async def ask(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        return made

    parts = Parts(services={"ask": ask})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(chain_of(["ask"]), parts)) as desk:
        async with asyncio.timeout(PATIENCE):
            run = await desk.store.run(await desk.work(a_message()))
        [review] = await desk.store.find_reviews()
    assert run.status is RunStatus.NEEDS_REVIEW
    assert "is not a valid" in review.reason


async def test_an_error_with_half_a_character_is_kept_readable(tmp_path: Path) -> None:
    async def broken(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        raise ValueError("bad emoji \ud83d")

    parts = Parts(services={"broken": broken})
    stages = chain_of(["broken"], attempts=1)
    async with engine(tmp_path / "d.db", lambda gate: a_flow(stages, parts)) as desk:
        run = await desk.store.run(await desk.work(a_message()))
    assert (run.status, run.reason) == (RunStatus.NEEDS_REVIEW, "ValueError: bad emoji ?")


# --- the chain


Simple = st.builds(
    StageResult, delta=st.builds(Delta, outputs=Rooms), outcome=st.sampled_from(Outcome)
)
Journals = st.lists(Simple, min_size=1, max_size=4).map(chained)
HEADER = tuple(field for field in StepRow._fields if field not in ("run_id", "body", "salt"))


def flipped(data: bytes, position: int, bit: int) -> bytes:
    at = position % len(data)
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


@given(Journals, st.data())
def test_any_changed_byte_of_body_salt_digest_or_chain_is_found(
    rows: list[StepRow], data: st.DataObject
) -> None:
    assert verify("run_1", DIGEST, rows) == []
    index = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(["body", "salt", "body_digest", "chain"]))
    value = getattr(rows[index], name)
    change: dict[str, Any] = {
        name: flipped(value, data.draw(st.integers(0, 10_000)), data.draw(st.integers(0, 7)))
    }
    rows[index] = rows[index]._replace(**change)
    assert verify("run_1", DIGEST, rows)[0].seq in (index, index + 1)


@given(Journals, st.data())
def test_any_changed_header_field_is_found(rows: list[StepRow], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(HEADER))
    old = getattr(rows[index], name)
    others: dict[type, st.SearchStrategy[Any]] = {
        int: st.integers(0, 9),
        float: st.floats(allow_nan=False),
        str: st.text(max_size=4),
        bytes: st.binary(max_size=40),
    }
    new = data.draw(others[type(old)])
    assume(repr(new) != repr(old))
    change: dict[str, Any] = {name: new}
    rows[index] = rows[index]._replace(**change)
    assert verify("run_1", DIGEST, rows)


@given(st.lists(Simple, min_size=2, max_size=4).map(chained), st.data())
def test_rows_dropped_doubled_inserted_or_swapped_are_found(
    rows: list[StepRow], data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(rows) - 2))
    stranger = chained([result_of(row) for row in rows], run_id="run_2")[index]
    forgeries = {
        "dropped": rows[:index] + rows[index + 1 :],
        "doubled": [*rows[: index + 1], *rows[index:]],
        "inserted": [*rows[:index], stranger, *rows[index:]],
        "exchanged": [*rows[:index], stranger, *rows[index + 1 :]],
        "swapped": [*rows[:index], rows[index + 1], rows[index], *rows[index + 2 :]],
    }
    for what, forged in forgeries.items():
        assert verify("run_1", DIGEST, forged), what
    assert verify("run_1", DIGEST, forgeries["dropped"])[0].what == f"row {index} is missing"


@given(Journals)
def test_rows_belong_to_one_run_and_one_message(rows: list[StepRow]) -> None:
    assert verify("run_2", DIGEST, rows)
    assert verify("run_1", sha256(b"another message").digest(), rows)


@given(Journals, st.data())
def test_erasing_any_rows_keeps_the_chain_and_the_rest_readable(
    rows: list[StepRow], data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    left = list(rows)
    for seq in gone:
        left[seq] = left[seq]._replace(body=None, salt=None)
    assert verify("run_1", DIGEST, left) == []
    for before, row in zip(rows, left, strict=True):
        assert result_of(row).outcome == before.outcome
        assert row.seq in gone or result_of(row) == result_of(before)
    if gone:
        forged = list(left)
        for seq in gone:
            forged[seq] = forged[seq]._replace(body_digest=sha256(b"x").digest())
        assert verify("run_1", DIGEST, forged), "an erased row still cannot be exchanged"


# --- seals


class Shelf:
    """An archive in memory, for forgers to reach into."""

    desk = "desk"

    def __init__(self, runs: list[list[StageResult]]) -> None:
        self.runs: list[Journaled] = []
        self.kept: list[Seal] = []
        for position, results in enumerate(runs, 1):
            self.add(position, results)

    def add(self, position: int, results: list[StageResult]) -> None:
        body, salt = b"message %d" % position, b"s" * 16
        digest = sha256(salt + body).digest()
        rows = chained(results, f"run_{position}", digest)
        self.runs.append(
            Journaled(
                f"run_{position}", position, body, salt, digest, rows, records={"status": "running"}
            )
        )

    async def journals(self, *, after: int = 0, limit: int = 200) -> list[Journaled]:
        return [run for run in self.runs if run.position > after][:limit]

    async def desk_records(self) -> DeskRecords:
        return DeskRecords([], {})

    async def account_records(self) -> DeskRecords:
        return DeskRecords([], {})

    async def changed_files(self) -> list[tuple[str, str]]:
        return []

    async def changed_projections(self) -> list[tuple[str, str]]:
        return []

    async def console_log(self, numbers: Collection[int] = ()) -> ConsoleLog:
        return ConsoleLog(0, None, {0: b""})

    async def lowered_totals(self, since: float) -> list[LoweredTotal]:
        return []

    async def save_seal(self, at: float, heads: bytes, mac: str) -> Seal:
        self.kept.append(Seal(len(self.kept) + 1, at, heads, mac))
        return self.kept[-1]

    async def seals(self) -> list[Seal]:
        return self.kept


def report(shelf: Shelf, key: bytes | None = b"key") -> AuditReport:
    return asyncio.run(verify_desk(shelf, key=key))


def sealed(runs: list[list[StageResult]]) -> Shelf:
    shelf = Shelf(runs)
    asyncio.run(seal_desk(shelf, b"key"))
    return shelf


Runs = st.lists(st.lists(Simple, max_size=3), min_size=1, max_size=3)


@settings(max_examples=50)
@given(Runs, Runs, st.data())
def test_a_seal_sees_removed_runs_and_tails_and_rows_chained_anew(
    runs: list[list[StageResult]], later: list[list[StageResult]], data: st.DataObject
) -> None:
    shelf = sealed(runs)
    for position, results in enumerate(later, len(runs) + 1):
        shelf.add(position, results)
    assert report(shelf).ok, "work that goes on after a seal is no forgery"
    honest = list(shelf.runs)
    index = data.draw(st.integers(0, len(runs) - 1))
    run = honest[index]

    shelf.runs = honest[:index] + honest[index + 1 :]
    assert any("the run is gone" in problem.what for problem in report(shelf).problems)
    if not run.rows:
        return
    kept = data.draw(st.integers(0, len(run.rows) - 1))
    shelf.runs = [*honest[:index], replace(run, rows=run.rows[:kept]), *honest[index + 1 :]]
    assert verify(run.run_id, run.message_digest, run.rows[:kept]) == [], (
        "the chain alone does not see a missing tail"
    )
    assert any("are gone that seal" in problem.what for problem in report(shelf).problems)

    changed = [result_of(row) for row in run.rows]
    changed[kept] = changed[kept].changed(reason="forged")
    anew = chained(changed, run.run_id, run.message_digest)
    shelf.runs = [*honest[:index], replace(run, rows=anew), *honest[index + 1 :]]
    assert verify(run.run_id, run.message_digest, anew) == [], (
        "the chain alone does not see rows chained anew"
    )
    assert any("are not those that seal" in problem.what for problem in report(shelf).problems)


@given(Runs)
def test_a_message_cannot_be_exchanged_under_its_run(runs: list[list[StageResult]]) -> None:
    shelf = sealed(runs)
    first = shelf.runs[0]
    shelf.runs[0] = replace(first, message_body=b"another")
    assert any("the message was changed" in problem.what for problem in report(shelf).problems)
    digest = sha256((first.message_salt or b"") + b"another").digest()
    rows = chained([result_of(row) for row in first.rows], first.run_id, digest)
    shelf.runs[0] = replace(first, message_body=b"another", message_digest=digest, rows=rows)
    assert not report(shelf).ok, "not even with everything chained anew"


def test_a_seal_made_with_another_key_or_changed_is_seen() -> None:
    shelf = sealed([[StageResult()]])
    [seal] = shelf.kept
    assert (
        report(shelf, b"another key").problems[0].what
        == "seal 1 was changed, or made with another key"
    )
    shelf.kept = [replace(seal, at=seal.at + 1)]
    assert not report(shelf).ok
    shelf.kept = [seal]
    shelf.desk = "other"
    assert not report(shelf).ok


@pytest.mark.parametrize(
    "text", ["nonsense", "run_1 x y", "run_1 1", "run_1 -1 00", "run_1 1 00 11"]
)
def test_a_seal_nobody_can_read_is_a_problem_and_not_the_end_of_the_audit(text: str) -> None:
    shelf = sealed([[StageResult()]])
    for heads in (zlib.compress(text.encode()), b"no zlib", zlib.compress(b"\xff")):
        shelf.kept = [replace(shelf.kept[0], heads=heads, mac="ž")]
        for key in (b"key", None):
            found = report(shelf, key)
            assert found.problems[0].what == "seal 1 cannot be read"
            assert found.runs == 1


def test_without_the_key_a_forged_seal_is_not_seen_and_the_report_says_so() -> None:
    shelf = sealed([[StageResult()]])
    assert not report(shelf, None).seals_checked
    assert report(shelf).seals_checked


@given(Runs, st.data())
def test_erasing_any_runs_keeps_every_seal(
    runs: list[list[StageResult]], data: st.DataObject
) -> None:
    shelf = sealed(runs)
    for index in data.draw(st.sets(st.integers(0, len(runs) - 1))):
        run = shelf.runs[index]
        rows = [row._replace(body=None, salt=None) for row in run.rows]
        count = len(rows)
        records = {"status": "done", "steps": steps_record(count, rows[-1].chain if rows else None)}
        erasure = make_statement(None, run.run_id, StatementKind.ERASED, 1.0, records)
        shelf.runs[index] = replace(
            run,
            message_body=None,
            message_salt=None,
            rows=rows,
            statements=[erasure],
            records=records,
        )
    assert report(shelf).ok


def test_rows_are_the_json_people_would_write() -> None:
    [row] = chained([StageResult(delta=Delta(outputs={"a": {"ž": 1.5}}), next="b")])
    assert json.loads(row.body or b"") == {"delta": {"outputs": {"a": {"ž": 1.5}}}, "next": "b"}
