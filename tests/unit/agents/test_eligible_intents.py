"""A stage chooses only from the intents that count for the customer."""

from typing import Any

from deskhand.agents.agent import Agent
from deskhand.agents.eligible_intents import EligibleIntents
from deskhand.agents.parts import Parts
from deskhand.config.sections.intents import IntentSpec
from deskhand.model.envelope import Envelope
from deskhand.model.principal import Principal
from deskhand.model.spec import AgentSpec
from deskhand.model.tasks import Answer, Classified, Task
from deskhand.routing.intents_registry import IntentsRegistry
from tests.kit import a_message

CLASSIFY = AgentSpec(
    name="classify",
    has_llm=True,
    task="classify",
    choices=("refund", "status", "other"),
    output_key="classify",
)


class Asked:
    """A brain that keeps what it was asked and takes the first choice."""

    name = "asked"

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    async def answer(self, task: Task) -> Answer:
        self.tasks.append(task)
        result = Classified(category=(*task.choices, "other")[0], confidence=0.9)
        return Answer(result=result, brain="asked")


def intents(**fields: Any) -> EligibleIntents:
    refund = IntentSpec(name="refund", **fields)
    return EligibleIntents(
        IntentsRegistry({"refund": refund}, ("free", "pro"), ["status", "other"])
    )


async def classified(eligible: EligibleIntents, spec: AgentSpec = CLASSIFY) -> tuple[Task, Any]:
    brain = Asked()
    agent = Agent(spec, Parts(brain=brain, intents=eligible))
    result = await agent.process(Envelope.of(a_message()))
    return brain.tasks[0], result


async def test_an_intent_that_does_not_count_is_no_choice() -> None:
    task, result = await classified(intents(tier="pro"))
    assert task.choices == ("status", "other")
    assert result.answered["eligible"] == ["status", "other"]


async def test_an_intent_that_counts_is_one() -> None:
    task, result = await classified(intents())
    assert task.choices == ("refund", "status", "other")
    assert result.answered["eligible"] == ["status", "other", "refund"]


async def test_a_contact_s_tier_counts() -> None:
    async def acquainted(principal: Principal) -> Principal:
        return principal.changed(tier="pro")

    eligible = EligibleIntents(intents(tier="pro").registry, acquainted)
    task, _ = await classified(eligible)
    assert "refund" in task.choices


async def test_an_intent_brings_its_model_to_stages_without_one() -> None:
    eligible = intents(model="good")
    draft = AgentSpec(name="draft", has_llm=True, task="judge", output_key="draft")
    assert eligible.model_for("refund") == "good"
    brain = Asked()
    agent = Agent(draft, Parts(brain=brain, intents=eligible))
    envelope = Envelope.of(a_message()).with_output("classify", {"category": "refund"})
    await agent.process(envelope)
    assert brain.tasks[0].model_role == "good"
