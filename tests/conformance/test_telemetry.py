"""What every database's feed of telemetry must do: tell each sink everything, in order, once."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from deskhand.adapters.opentelemetry import OpenTelemetrySink
from deskhand.adapters.stores.telemetry_feed import SqlTelemetryFeed
from deskhand.adapters.stores.telemetry_sink import SqlSink
from deskhand.engine.journal import make_row, seed
from deskhand.errors import DeskhandError, RetryableError
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.message import DELIVER
from deskhand.model.run import LlmCall, NewReview, ReviewKind, RunStatus
from deskhand.model.telemetry import TelemetryEvent
from deskhand.telemetry.redaction import Redaction
from deskhand.telemetry.sinks import JsonLinesSink, ListSink
from deskhand.telemetry.teller import PATIENCE, Teller, ToldSink
from deskhand.telemetry.telling import RunTeller
from tests.conformance.adapters import Stores
from tests.kit import a_message
from tests.waiting import until

TELLS = RunTeller(Redaction())
MESSAGES = 250
"""Two batches and a half."""


async def a_run(store: Any, number: int, *, text: str = "Yes.") -> str:
    """A message that was classified and answered: received, intent_classified, respond."""
    classified = StageResult(delta=Delta(outputs={"classify": {"category": "hours"}}), next="reply")
    call = {"tool": DELIVER, "verdict": "allow", "ok": True, "arguments": {"text": text}}
    results = [("classify", classified), ("reply/deliver", StageResult(call=call))]
    return await finished_run(store, number, results)


async def finished_run(store: Any, number: int, results: Sequence[tuple[str, StageResult]]) -> str:
    """A message whose run has these rows."""
    accepted = await store.accept(a_message(number, conversation="c"), flow="main")
    await store.claim(accepted.run_id, {"main": "v1"})
    rows = []
    chain = seed(accepted.run_id, b"")
    for seq, (name, result) in enumerate(results):
        row = make_row(
            accepted.run_id,
            seq,
            name,
            result,
            attempt=1,
            flow_version="v1",
            started_at=1_800_000_000.0 + number,
            latency_ms=2.0,
            previous=chain,
        )
        chain = row.chain
        rows.append(row)
    await store.finish(accepted.run_id, RunStatus.SENT, rows=rows)
    run_id: str = accepted.run_id
    return run_id


def a_teller(store: Any, *, patience: float = PATIENCE, **sinks: Any) -> Teller:
    told = {name: ToldSink(sink) for name, sink in sinks.items()}
    feed = SqlTelemetryFeed(store._database, store.desk)
    return Teller(store.desk, feed, TELLS, told, patience=patience, every=0.01, pause=0.0)


class Unreliable(ListSink):
    """Away, or taking the events and failing afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = True
        self.fails_after = False

    async def record(self, *events: TelemetryEvent) -> None:
        if self.is_away:
            raise RetryableError("nobody is there")
        await super().record(*events)
        if self.fails_after:
            self.fails_after = False
            raise RetryableError("the line broke")


class Hanging(ListSink):
    async def record(self, *events: TelemetryEvent) -> None:
        await asyncio.Event().wait()


async def test_each_event_is_told_once_and_in_order(stores: Stores) -> None:
    store = await stores()
    sink = ListSink()
    teller = a_teller(store, list=sink)
    runs = [await a_run(store, number) for number in (1, 2)]
    assert await teller.catch_up("list") == 6
    runs.append(await a_run(store, 3))
    assert await teller.catch_up("list") == 3
    assert await teller.catch_up("list") == 0
    stages = ["received", "intent_classified", "respond"]
    told = [(event.run_id, event.stage) for event in sink.events]
    assert told == [(run, stage) for run in runs for stage in stages]
    counts = [event.payload["memory"]["history_count"] for event in sink.events[::3]]
    assert counts == [1, 2, 3]


async def test_a_clock_that_jumps_changes_neither_order_nor_count(stores: Stores) -> None:
    store = await stores()
    sink = ListSink()
    teller = a_teller(store, list=sink)
    runs = [await a_run(store, second) for second in (3_600, 1, 7_200, 2)]
    await teller.catch_up("list")
    runs.append(await a_run(store, 0))
    await teller.catch_up("list")
    told = [(event.run_id, event.stage) for event in sink.events]
    assert list(dict.fromkeys(run for run, _ in told)) == runs
    assert len(set(told)) == len(told) == 3 * len(runs)


async def test_a_sink_that_was_away_catches_up_and_sql_holds_each_event_once(
    stores: Stores,
) -> None:
    store = await stores()
    away = Unreliable()
    rows = SqlSink(store._database, store.desk)
    teller = a_teller(store, away=away, sql=rows)
    for number in range(1, MESSAGES + 1):
        await a_run(store, number)
    with pytest.raises(RetryableError):
        await teller.catch_up("away")
    [mark] = await SqlTelemetryFeed(store._database, store.desk).marks()
    assert mark.failure == "nobody is there"
    assert await teller.catch_up("sql") == 3 * MESSAGES
    away.is_away = False
    away.fails_after = True
    with pytest.raises(RetryableError):
        await teller.catch_up("away")
    await teller.catch_up("away")
    kept = await rows.events(limit=10_000)
    told = list(dict.fromkeys(event.id for event in away.events))
    assert [event.id for event in kept] == told
    await rows.record(*away.events)
    assert len(await rows.events(limit=10_000)) == 3 * MESSAGES


