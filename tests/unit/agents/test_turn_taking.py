"""What a plan does with what a customer says while its question is open."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.slot_answers import DeskTurns
from deskhand.agents.turn_words import confirming, turn_texts, words_for
from deskhand.config.desk import with_planner
from deskhand.config.sections.slots import SlotSpec
from deskhand.engine.journal import fold
from deskhand.engine.loop import Flow
from deskhand.language.turns import TurnReader
from deskhand.model.envelope import Envelope
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.outgoing.backing import Backing
from deskhand.outgoing.commitments import check_commitments, unbacked
from deskhand.tools import Gate, tool
from tests.kit import Engine, a_message, engine

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", prefix=("O",), min_digits=5, max_digits=5),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
}
ASKS = [
    {
        "type": "ask_user",
        "param": "order",
        "prompt": "Which order is it?",
        "expects": "A number looks like O-12345.",
        "why": "It shows what was paid.",
    },
    {"type": "ask_user", "param": "reason", "prompt": "What was wrong with it?"},
]
PLAN = [
    *ASKS,
    {"tool": "refund", "parameters": {"order": "{slots.order}", "reason": "{slots.reason}"}},
    {"type": "respond", "when": "post", "message": "It is noted."},
]
refunds: list[tuple[str, str]] = []


@pytest.fixture(autouse=True)
def _none_yet() -> None:
    refunds.clear()


@tool(effect="keyed")
async def refund(order: str, reason: str) -> dict[str, Any]:
    """Refund."""
    refunds.append((order, reason))
    return {"order": order}


class Articles:
    """Stands for the desk's articles."""

    async def answer(self, text: str, run_id: str) -> str | None:
        return "There is a shop in Leeds." if "Leeds" in text else None


def flow(gate: Gate) -> Flow:
    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        assert env.message is not None
        if "refund" not in env.raw_input.casefold() and "slots" not in str(env.outputs):
            return {"steps": [{"type": "respond", "when": "post", "message": "It is on its way."}]}
        return {"steps": PLAN, "intent_id": "refund"}

    def matter_of(text: str) -> str | None:
        return "order_status" if "where is" in text.casefold() else None

    turns = DeskTurns(TurnReader(SLOTS, matter_of=matter_of), {"refund": ("order", "reason")})
    parts = Parts(
        tools=gate, services={"think": think}, sending=Sending(), turns=turns, asides=Articles()
    )
    stages = with_planner(
        {
            "plan": AgentSpec(name="plan", service="think", output_key="plan", default_next="act"),
            "act": AgentSpec(name="act", has_tools=True, tools=("refund",), output_key="act"),
        }
    )
    spec = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
    return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})


async def talk(tmp_path: Path, *bodies: str) -> tuple[list[str], Any, dict[str, Any]]:
    """What the desk said, the last run, and what it knew."""
    async with engine(tmp_path / "d.db", flow, tools=(refund,)) as desk:
        last = ""
        for number, body in enumerate(bodies, 1):
            message = a_message(number, conversation="c", body=body).changed(channel="chat")
            last = await desk.work(message)
        run = await desk.store.run(last)
        outputs = await _outputs(desk, last)
        return [reply.text for _, reply in desk.outbox.sent], run, outputs


async def _outputs(desk: Engine, run_id: str) -> dict[str, Any]:
    message = await desk.store.message(run_id)
    assert message is not None
    rows = await desk.store.rows(run_id)
    return fold(Envelope.of(message, run_id=run_id), rows).outputs


async def test_an_answer_lets_the_plan_go_on(tmp_path: Path) -> None:
    said, run, _ = await talk(tmp_path, "A refund please", "O-10018", "it arrived broken")
    assert said == ["Which order is it?", "What was wrong with it?", "It is noted."]
    assert run.status is RunStatus.SENT
    assert refunds == [("O-10018", "it arrived broken")]


async def test_an_answer_may_say_more_than_was_asked(tmp_path: Path) -> None:
    said, _, _ = await talk(tmp_path, "A refund please", "O-10018, the cup was broken")
    assert said == ["Which order is it?", "It is noted."]
    assert refunds == [("O-10018", "the cup was broken")]


async def test_an_invalid_answer_is_told_what_is_expected(tmp_path: Path) -> None:
    said, _, _ = await talk(tmp_path, "A refund please", "12")
    assert said[-1] == "A number looks like O-12345.\nWhich order is it?"


async def test_who_asks_why_is_told_and_asked_again(tmp_path: Path) -> None:
    said, _, _ = await talk(tmp_path, "A refund please", "why do you need that?")
    assert said[-1] == "It shows what was paid.\nWhich order is it?"


