"""What a desk does with a message of which nobody knows what the customer wants."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.unknown_intent import BrainFallback, unknown_intent_through
from deskhand.brain.scripted import ScriptedBrain, ScriptedRule, ScriptedWhen
from deskhand.config.desk import with_planner
from deskhand.engine.loop import Flow
from deskhand.model.envelope import Envelope
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec, RoutingRule
from deskhand.tools import Gate
from deskhand.tools.services import ServiceFunction, ServiceResult
from tests.kit import a_message, engine

OFFER = "Would you like me to loop in a human support agent?"
FIXED = "I am not sure that I understood you. Could you tell me in other words what you need?"


def flow(gate: Gate, brain: ScriptedBrain | None = None, **settings: Any) -> Flow:
    async def classify(env: Envelope, ctx: Any, _: Any) -> dict[str, Any]:
        return {"category": "hours" if "open" in env.raw_input else "other", "confidence": 0.9}

    async def answer(env: Envelope, ctx: Any, _: Any) -> ServiceResult:
        return ServiceResult(status=RunStatus.DONE, reason="answered")

    responder = None if brain is None else BrainFallback(brain)
    services: dict[str, ServiceFunction] = {
        "classify": classify,
        "answer": answer,
        "unknown_intent": unknown_intent_through(responder),
    }
    parts = Parts(tools=gate, services=services, sending=Sending())
    unknown = RoutingRule(when={"category": "other"}, target="fallback")
    stages = with_planner(
        {
            "classify": AgentSpec(
                name="classify",
                service="classify",
                output_key="classify",
                routing_rules=(unknown,),
                default_next="answer",
            ),
            "answer": AgentSpec(name="answer", service="answer", output_key="answer"),
            "fallback": AgentSpec(
                name="fallback", service="unknown_intent", output_key="fallback", settings=settings
            ),
        }
    )
    spec = FlowSpec(name="flow", start="classify", stages=stages, version="v1")
    return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})


async def talk(
    tmp_path: Path, *bodies: str, brain: ScriptedBrain | None = None, **settings: Any
) -> tuple[list[str], Any]:
    async with engine(tmp_path / "d.db", lambda gate: flow(gate, brain, **settings)) as desk:
        last = ""
        for number, body in enumerate(bodies, 1):
            message = a_message(number, conversation="c", body=body).changed(channel="chat")
            last = await desk.work(message)
        run = await desk.store.run(last)
        return [reply.text for _, reply in desk.outbox.sent], run


async def test_the_customer_is_asked_and_offered_a_person(tmp_path: Path) -> None:
    said, run = await talk(tmp_path, "The moon is blue")
    assert said == [f"{FIXED} {OFFER}"]
    assert run.status is RunStatus.WAITING_USER


@pytest.mark.parametrize("yes", ["Yes", "yes please", "I want a human", "ano, prosím"])
async def test_yes_hands_over(tmp_path: Path, yes: str) -> None:
    said, run = await talk(tmp_path, "The moon is blue", yes)
    assert len(said) == 1
    assert (run.status, run.reason) == (RunStatus.NEEDS_REVIEW, "the customer wants a person")


async def test_who_asks_for_a_person_at_once_gets_one(tmp_path: Path) -> None:
    angry = "The third lamp that does not work! I have had enough, put me through to a human being."
    said, run = await talk(tmp_path, angry)
    assert said == []
    assert (run.status, run.reason) == (RunStatus.NEEDS_REVIEW, "the customer wants a person")


async def test_no_goes_on_and_the_next_message_is_read_as_ever(tmp_path: Path) -> None:
    said, run = await talk(tmp_path, "The moon is blue", "No", "When are you open?")
    assert said[1] == "All right. Please tell me in other words what you need."
    assert run.reason == "answered"


async def test_whoever_says_it_in_other_words_is_understood_at_once(tmp_path: Path) -> None:
    said, run = await talk(tmp_path, "The moon is blue", "I mean: when are you open on Sunday?")
    assert len(said) == 1
    assert run.reason == "answered"


async def test_whoever_is_not_understood_again_is_asked_again(tmp_path: Path) -> None:
    said, run = await talk(tmp_path, "The moon is blue", "But the sun is yellow and so is cheese")
    assert said == [f"{FIXED} {OFFER}"] * 2
    assert run.status is RunStatus.WAITING_USER


async def test_a_model_words_it_and_the_code_puts_the_offer_last(tmp_path: Path) -> None:
    rule = ScriptedRule({"text": f"{OFFER} What about the moon?"}, ScriptedWhen())
    said, _ = await talk(tmp_path, "The moon is blue", brain=ScriptedBrain([rule]))
    assert said == [f"What about the moon? {OFFER}"]


async def test_a_desk_has_words_of_its_own(tmp_path: Path) -> None:
    said, _ = await talk(tmp_path, "The moon is blue", say={"en": "Pardon?"})
    assert said == [f"Pardon? {OFFER}"]


async def test_other_languages_hear_it_translated(tmp_path: Path) -> None:
    said, _ = await talk(tmp_path, "Der Mond ist heute Nacht ganz blau und sehr groß")
    assert said[0].endswith(
        "Möchten Sie, dass ich einen menschlichen Support-Mitarbeiter hinzuziehe?"
    )
