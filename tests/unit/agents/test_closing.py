"""The end of an agent's work: replies handed in, drafts, a person asked for; from a plan through
gate and ledger."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand import crashpoints
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.closing import Closing
from deskhand.agents.replying.sending import Sending
from deskhand.engine.journal import result_of
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Effect, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.tools import Gate, ToolRegistry, tool
from deskhand.tools.closing import closing_tools
from deskhand.tools.delivery import delivery_tool, draft_tool
from tests.kit import Engine, MemoryOutbox, TestClock, a_message, engine

NAMES = ("send_reply", "create_draft", "escalate", "find_order", "refund")
done: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


@tool(effect="read")
async def find_order(order: str) -> dict[str, Any]:
    """Find an order."""
    done.append(order)
    return {"order": order}


@tool(effect="reversible")
async def refund(order: str) -> dict[str, Any]:
    """Refund an order."""
    done.append(f"refund {order}")
    return {"refunded": order}


class MemoryDrafts:
    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def keep_draft(self, reply: Any, key: str) -> str:
        self.kept[key] = reply
        return f"draft:{key}"

    async def find_draft(self, key: str) -> str | None:
        return f"draft:{key}" if key in self.kept else None


def step(name: str, **parameters: Any) -> dict[str, Any]:
    return {"tool": name, "parameters": parameters}


def a_reply(body: str = "Your parcel is on its way.", **more: Any) -> dict[str, Any]:
    return {"subject": "Your parcel", "body": body, **more}


class Desk:
    """An engine whose one flow plans what it is told to and acts."""

    def __init__(self, running: Engine, drafts: MemoryDrafts) -> None:
        self.engine, self.drafts = running, drafts

    @property
    def sent(self) -> list[Any]:
        return [reply for _, reply in self.engine.outbox.sent]

    async def review(self) -> Review:
        [review] = await self.engine.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        return review

    async def decide(self, run_id: str, decision: Decision, **more: Any) -> RunStatus:
        review = await self.review()
        verdict = Verdict(decision, "eve", review.version, review.payload_hash, **more)
        await self.engine.store.decide(review.id, verdict)
        self.engine.dispatcher.wake()
        return await self.engine.dispatcher.wait(run_id)

    async def work(self, **message: Any) -> tuple[str, RunStatus]:
        run_id = await self.engine.work(a_message().model_copy(update=message))
        return run_id, (await self.engine.store.run(run_id)).status

    async def calls(self, run_id: str) -> list[tuple[str, str, str]]:
        rows = await self.engine.store.rows(run_id)
        records = [call for row in rows if (call := result_of(row).call) is not None]
        return [(one["tool"], one["verdict"], one["rule"]) for one in records]


@asynccontextmanager
async def acting(
    path: Path,
    *plan: Any,
    mode: str = "auto",
    undo: float = 0.0,
    by_mail: bool = False,
    most: int = 1,
) -> AsyncIterator[Desk]:
    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        return {"steps": list(plan)}

    async def later(env: Envelope, ctx: Any, settings: Any) -> Any:
        done.append("later")
        return {}

    async def mode_for(category: str | None) -> str:
        return mode

    sending = Sending(mode_for, lambda message: undo, lambda message: by_mail, replies_per_run=most)

    def build(gate: Gate) -> Flow:
        parts = Parts(tools=gate, services={"think": think, "later": later}, sending=sending)
        stages = {
            "plan": AgentSpec(name="plan", service="think", output_key="plan", default_next="act"),
            "act": AgentSpec(
                name="act", output_key="acted", has_tools=True, tools=NAMES, default_next="later"
            ),
            "later": AgentSpec(name="later", service="later", output_key="later"),
        }
        spec = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})

    running: list[Engine] = []
    drafts = MemoryDrafts()

    async def effects_of(run_id: str) -> list[Effect]:
        return await running[0].store.effects(run_id)

    tools = (*closing_tools(effects_of, most), find_order, refund, draft_tool(drafts))
    async with engine(path / "d.db", build, tools=tools, outbox=MemoryOutbox()) as one:
        running.append(one)
        yield Desk(one, drafts)


async def test_a_reply_that_is_handed_in_leaves_once_and_ends_the_run(tmp_path: Path) -> None:
    plan = [step("find_order", order="O-1"), step("send_reply", to="ann@example.com", **a_reply())]
    async with acting(tmp_path, *plan) as desk:
        run_id, status = await desk.work()
        calls = await desk.calls(run_id)
    assert status is RunStatus.SENT
    [reply] = desk.sent
    assert (reply.to, reply.subject, reply.text) == (
        "ann@example.com",
        "Your parcel",
        "Your parcel is on its way.",
    )
    assert reply.in_reply_to == "m1"
    assert calls == [
        ("find_order", "allow", "allowed"),
        ("send_reply", "allow", "allowed"),
        ("deliver_reply", "allow", "allowed"),
    ]
    assert done == ["O-1"], "the stages after it are not for a message that has its answer"


async def test_whom_to_write_to_is_known_without_being_told(tmp_path: Path) -> None:
    behind = Principal(
        kind=PrincipalKind.FORWARDED, address="jana@example.cz", how="named by a trusted forwarder"
    )
    async with acting(tmp_path, step("send_reply", **a_reply())) as desk:
        assert (await desk.work(principal=behind))[1] is RunStatus.SENT
    assert [reply.to for reply in desk.sent] == ["jana@example.cz"]


async def test_a_foreign_address_waits_for_a_person(tmp_path: Path) -> None:
    async with acting(tmp_path, step("send_reply", to="mallory@example.org", **a_reply())) as desk:
        run_id, status = await desk.work()
        review = await desk.review()
        assert (status, desk.sent) == (RunStatus.WAITING_REVIEW, [])
        assert (review.kind, review.payload["reply"]["to"]) == (
            ReviewKind.REPLY,
            "mallory@example.org",
        )
        assert "mallory@example.org is neither the principal's address" in review.reason
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.SENT
    assert [reply.to for reply in desk.sent] == ["mallory@example.org"]


async def test_what_a_reply_promises_is_not_backed_by_the_reply_itself(tmp_path: Path) -> None:
    promise = "We will refund you 500 EUR within three days."
    async with acting(tmp_path, step("send_reply", **a_reply(promise))) as desk:
        run_id, status = await desk.work()
        review = await desk.review()
        assert (status, desk.sent, review.kind) == (RunStatus.WAITING_REVIEW, [], ReviewKind.REPLY)
        assert "nothing stands behind" in review.reason
        edit = {"text": "A colleague looks at your refund."}
        assert await desk.decide(run_id, Decision.EDIT, edit=edit) is RunStatus.SENT
    assert [reply.text for reply in desk.sent] == ["A colleague looks at your refund."]


@pytest.mark.parametrize("by_mail", [True, False])
async def test_a_draft_waits_for_a_person_in_drafts_and_in_the_queue(
    tmp_path: Path, by_mail: bool
) -> None:
    async with acting(tmp_path, step("create_draft", **a_reply()), by_mail=by_mail) as desk:
        run_id, status = await desk.work()
        review = await desk.review()
        assert (status, desk.sent) == (RunStatus.WAITING_REVIEW, [])
        assert (review.kind, review.payload["waits"]) == (ReviewKind.REPLY, "draft")
        assert [reply.text for reply in desk.drafts.kept.values()] == [
            "Your parcel is on its way."
        ] * by_mail
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.SENT
    assert [reply.text for reply in desk.sent] == ["Your parcel is on its way."]
    assert len(desk.drafts.kept) == by_mail


async def test_a_rejected_draft_never_leaves(tmp_path: Path) -> None:
    async with acting(tmp_path, step("create_draft", **a_reply())) as desk:
        run_id, _ = await desk.work()
        assert await desk.decide(run_id, Decision.REJECT, note="no") is RunStatus.REJECTED
    assert desk.sent == []


async def test_a_person_who_is_asked_for_ends_all_automatic_work(tmp_path: Path) -> None:
    plan = [
        step("send_reply", **a_reply()),
        step("escalate", reason="a medical question"),
        step("refund", order="O-1"),
    ]
    async with acting(tmp_path, *plan) as desk:
        run_id, status = await desk.work()
        review = await desk.review()
        told = await desk.engine.store.run(run_id)
    assert (status, told.reason) == (RunStatus.NEEDS_REVIEW, "a medical question")
    assert (review.kind, review.reason) == (ReviewKind.HAND_OVER, "a medical question")
    assert (desk.sent, done) == ([], [])


async def test_in_shadow_mode_nothing_leaves_and_nothing_waits(tmp_path: Path) -> None:
    async with acting(tmp_path, step("send_reply", **a_reply()), mode="shadow") as desk:
        assert (await desk.work())[1] is RunStatus.DONE
        assert await desk.engine.store.find_reviews(ReviewFilter(state=ReviewState.OPEN)) == []
    assert (desk.sent, done) == ([], [])


async def test_in_draft_mode_a_person_sends_it(tmp_path: Path) -> None:
    async with acting(
        tmp_path, step("send_reply", **a_reply()), mode="draft", by_mail=True
    ) as desk:
        run_id, status = await desk.work()
        assert (status, len(desk.drafts.kept), desk.sent) == (RunStatus.WAITING_REVIEW, 1, [])
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.SENT
    assert len(desk.sent) == 1


async def test_the_time_to_change_ones_mind_is_kept(tmp_path: Path) -> None:
    async with acting(tmp_path, step("send_reply", **a_reply()), undo=30) as desk:
        run_id, status = await desk.work()
        review = await desk.review()
        assert (status, review.payload["waits"], review.fallback) == (
            RunStatus.WAITING_REVIEW,
            "undo",
            "approve",
        )
        assert desk.sent == []
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.SENT
    assert len(desk.sent) == 1


async def test_a_second_reply_is_refused_unless_the_desk_allows_more(tmp_path: Path) -> None:
    plan = [step("send_reply", **a_reply("One.")), step("send_reply", **a_reply("Two."))]
    async with acting(tmp_path, *plan) as desk:
        run_id, status = await desk.work()
        rows = await desk.engine.store.rows(run_id)
    assert (status, [reply.text for reply in desk.sent]) == (RunStatus.SENT, ["One."])
    second = next(result_of(row) for row in rows if row.name == "act/2 send_reply")
    assert second.delta.append["acted.results"][0]["error"]["error_type"] == "already_replied"


async def test_several_replies_leave_one_after_the_other_and_each_once(tmp_path: Path) -> None:
    plan = [step("send_reply", **a_reply("One.")), step("create_draft", **a_reply("Two."))]
    async with acting(tmp_path, *plan, most=2, undo=30) as desk:
        run_id, status = await desk.work()
        assert status is RunStatus.WAITING_REVIEW
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        assert [reply.text for reply in desk.sent] == ["One."]
        edit = {"text": "Two, looked at."}
        assert await desk.decide(run_id, Decision.EDIT, edit=edit) is RunStatus.WAITING_REVIEW
        assert await desk.decide(run_id, Decision.APPROVE) is RunStatus.SENT
    assert [reply.text for reply in desk.sent] == ["One.", "Two, looked at."]


@pytest.mark.parametrize(
    "wrong",
    [
        {"subject": "a\r\nBcc: mallory@example.org"},
        {"body": "  \n "},
        {"body": "x" * 50_001},
        {"to": ""},
        {"cc": "mallory@example.org"},
    ],
)
async def test_a_call_that_cannot_be_meant_is_told_so_and_nothing_leaves(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    async with acting(tmp_path, step("send_reply", **a_reply() | wrong)) as desk:
        run_id, status = await desk.work()
        assert status is RunStatus.DONE
        assert await desk.calls(run_id) == [("send_reply", "deny", "invalid_arguments")]
    assert (desk.sent, done) == ([], ["later"])


async def test_a_stopped_desk_sends_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    async with acting(tmp_path, step("send_reply", **a_reply())) as desk:
        await desk.engine.store.stop("eve", "wrong prices")
        run_id, status = await desk.work()
        assert (status, desk.sent) == (RunStatus.WAITING_REVIEW, [])
        await desk.engine.store.resume("eve")
        desk.engine.dispatcher.wake()
        assert await desk.engine.dispatcher.wait(run_id) is RunStatus.SENT
    assert len(desk.sent) == 1


def test_an_answer_without_a_call_is_a_reply_as_well() -> None:
    closing = Closing.answering(Envelope.of(a_message()), "It is on its way.")
    assert closing.replies[0].reply["to"] == "ann@example.com"
    assert closing.replies[0].reply["subject"] == "Re: My parcel"
    assert not Closing.of([("find_order", {"order": "O-1"})], Envelope.of(a_message()))


# --- crashes

POINTS = [
    *("loop.before_work", "loop.after_work", "loop.after_row"),
    *("effect.before_intend", "effect.after_intend", "effect.after_perform", "effect.after_settle"),
]


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("empty") / "d.db"

    async def make() -> None:
        await (await SqliteDatabase.open(file)).close()

    asyncio.run(make())
    return file


@pytest.mark.parametrize("passage", [1, 2, 3])
@pytest.mark.parametrize("point", POINTS)
async def test_whatever_dies_in_between_each_reply_leaves_once(
    tmp_path: Path, empty_database: Path, point: str, passage: int
) -> None:
    plan = [step("send_reply", **a_reply("One.")), step("send_reply", **a_reply("Two."))]
    outbox, world = MemoryOutbox(), tmp_path / "d.db"
    shutil.copy(empty_database, world)

    def die() -> None:
        raise crashpoints.Crash(point)

    async def live() -> RunStatus | None:
        async with life(world, outbox, plan) as (store, worker):
            await store.recover()
            [run] = await store.queued() or await store.runs()
            return await worker.work(run.id)

    async with life(world, outbox, plan) as (store, _):
        await store.accept(a_message(), flow="flow")
    crashpoints.arm(point, die, passage)
    try:
        first = await live()
    except crashpoints.Crash:
        first = None
    finally:
        crashpoints.disarm()
    assert first is RunStatus.SENT or await live() is RunStatus.SENT
    assert [reply.text for _, reply in outbox.sent] == ["One.", "Two."]
    assert len({key for key, _ in outbox.sent}) == 2


@asynccontextmanager
async def life(
    file: Path, outbox: MemoryOutbox, plan: list[Any]
) -> AsyncIterator[tuple[SqliteStore, Worker]]:
    """A process that works the flow, without a dispatcher: it can be left at any moment."""

    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        return {"steps": plan}

    database = await SqliteDatabase.open(file)
    store = SqliteStore(database, "test")
    tools = (*closing_tools(store.effects, 2), delivery_tool(outbox))
    parts = Parts(
        tools=Gate(ToolRegistry(tools), store, desk="test"),
        services={"think": think},
        sending=Sending(replies_per_run=2),
    )
    stages = {
        "plan": AgentSpec(name="plan", service="think", output_key="plan", default_next="act"),
        "act": AgentSpec(name="act", output_key="acted", has_tools=True, tools=NAMES),
    }
    spec = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
    flow = Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})
    try:
        yield store, Worker(store, {"flow": flow}, TestClock())
    finally:
        await database.close()
