"""What agents work with, and whether a spec has all it asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.agents.eligible_intents import EligibleIntents
from deskhand.agents.plan_failures import FailureQuestions, TellResults
from deskhand.agents.profiled import Agents
from deskhand.agents.replying.sending import Sending
from deskhand.agents.slot_answers import ReadsAnswers
from deskhand.agents.turn_taking import AnswersAsides, ReadsTurns, TurnParts
from deskhand.agents.turn_words import SlotLabels
from deskhand.errors import ConfigError
from deskhand.model.spec import AgentSpec
from deskhand.ports import Brain, PromptSource, Sink, ToolGate
from deskhand.tools.services import ServiceFunction


@dataclass(frozen=True, slots=True)
class Parts:
    """What agents work with; one agent needs only the parts its spec asks for."""

    brain: Brain | None = None
    tools: ToolGate | None = None
    prompts: PromptSource | None = None
    services: Mapping[str, ServiceFunction] | None = None
    events: Sink | None = None
    sending: Sending | None = None
    agents: Agents | None = None
    tool_specs: Callable[[tuple[str, ...]], Sequence[dict[str, Any]]] | None = None
    """Tools in the form that models read, by name: what a plan may be made of."""
    answers: ReadsAnswers | None = None
    """Finds the values that a plan asked the customer for."""
    turns: ReadsTurns | None = None
    """Tells what a customer's turn does while a plan's question is open."""
    asides: AnswersAsides | None = None
    """Answers what customers ask while a plan's question is open."""
    intents: EligibleIntents | None = None
    """Says which intents count for a customer."""
    labels: SlotLabels | None = None
    """What customers read as the names of slots."""
    failure_questions: FailureQuestions | None = None
    """What customers are asked where a call fails, by intent and error code."""
    tell: TellResults | None = None
    """Says what calls found, where the customer is asked before the reply."""

    @property
    def turn_parts(self) -> TurnParts | None:
        """What turns are read and answered with; None for a desk that reads none."""
        if self.turns is None:
            return None
        return TurnParts(
            self.turns,
            self.intents,
            self.asides,
            self.labels or {},
            self.failure_questions or {},
            self.tell,
        )


def check_parts(spec: AgentSpec, parts: Parts) -> None:
    """Raise ConfigError where the spec asks for a part that is not there."""
    if spec.has_llm and parts.brain is None:
        raise ConfigError(
            f"agent {spec.name!r} has_llm but was given no brain",
            fix="pass Parts(brain=...) or drop task and prompt",
        )
    if spec.has_tools and parts.tools is None:
        raise ConfigError(
            f"agent {spec.name!r} has_tools but was given no gate",
            fix="pass Parts(tools=Gate(...)) or drop tools",
        )
    if spec.has_policies and not (parts.tools and parts.tools.has_policy):
        raise ConfigError(
            f"agent {spec.name!r} has_policies but its gate has no policy",
            fix="pass Parts(tools=Gate(..., policy=...)) or drop has_policies",
        )
    if spec.prompt_key is not None and parts.prompts is None:
        raise ConfigError(
            f"agent {spec.name!r} names prompt {spec.prompt_key!r} but was given no prompts",
            fix="pass Parts(prompts=PromptRegistry(...))",
        )
    if spec.service is not None and spec.service not in (parts.services or {}):
        raise ConfigError(
            f"agent {spec.name!r} names service {spec.service!r}, which nobody brought",
            fix=f'write @service("{spec.service}") in tools.py',
        )
