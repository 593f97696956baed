"""Mode, review, trust, gate, policy and the choice of a model agree on what a message is about."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.review_reasons import review_reasons
from deskhand.agents.replying.sending import Sending
from deskhand.engine.review_causes import facts_of
from deskhand.errors import RetryableError
from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.profile import ProfileSpec
from deskhand.model.spec import AgentSpec
from deskhand.model.understanding import Understanding
from deskhand.policy.rule_policy import RulePolicy
from deskhand.tools import Gate, Terms, ToolRegistry
from deskhand.tools.delivery import delivery_tool
from tests.kit import MemoryOutbox, a_message
from tests.memory_ledger import FixedContext, MemoryLedger

REPLY = {"to": "ann@example.com", "subject": "Re: My parcel", "text": "It is on its way."}
SURE = {"confidence": 0.99}
COMPLAINTS = [
    pytest.param({"a": {"category": "complaint", **SURE}, "b": {"category": None}}, id="none"),
    pytest.param(
        {"a": {"category": "status", **SURE}, "b": {"intent_id": "complaint"}}, id="later intent"
    ),
    pytest.param(
        {"a": {"category": "complaint", **SURE}, "b": {"intent_id": "status"}},
        id="a later intent lifts nothing",
    ),
]


def asked(outputs: dict[str, Any]) -> Envelope:
    return Envelope.of(a_message(), run_id="run_1").changed(outputs=outputs)


async def draft_for_complaints(category: str | None) -> str:
    return "draft" if category == "complaint" else "auto"


@pytest.mark.parametrize("outputs", COMPLAINTS)
async def test_mode_review_and_question_see_the_complaint(outputs: dict[str, Any]) -> None:
    envelope = asked(outputs)
    sending = Sending(draft_for_complaints, always_ask=frozenset({"complaint"}))

    why = await review_reasons(envelope, {"auto_send_at": 0.5, "always_ask": ["complaint"]})
    question = await sending.keeps_question(envelope, "Which order?")

    assert [cause for cause, _ in why] == [Cause.ALWAYS_ASK]
    assert await sending.mode_of(Understanding.of(envelope)) == "draft"
    assert question is not None
    assert question.cause is Cause.ALWAYS_ASK


@pytest.mark.parametrize("outputs", COMPLAINTS)
async def test_the_gate_and_the_policy_see_the_complaint(outputs: dict[str, Any]) -> None:
    judged: list[str | None] = []

    class Watching(RulePolicy):
        def _decide(self, facts: Any) -> Any:
            judged.append(facts.category)
            return super()._decide(facts)

    registry = ToolRegistry([delivery_tool(MemoryOutbox())])
    terms = Terms(policy=Watching(()), always_ask=frozenset({"complaint"}))
    gate = Gate(
        registry,
        MemoryLedger(),
        desk="test",
        terms=terms,
        now=lambda: datetime(2026, 11, 16, tzinfo=UTC).timestamp(),
    )
    ctx = FixedContext()
    ctx.envelope = asked(outputs)

    answer = await gate.call("deliver_reply", REPLY, allowed=("deliver_reply",), ctx=ctx)

    assert (answer.verdict, answer.rule) == ("hold", "always_ask")
    assert "complaint" in judged


@pytest.mark.parametrize(
    ("outputs", "topic"),
    [
        ({"a": {"category": "complaint"}, "b": {"category": None}}, "complaint"),
        ({"a": {"category": "status"}, "b": {"intent_id": "complaint"}}, "complaint"),
        ({"a": {"category": "complaint"}, "b": {"intent_id": "status"}}, "status"),
    ],
)
def test_trust_reviewers_memory_and_the_model_go_by_one_name(
    outputs: dict[str, Any], topic: str
) -> None:
    envelope = asked(outputs)
    profile = ProfileSpec(
        name="p", system_prompt="Help.", model_for={"complaint": "careful", "status": "quick"}
    )

    assert facts_of(envelope)["category"] == topic
    chosen = profile.choose_model(Understanding.of(envelope).topic, None, None)
    assert chosen == {"complaint": "careful", "status": "quick"}[topic]


async def test_a_stage_that_returns_a_reserved_field_of_another_type_is_told_so() -> None:
    async def serve(envelope: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"category": 7}

    spec = AgentSpec(name="sort", stage_order=1, service="sort", output_key="sort")
    agent = Agent(spec, Parts(services={"sort": serve}))

    with pytest.raises(RetryableError, match="`category` must be text, not 7") as caught:
        await agent.process(Envelope())
    assert caught.value.code is ErrorCode.OUTPUT_INVALID_FIELDS
