"""Stop switch, caps and approvals as a whole run meets them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through, review
from deskhand.engine.loop import Flow
from deskhand.engine.story import read_records, story_of
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import Reply
from deskhand.model.money import Money
from deskhand.model.outcome import Outcome
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.model.spec import AgentSpec
from deskhand.model.totals import Limit
from deskhand.policy.call_facts import CallFacts
from deskhand.policy.rule_policy import RuleDecision
from deskhand.tools.gate import VIOLATION, Gate
from deskhand.tools.gate_call import Terms
from deskhand.tools.registry import tool
from deskhand.tools.services import ServiceFunction, ServiceResult
from tests.kit import Engine, a_flow, a_message, engine
from tests.waiting import PATIENCE

ALLOWED = RuleDecision("allow", "fine")
done: list[str] = []


@tool(effect="keyed")
async def credit(amount: Money) -> dict[str, Any]:
    """Credit an amount."""
    done.append(str(amount))
    return {"credited": str(amount)}


@tool(effect="irreversible")
async def wire(amount: Money) -> dict[str, Any]:
    """Send money that nobody gets back."""
    done.append(f"wire {amount}")
    return {"sent": str(amount)}


def flow_of(gate: Gate) -> Flow:
    """Calls what the message says, one call a line, then answers."""

    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        lines = [line.split(" ", 1) for line in env.raw_input.splitlines() if line]
        return {"steps": [{"tool": name, "parameters": {"amount": rest}} for name, rest in lines]}

    async def write(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        assert env.message is not None
        reply = Reply.to_message(env.message, "It is done.").model_dump(mode="json")
        return reply | (
            {"to": "warehouse@acme.example"} if "elsewhere" in env.message.subject else {}
        )

    stages = {
        "plan": AgentSpec(name="plan", service="plan", output_key="plan", default_next="act"),
        "act": AgentSpec(
            name="act",
            has_tools=True,
            tools=("credit", "wire"),
            output_key="act",
            default_next="write",
        ),
        "write": AgentSpec(name="write", service="write", output_key="reply", default_next="send"),
        "send": AgentSpec(name="send", service="dispatch", output_key="send"),
    }
    services = {"plan": plan, "write": write, "dispatch": dispatch_through(gate)}
    return a_flow(stages, Parts(tools=gate, services=services))


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Engine]:
    async with engine(tmp_path / "desk.db", flow_of, tools=(credit, wire), terms=TERMS) as opened:
        yield opened


TERMS = Terms(
    four_eyes_over=Money.of("500 EUR"),
    caps=(Limit("day", "EUR", 100_0000), Limit("day", "sends", 2)),
)


async def at_rest(desk: Engine, run: str) -> RunStatus:
    desk.dispatcher.wake()
    async with asyncio.timeout(PATIENCE):
        return await desk.dispatcher.wait(run)


async def the_review(desk: Engine) -> Review:
    (opened,) = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    return opened


async def approve(desk: Engine, by: str = "ann") -> None:
    opened = await the_review(desk)
    await desk.store.decide(
        opened.id, Verdict(Decision.APPROVE, by, opened.version, opened.payload_hash)
    )


async def test_a_stop_holds_effects_and_replies_and_lets_them_go_by_itself(desk: Engine) -> None:
    await desk.store.stop("eve", "wrong prices")
    acting = await desk.work(a_message(1, body="credit 1 EUR"))
    answering = await desk.work(a_message(2, body=""))
    assert {(await desk.store.run(run)).status for run in (acting, answering)} == {
        RunStatus.WAITING_REVIEW
    }
    assert {opened.kind for opened in await desk.store.find_reviews()} == {ReviewKind.STOPPED}
    assert "wrong prices" in (await desk.store.find_reviews())[0].reason
    assert (done, desk.outbox.sent) == ([], [])
    assert await desk.store.resume("eve") == 2
    assert [await at_rest(desk, run) for run in (acting, answering)] == [
        RunStatus.SENT,
        RunStatus.SENT,
    ]
    assert (done, len(desk.outbox.sent)) == (["1 EUR"], 2)


async def test_a_stop_in_the_middle_repeats_nothing(desk: Engine) -> None:
    """The first call is done; the stop is thrown before the second."""
    run = await desk.work(a_message(1, body="credit 1 EUR\nwire 2 EUR\ncredit 3 EUR"))
    assert (await the_review(desk)).kind is ReviewKind.TOOL_CALL
    await desk.store.stop("eve")
    await approve(desk)
    assert await at_rest(desk, run) is RunStatus.WAITING_REVIEW
    assert (await the_review(desk)).kind is ReviewKind.STOPPED
    assert done == ["1 EUR"]
    await desk.store.resume("eve")
    assert await at_rest(desk, run) is RunStatus.SENT
    assert done == ["1 EUR", "wire 2 EUR", "3 EUR"]


async def test_over_the_cap_of_sends_a_person_lets_the_reply_go(desk: Engine) -> None:
    for number in (1, 2):
        await desk.work(a_message(number, body=""))
    third = await desk.work(a_message(3, body=""))
    assert (await desk.store.run(third)).status is RunStatus.WAITING_REVIEW
    assert "2 sends a day" in (await the_review(desk)).reason
    assert len(desk.outbox.sent) == 2
    await approve(desk)
    assert await at_rest(desk, third) is RunStatus.SENT
    assert len(desk.outbox.sent) == 3


async def test_an_approval_is_used_once_and_a_second_identical_call_needs_its_own(
    desk: Engine,
) -> None:
    run = await desk.work(a_message(1, body="wire 5 EUR\nwire 5 EUR"))
    await approve(desk)
    assert await at_rest(desk, run) is RunStatus.WAITING_REVIEW
    assert done == ["wire 5 EUR"]
    await approve(desk)
    assert await at_rest(desk, run) is RunStatus.SENT
    assert done == ["wire 5 EUR", "wire 5 EUR"]


async def test_much_money_waits_for_two_people(desk: Engine) -> None:
    run = await desk.work(a_message(1, body="wire 501 EUR"))
    await approve(desk, "ann")
    assert (await desk.store.run(run)).status is RunStatus.WAITING_REVIEW
    assert (await the_review(desk)).signed_by == "ann"
    await approve(desk, "bob")
    assert await at_rest(desk, run) is RunStatus.SENT
    assert done == ["wire 501 EUR"]
    (call,) = story_of(await read_records(desk.store, run))["tool_calls"]
    assert (call["verdict"], call["approved_by"]) == ("allow", ["ann", "bob"])


async def test_a_reply_to_somebody_else_is_shown_to_a_person(desk: Engine) -> None:
    message = a_message(1, body="").model_copy(update={"subject": "elsewhere"})
    run = await desk.work(message)
    opened = await the_review(desk)
    assert (opened.kind, opened.causes) == (ReviewKind.REPLY, (Cause.RECIPIENT,))
    assert opened.payload["reply"]["to"] == "warehouse@acme.example"
    assert desk.outbox.sent == []
    await approve(desk)
    assert await at_rest(desk, run) is RunStatus.SENT
    assert desk.outbox.sent[0][1].to == "warehouse@acme.example"


async def test_every_verdict_is_on_record(desk: Engine) -> None:
    run = await desk.work(a_message(1, body="credit 1 EUR\nshred 2 EUR"))
    story = story_of(await read_records(desk.store, run))
    allowed, denied = story["tool_calls"]
    assert (allowed["verdict"], allowed["rule"], allowed["origin"]) == (
        "allow",
        "allowed",
        {"amount": "message"},
    )
    assert (denied["verdict"], denied["rule"]) == ("deny", "not_listed")
    assert story["message"]["principal"]["customer_id"] == "c-ann"
    told = [
        event.payload for event in await desk.store.events(run_id=run) if event.kind == VIOLATION
    ]
    assert [(one["tool"], one["rule"]) for one in told] == [("shred", "not_listed")]


async def test_a_reply_that_a_person_approved_is_not_held_for_its_recipient_again(
    tmp_path: Path,
) -> None:
    def build(gate: Gate) -> Flow:
        async def write(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
            assert env.message is not None
            reply = Reply.to_message(env.message, "Hello").model_dump(mode="json")
            return reply | {"to": "warehouse@acme.example"}

        stages = {
            "write": AgentSpec(
                name="write", service="write", output_key="reply", default_next="review"
            ),
            "review": AgentSpec(
                name="review", service="review", output_key="review", default_next="send"
            ),
            "send": AgentSpec(name="send", service="dispatch", output_key="send"),
        }
        services: dict[str, ServiceFunction] = {
            "write": write,
            "review": review,
            "dispatch": dispatch_through(gate),
        }
        return a_flow(stages, Parts(tools=gate, services=services))

    async with engine(tmp_path / "desk.db", build) as desk:
        run = await desk.work(a_message())
        await approve(desk)
        assert await at_rest(desk, run) is RunStatus.SENT
        assert len(desk.outbox.sent) == 1


async def test_a_question_to_the_customer_that_meets_the_stop_goes_out_later(
    tmp_path: Path,
) -> None:
    def build(gate: Gate) -> Flow:
        async def ask(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
            question = Ask(kind="question", reason="which one", text="Which order?")
            return ServiceResult(outcome=Outcome.CLARIFY, ask=question)

        stages = {"ask": AgentSpec(name="ask", service="ask", output_key="ask")}
        return a_flow(stages, Parts(tools=gate, services={"ask": ask}))

    async with engine(tmp_path / "desk.db", build) as desk:
        await desk.store.stop("eve")
        run = await desk.work(a_message())
        assert ((await desk.store.run(run)).status, desk.outbox.sent) == (
            RunStatus.WAITING_REVIEW,
            [],
        )
        await desk.store.resume("eve")
        assert await at_rest(desk, run) is RunStatus.WAITING_USER
        assert [reply.text for _, reply in desk.outbox.sent] == ["Which order?"]


async def test_a_policy_that_wants_a_person_stops_the_plan(tmp_path: Path) -> None:
    class Suspicious:
        def decide(self, facts: CallFacts) -> RuleDecision:
            suspect = facts.arguments.get("amount") == "666 EUR"
            return (
                RuleDecision("deny", "fraud", "looks like fraud", "No.", requires_escalation=True)
                if suspect
                else ALLOWED
            )

    terms = Terms(policy=Suspicious())
    async with engine(tmp_path / "desk.db", flow_of, tools=(credit, wire), terms=terms) as desk:
        run = await desk.work(a_message(1, body="credit 1 EUR\ncredit 666 EUR\ncredit 2 EUR"))
        found = await desk.store.run(run)
        assert (found.status, found.reason) == (RunStatus.NEEDS_REVIEW, "looks like fraud")
        assert (done, desk.outbox.sent) == (["1 EUR"], [])