async def test_one_that_hangs_delays_nobody(stores: Stores) -> None:
    store = await stores()
    sink = ListSink()
    teller = a_teller(store, patience=0.2, hanging=Hanging(), list=sink)
    teller.start()
    try:
        await a_run(store, 1)
        teller.at_rest("", RunStatus.SENT)
        await until(lambda: len(sink.events) == 3)
    finally:
        await teller.stop()


async def test_a_run_that_goes_on_tells_only_what_is_new(stores: Stores) -> None:
    store = await stores()
    sink = ListSink()
    teller = a_teller(store, list=sink)
    accepted = await store.accept(a_message(1, conversation="c"), flow="main")
    await store.claim(accepted.run_id, {"main": "v1"})
    review = NewReview(ReviewKind.HAND_OVER, "a person", {})
    await store.finish(accepted.run_id, RunStatus.NEEDS_REVIEW, review=review)
    await teller.catch_up("list")
    assert [event.stage for event in sink.events] == ["received"]
    await store.requeue(accepted.run_id, "ann")
    await store.claim(accepted.run_id, {"main": "v1"})
    call = {"tool": DELIVER, "verdict": "allow", "ok": True, "arguments": {"text": "Yes."}}
    row = make_row(
        accepted.run_id,
        0,
        "reply/deliver",
        StageResult(call=call),
        attempt=1,
        flow_version="v1",
        started_at=1_800_000_000.0,
        latency_ms=2.0,
        previous=seed(accepted.run_id, b""),
    )
    await store.finish(accepted.run_id, RunStatus.SENT, rows=[row])
    await teller.catch_up("list")
    assert [event.stage for event in sink.events] == ["received", "respond"]


async def test_erasing_a_person_takes_what_was_told_of_him(stores: Stores) -> None:
    store = await stores()
    rows = SqlSink(store._database, store.desk)
    teller = a_teller(store, sql=rows)
    await a_run(store, 1, text="Ann, it is on its way.")
    await teller.catch_up("sql")
    assert len(await rows.events(limit=10_000)) == 3
    await store.erase("ann@example.com", "admin")
    await teller.catch_up("sql")
    assert await rows.events() == []


async def test_a_file_has_each_event_once_also_after_a_crash(
    stores: Stores, tmp_path: Path
) -> None:
    store = await stores()
    path = tmp_path / "telemetry.jsonl"
    teller = a_teller(store, lines=JsonLinesSink(path))
    await a_run(store, 1)
    await teller.catch_up("lines")
    whole = path.read_text()
    feed = SqlTelemetryFeed(store._database, store.desk)
    [mark] = await feed.marks()
    path.write_text(whole[:-20])  # the process died while it wrote the last line
    await feed.set_mark("lines", mark.number, 0)  # and before it noted what it wrote
    again = a_teller(store, lines=JsonLinesSink(path))
    await again.catch_up("lines")
    assert path.read_text() == whole
    first = json.loads(whole.splitlines()[0])
    assert set(first) == {
        "timestamp",
        "interaction_id",
        "session_id",
        "stage",
        "level",
        "payload",
        "id",
    }


async def test_a_pipe_is_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((DeskhandError, OSError)):
        await JsonLinesSink(tmp_path / "pipe").record()


async def test_a_collector_gets_traces_and_metrics(stores: Stores) -> None:
    store = await stores()
    got: dict[str, Any] = {}

    async def take(request: web.Request) -> web.Response:
        got[request.path] = await request.json()
        return web.json_response({})

    app = web.Application()
    app.router.add_post("/v1/{signal}", take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        run_id = await a_run(store, 1)
        sink = OpenTelemetrySink(f"http://127.0.0.1:{port}", "shop")
        feed = SqlTelemetryFeed(store._database, store.desk)
        await feed.put_in_order()
        [run] = await feed.after(0, 10)
        events = TELLS.told_in(run)
        call = LlmCall(run_id, "draft", "draft", "openai/gpt-5", "d", 10, 5, 0.1, 250.0, at=2.0)
        events[-1] = events[-1].changed(calls=(call,))
        await sink.record(*events)
    finally:
        await runner.cleanup()
    [traces] = got["/v1/traces"]["resourceSpans"]
    spans = traces["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == [
        "invoke_agent shop",
        "received",
        "intent_classified",
        "respond",
        "chat gpt-5",
    ]
    assert len({span["traceId"] for span in spans}) == 1
    assert {span["parentSpanId"] for span in spans[1:]} == {spans[0]["spanId"]}
    [metrics] = got["/v1/metrics"]["resourceMetrics"]
    names = [metric["name"] for metric in metrics["scopeMetrics"][0]["metrics"]]
    assert names == [
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "deskhand.client.token.details",
    ]
    assert "Yes." not in json.dumps(got)
    assert run_id in json.dumps(got)
