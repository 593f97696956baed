"""Answered messages are learned from: once, however they were let go, and after a crash as well."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through, review
from deskhand.engine.learner import Learner
from deskhand.engine.loop import Flow
from deskhand.model.envelope import Envelope
from deskhand.model.message import Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, RunStatus, Verdict
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.ports import StageContext
from deskhand.tools.gate import Gate
from deskhand.tools.services import ServiceFunction
from tests.kit import Engine, a_message, engine
from tests.knowledge_kit import HashingEmbedder


async def write(envelope: Envelope, ctx: StageContext, settings: object) -> dict[str, object]:
    assert envelope.message is not None
    return Reply.to_message(
        envelope.message, "Returns are free within thirty days.", language="en"
    ).model_dump()


def flow(gate: Gate) -> Flow:
    sure = {"auto_send_at": 0.5}
    stages = {
        "classify": AgentSpec(
            name="classify", service="classify", output_key="c", default_next="write"
        ),
        "write": AgentSpec(
            name="write", service="write", output_key="reply", default_next="review"
        ),
        "review": AgentSpec(
            name="review",
            service="review",
            output_key="review",
            settings=sure,
            default_next="dispatch",
        ),
        "dispatch": AgentSpec(name="dispatch", service="dispatch", output_key="dispatch"),
    }

    async def classify(
        envelope: Envelope, ctx: StageContext, settings: object
    ) -> dict[str, object]:
        return {"category": "inquiry", "confidence": 0.9 if "sure" in envelope.raw_input else 0.1}

    services: dict[str, ServiceFunction] = {
        "classify": classify,
        "write": write,
        "review": review,
        "dispatch": dispatch_through(gate),
    }
    parts = Parts(tools=gate, services=services)
    spec = FlowSpec(name="main", start="classify", stages=stages, version="v1")
    return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})


@asynccontextmanager
async def at_work(path: Path) -> AsyncIterator[tuple[Engine, SqlExchanges, Learner]]:
    async with engine(path / "learning.db", flow) as running:
        memory = SqlExchanges(running.database, "test")
        yield running, memory, Learner(running.store, memory, HashingEmbedder)


async def decide(running: Engine, run_id: str, decision: Decision, text: str | None = None) -> None:
    [waiting] = await running.store.find_reviews(ReviewFilter(run_id=run_id))
    edit = None if text is None else {"text": text}
    await running.store.decide(
        waiting.id, Verdict(decision, "eve", waiting.version, waiting.payload_hash, None, edit)
    )
    await running.dispatcher.wait(run_id)


async def test_how_a_reply_was_let_go_is_remembered_with_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (running, memory, learner):
        sent = await running.work(a_message(1, body="quite sure"))
        approved = await running.work(a_message(2))
        await decide(running, approved, Decision.APPROVE)
        edited = await running.work(a_message(3))
        await decide(running, edited, Decision.EDIT, "They are, and we collect them.")
        rejected = await running.work(a_message(4))
        await decide(running, rejected, Decision.REJECT)
        assert await learner.catch_up() == 3
        assert await learner.catch_up() == 0
        known = await memory.of_runs([sent, approved, edited, rejected])
        assert {run: one.how for run, one in known.items()} == {
            sent: "sent",
            approved: "approved",
            edited: "edited",
        }
        one = known[edited]
        assert (one.question, one.answer) == (
            "Where is my parcel?",
            "They are, and we collect them.",
        )
        assert (one.category, one.language) == ("inquiry", "en")
        assert one.owner is not None


async def test_what_comes_to_rest_here_is_learned_aside(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (running, memory, learner):
        early = await running.work(a_message(1, body="quite sure"))
        learner.start()
        late = await running.work(a_message(2, body="quite sure"))
        learner.at_rest("run_unknown", RunStatus.SENT)
        learner.at_rest(late, RunStatus.WAITING_REVIEW)
        learner.at_rest(late, RunStatus.SENT)
        await learner.settled()
        await learner.stop()
        assert set(await memory.of_runs([early, late])) == {early, late}


async def test_an_erased_message_teaches_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (running, memory, learner):
        run_id = await running.work(a_message(1, body="quite sure"))
        await running.store.erase("ann@example.com", "operator")
        assert await learner.learn(run_id) is False
        assert await memory.of_runs([run_id]) == {}
