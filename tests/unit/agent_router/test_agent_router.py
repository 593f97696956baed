"""`AgentRouter`: conversations without a desk, told as a desk tells them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand import (
    AgentRouter,
    Classification,
    InMemoryConversationMemory,
    IntentsRegistry,
    Interaction,
    ListSink,
    NullPolicyEngine,
    Plan,
    ToolCall,
    YAMLPolicyEngine,
)
from deskhand.agents.slot_answers import DeskTurns
from deskhand.config.sections.intents import IntentSpec
from deskhand.language.turns import TurnReader
from deskhand.model.telemetry import TelemetryEvent
from tests.unit.telemetry.test_stage_reader import ASKS, SLOTS, SPOKEN, shown
from tests.unit.telemetry.test_stage_reader import talk as talk_to_desk

OFFER = "Would you like me to loop in a human support agent?"
INTENTS = IntentsRegistry({"refund": IntentSpec(name="refund")})


class Words:
    """Classifies by words."""

    async def classify(
        self, interaction: Interaction, eligible: Sequence[str], history: Sequence[str]
    ) -> Classification:
        text = interaction.text.casefold()
        orders = [word.strip(".,") for word in interaction.text.split() if word.startswith("O-")]
        parameters = {"order": orders[0]} if orders else {}
        intent = "refund" if "refund" in text else None
        return Classification(intent_id=intent, parameters=parameters, confidence=0.9)


class Plans:
    def plan(self, intent_id: str, parameters: Mapping[str, Any]) -> Plan:
        asks = [] if "order" in parameters else ASKS
        return Plan.parse({"intent_id": intent_id, "steps": [*asks, *SPOKEN]})


class Shop:
    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    async def execute(self, call: ToolCall) -> dict[str, Any]:
        self.calls.append(call)
        if call.parameters["order"] == "O-10099":
            raise RuntimeError("the till is closed")
        return {"order": call.parameters["order"]}


async def talk(
    *texts: str, policy: Any = None, turns: DeskTurns | None = None, **parts: Any
) -> tuple[list[str], list[TelemetryEvent], Shop]:
    sink, shop = ListSink(), Shop()
    router = AgentRouter(
        INTENTS, Words(), Plans(), policy or NullPolicyEngine(), shop, sink, turns=turns, **parts
    )
    said: list[str] = []
    for number, text in enumerate(texts, 1):
        context = {"session_id": "ui-1", "channel": "chat"}
        response = await router.handle(
            Interaction(id=f"m{number}", text=text, customer_id="c-ann", context=context)
        )
        said.append(response.text)
    return said, sink.events, shop


async def test_an_interaction_is_answered_in_a_few_lines() -> None:
    said, events, shop = await talk("A refund for O-10018 please")
    assert said == ["It is noted for O-10018."]
    assert [call.parameters for call in shop.calls] == [{"order": "O-10018"}]
    assert len(events) == 8


async def test_a_call_that_fails_is_not_met_with_silence() -> None:
    said, _, shop = await talk("A refund for O-10099 please")
    assert len(shop.calls) == 1
    assert said == ["I could not do that. A colleague has to look at it."]


async def test_what_is_missing_is_asked_and_the_answer_goes_on() -> None:
    said, _, shop = await talk("A refund please", "what?", "it is O-10018")
    assert said == ["Which order is it?", "Which order is it?", "It is noted for O-10018."]
    assert len(shop.calls) == 1


async def test_a_plan_of_questions_alone_is_made_anew_with_the_answer() -> None:
    class Asking(Plans):
        def plan(self, intent_id: str, parameters: Mapping[str, Any]) -> Plan:
            return Plan.parse({"steps": SPOKEN if "order" in parameters else ASKS})

    sink, shop = ListSink(), Shop()
    turns = DeskTurns(TurnReader(SLOTS), {"refund": ("order", "reason")})
    router = AgentRouter(INTENTS, Words(), Asking(), NullPolicyEngine(), shop, sink, turns=turns)
    said: list[str] = []
    for number, text in enumerate(("A refund please", "it is O-10018")):
        told = Interaction(id=f"m{number}", text=text, context={"session_id": "ui-1"})
        said.append((await router.handle(told)).text)
    assert said == ["Which order is it?", "It is noted for O-10018."]
    assert [call.parameters for call in shop.calls] == [{"order": "O-10018"}]


async def test_router_and_desk_tell_the_same_events(tmp_path: Path) -> None:
    turns = DeskTurns(TurnReader(SLOTS), {"refund": ("order", "reason")})
    conversations = [
        ("A refund for O-10018 please",),
        ("A refund please", "O-10018"),
        ("A refund please", "why do you need that?", "O-10018", "A refund for O-10018 please"),
        ("A refund please", "12", "O-10099"),
        ("A refund please", "never mind, forget it", "A refund for O-10018 please"),
        ("A refund please", "could I speak with a member of your staff?"),
        ("A refund please", "what?", "do you ship to Norway?", "O-10018"),
        ("A refund please", "no idea", "I don't have it", "still no idea"),
        ("A refund for O-10018 please", "A refund for O-10018 please"),
    ]
    for number, texts in enumerate(conversations):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, events, _ = await talk(*texts, turns=turns)
        assert shown(events) == shown(await talk_to_desk(folder, *texts))


async def test_an_unknown_intent_offers_a_person_as_the_last_sentence() -> None:
    said, events, shop = await talk("How is the weather?", "no", "A refund for O-10018 please")
    assert said[0].endswith(OFFER)
    assert said[1] == "All right. Please tell me in other words what you need."
    assert said[2] == "It is noted for O-10018."
    assert len(shop.calls) == 1
    told = shown(events)
    unknown = {"intent_id": None, "unknown_intent": True}
    assert ("intent_classified", "info", unknown) in told
    response = {"message": said[0], "fallback": True, **unknown}
    assert ("respond", "warn", response) in told


async def test_yes_hands_over() -> None:
    said, _, shop = await talk("How is the weather?", "yes please")
    assert said[1] == "A colleague will look at this and write to you."
    assert shop.calls == []


async def test_a_fallback_responder_says_its_own_words_before_the_offer() -> None:
    class Own:
        async def respond(self, text: str, language: str | None) -> str:
            return f"Pardon? {OFFER}"

    class Broken:
        async def respond(self, text: str, language: str | None) -> str:
            raise RuntimeError("away")

    said, _, _ = await talk("How is the weather?", fallback=Own())
    assert said == [f"Pardon? {OFFER}"]
    said, _, _ = await talk("How is the weather?", fallback=Broken())
    assert said[0].endswith(f"what you need? {OFFER}")


async def test_the_offer_is_translated() -> None:
    said, _, _ = await talk("Jaké bude dnes odpoledne počasí v Praze?")
    assert said[0].endswith("Chcete, abych přizval kolegu z podpory?")


async def test_rules_decide_and_violations_are_logged(tmp_path: Path, caplog: Any) -> None:
    caplog.set_level("WARNING")
    rules = tmp_path / "policy.yaml"
    rules.write_text(
        "policy:\n"
        "- {name: no refunds today, when: {tool: refund}, then: deny, why: the till is closed}\n"
    )
    policy = YAMLPolicyEngine.from_file(rules)
    said, events, shop = await talk("A refund for O-10018 please", policy=policy)
    assert shop.calls == []
    assert said == ["I could not do that. A colleague has to look at it."]
    checks = [event for event in events if event.stage == "policy_check"]
    assert [(event.level, event.payload["allowed"]) for event in checks] == [("warn", False)]
    assert "no refunds today" in caplog.text


async def test_sessions_are_apart_and_can_be_forgotten() -> None:
    memory = InMemoryConversationMemory()
    await talk("A refund please", memory=memory)
    assert (await memory.load("ui-1")).waiting_for == "order"
    assert (await memory.load("other")).waiting_for is None
    await memory.clear("ui-1")
    assert (await memory.load("ui-1")).history == ()


def test_a_session_is_named_by_the_context_or_the_interaction() -> None:
    assert Interaction(id="m1", text="hi").session_id == "m1"
    assert Interaction(id="m1", text="hi", context={"session_id": "s"}).session_id == "s"
