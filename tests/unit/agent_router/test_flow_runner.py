"""A flow by itself: it ends, asks and goes on, and its replies leave through the gate."""

from collections.abc import Mapping
from typing import Any

import pytest

from deskhand import (
    AgentSpec,
    ConfigError,
    Envelope,
    FlowRunner,
    FlowSpec,
    Gate,
    Outcome,
    Parts,
    RoutingRule,
    RunStatus,
    ScriptedBrain,
    StageContext,
    ToolRegistry,
    delivery_tool,
    service,
)
from deskhand.model.message import Reply
from tests.kit import MemoryOutbox, a_message


@service("number")
async def number(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any]:
    return {"order": next((word for word in envelope.raw_input.split() if "P-" in word), "")}


def asking_flow() -> FlowSpec:
    ask = RoutingRule(when={"order": ""}, outcome=Outcome.CLARIFY, ask="Which order?")
    stage = AgentSpec(name="number", service="number", output_key="number", routing_rules=(ask,))
    return FlowSpec(name="asks", start="number", stages={"number": stage})


async def test_a_flow_that_asks_goes_on_with_the_answer() -> None:
    runner = FlowRunner(asking_flow(), Parts(services={"number": number}))
    asked = await runner.run("Where is it?")
    assert asked.status is RunStatus.WAITING_USER
    assert asked.ask is not None
    assert asked.ask.text == "Which order?"
    answered = await runner.run("P-1001", after=asked)
    assert answered.status is RunStatus.DONE
    assert answered.envelope.outputs["number"]["order"] == "P-1001"


def drafting_flow() -> FlowSpec:
    draft = AgentSpec(
        name="draft", has_llm=True, task="draft", output_key="draft", default_next="send"
    )
    send = AgentSpec(name="send", service="dispatch", output_key="send")
    return FlowSpec(name="drafts", start="draft", stages={"draft": draft, "send": send})


async def test_a_reply_leaves_through_the_gate_of_the_parts() -> None:
    outbox = MemoryOutbox()
    brain = ScriptedBrain(lambda task: {"text": "We look into it.", "confidence": 0.9})
    gate = Gate(ToolRegistry([delivery_tool(outbox)]))
    result = await FlowRunner(drafting_flow(), Parts(brain=brain, tools=gate)).run(a_message())
    assert result.status is RunStatus.SENT, result
    sent: list[Reply] = [reply for _, reply in outbox.sent]
    assert [reply.text for reply in sent] == ["We look into it."]


async def test_without_a_gate_nothing_can_be_sent() -> None:
    brain = ScriptedBrain(lambda task: {"text": "We look into it."})
    with pytest.raises(ConfigError, match="dispatch"):
        FlowRunner(drafting_flow(), Parts(brain=brain))