async def test_who_did_not_get_the_question_gets_it_again(tmp_path: Path) -> None:
    said, _, _ = await talk(tmp_path, "A refund please", "sorry, what was the question?")
    assert said[-1] == "Which order is it?"


async def test_only_answers_that_are_none_count_as_asked(tmp_path: Path) -> None:
    talked = ("why do you need that?", "what was the question?", "12", "O-1", "13")
    said, run, outputs = await talk(tmp_path, "A refund please", *talked)
    assert said.count("A number looks like O-12345.\nWhich order is it?") == 2
    assert run.status is RunStatus.NEEDS_REVIEW
    assert outputs["act"]["turn"]["kind"] == "invalid"


async def test_who_drops_it_hears_that_it_is_dropped(tmp_path: Path) -> None:
    said, run, _ = await talk(tmp_path, "A refund please", "never mind, forget it")
    assert said[-1] == "All right, let us leave it at that."
    assert run.status is RunStatus.SENT
    assert refunds == []


async def test_who_wants_a_person_gets_one_with_all_that_is_known(tmp_path: Path) -> None:
    turns = ("A refund please", "O-10018", "I want to talk to a human")
    said, run, outputs = await talk(tmp_path, *turns)
    assert said[-1] == "What was wrong with it?"
    assert run.status is RunStatus.NEEDS_REVIEW
    assert run.reason == "the customer asks for a person"
    assert outputs["act"]["slots"] == {"order": "O-10018"}


async def test_a_changed_value_is_confirmed_before_it_is_used(tmp_path: Path) -> None:
    turns = ("A refund please", "O-10018", "sorry, I meant O-10019", "too small for me", "yes")
    said, _, _ = await talk(tmp_path, *turns)
    assert said[2] == "All right: order O-10019.\nWhat was wrong with it?"
    assert said[3] == "Have I got this right: order O-10019, reason too small for me?"
    assert refunds == [("O-10019", "too small for me")]


async def test_a_change_that_is_not_confirmed_changes_nothing(tmp_path: Path) -> None:
    turns = ("A refund please", "O-10018", "sorry, I meant O-10019", "too small for me", "no")
    await talk(tmp_path, *turns)
    assert refunds == []


async def test_another_matter_begins_anew_and_takes_nothing_along(tmp_path: Path) -> None:
    said, run, outputs = await talk(tmp_path, "A refund please", "first, where is my parcel?")
    assert said[-1] == "It is on its way."
    assert run.status is RunStatus.SENT
    assert "slots" not in outputs["act"]


async def test_a_question_aside_does_not_count_as_the_answer(tmp_path: Path) -> None:
    turns = ("A refund please", "O-10018", "do you have a store in Leeds?", "it broke")
    said, _, _ = await talk(tmp_path, *turns)
    assert said[2].endswith("\nWhat was wrong with it?")
    assert refunds == [("O-10018", "it broke")]


async def test_an_answer_of_100_kb_is_none(tmp_path: Path) -> None:
    said, _, _ = await talk(tmp_path, "A refund please", "O-10018 " * 12_500)
    assert said[-1].startswith("A number looks like O-12345.")


def test_nothing_that_is_said_in_between_promises_anything() -> None:
    backing = Backing(datetime(2026, 11, 17, tzinfo=UTC))
    for language, texts in turn_texts().items():
        for text in texts.values():
            found = check_commitments(text.format(values="order O-1"), language, backing)
            assert unbacked(found) == [], (language, text)


async def test_a_question_aside_is_answered_from_the_articles_and_then_asked_again(
    tmp_path: Path,
) -> None:
    said, run, _ = await talk(
        tmp_path, "A refund please", "do you have a store in Leeds?", "O-10018"
    )
    assert said[1] == "There is a shop in Leeds.\nWhich order is it?"
    assert said[2] == "What was wrong with it?"
    assert run.status is RunStatus.WAITING_USER


def test_values_are_confirmed_by_their_names_in_the_customers_language() -> None:
    labels = {"order": {"en": "order", "cs": "objednávka"}, "reason": {"": "reason"}}
    values = {"order": "O-10018", "reason": "rozbité", "colour": "blue"}
    asked = confirming(values, words_for("O kterou objednávku jde?", labels))
    assert asked == "Rozuměl jsem správně: objednávka O-10018, reason rozbité, colour blue?"


def test_the_language_of_the_conversation_goes_before_that_of_a_number() -> None:
    labels = {"order": {"en": "order", "de": "Bestellung"}}
    words = words_for("O-10018", labels, "de")
    expected = "Habe ich richtig verstanden: Bestellung O-10018?"
    assert confirming({"order": "O-10018"}, words) == expected
