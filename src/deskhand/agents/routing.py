"""Where a run goes after a stage: its routing rules, in order, then its default."""

from collections.abc import Mapping
from typing import Any

from deskhand.agents.earlier_turns import remembered_facts
from deskhand.conditions import Condition, compile_condition
from deskhand.errors import ConfigError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.remembered import MEMORY
from deskhand.model.run import ReviewKind
from deskhand.model.spec import AgentSpec, RoutingRule
from deskhand.ports import PromptSource
from deskhand.tools.services import ServiceResult

_PASSED = StageResult.model_construct()
"""What every result of a stage is a copy of: its fields come from values that were checked."""


def facts_for_texts(envelope: Envelope, output: Mapping[str, Any]) -> dict[str, Any]:
    """What prompts and templates may speak of: as `facts_of`, without names that nobody proved,
    and with what was said before as one text."""
    message = envelope.message
    told_message = None if message is None else message.as_told
    metadata = {name: value for name, value in envelope.metadata.items() if name != MEMORY}
    facts = facts_of(envelope.changed(message=told_message, metadata=metadata), output)
    return remembered_facts(envelope) | facts


def facts_of(envelope: Envelope, output: Mapping[str, Any]) -> dict[str, Any]:
    """What conditions may speak of: the stage's own fields, then the whole envelope by name."""
    message = envelope.message
    return {
        "raw_input": envelope.raw_input,
        "message": {} if message is None else {**message.facts},
        "metadata": envelope.metadata,
        "outputs": envelope.outputs,
        "hops": envelope.hops,
        **output,
    }


class Router:
    """A stage's compiled rules."""

    def __init__(self, spec: AgentSpec, prompts: PromptSource | None) -> None:
        self._spec, self._prompts = spec, prompts
        self._rules: list[tuple[Condition, RoutingRule]] = []
        for rule in spec.routing_rules:
            try:
                self._rules.append((compile_condition(rule.when), rule))
            except ValueError as error:
                raise ConfigError(f"a route of stage {spec.name!r}: {error}") from None

    def route(self, made: ServiceResult, envelope: Envelope) -> StageResult:
        """The outcome and the next stage. What the stage's code said wins over rules, rules over
        the default."""
        output = envelope.output(self._spec.output_key)
        own = output if isinstance(output, dict) else {}
        facts = facts_of(envelope, own) if self._rules else {}
        rule = next((rule for condition, rule in self._rules if condition.matches(facts)), None)
        outcome, target, ask = made.outcome, made.next or self._spec.default_next, made.ask
        if rule is not None and made.outcome.is_success and made.next is None:
            outcome = rule.outcome or outcome
            target = rule.target or target
            ask = self._ask(rule, outcome, envelope, own) or ask
        if outcome is Outcome.CONFIRM and ask is None:
            reason = made.reason or f"{self._spec.name} asks a person"
            ask = Ask(kind=ReviewKind.HAND_OVER, reason=reason, causes=(Cause.ESCALATED,))
        if outcome.requires_loop:
            target = (
                made.next
                or (rule.target if rule else None)
                or self._spec.loop_to
                or self._spec.default_next
            )
        return _PASSED.changed(
            outcome=outcome,
            next=target,
            ask=ask,
            resume=made.resume or self._resume(outcome),
            reason=made.reason or (ask.reason if ask else None),
            status=made.status,
        )

    def _resume(self, outcome: Outcome) -> str | None:
        """Where a customer's answer goes on, and where a reviewer's "revise" leads: only the
        first has a default."""
        if outcome is Outcome.CLARIFY:
            spec = self._spec
            return spec.resume_at or spec.loop_to or spec.replan_at or spec.name
        return self._spec.loop_to if outcome is Outcome.CONFIRM else None

    def _ask(
        self,
        rule: RoutingRule,
        outcome: Outcome,
        envelope: Envelope,
        output: Mapping[str, Any],
    ) -> Ask | None:
        if outcome not in (Outcome.CLARIFY, Outcome.CONFIRM):
            return None
        text = rule.ask or ""
        if self._prompts is not None and text:
            text = self._prompts.render_text(text, facts_for_texts(envelope, output))
        if outcome is Outcome.CLARIFY:
            return Ask(kind="question", reason=f"{self._spec.name} asks the customer", text=text)
        outputs = envelope.outputs
        payload = {
            "reply": outputs.get("reply"),
            self._spec.output_key: outputs.get(self._spec.output_key),
        }
        reason = text or f"{self._spec.name} asks a person"
        # without a reply there is nothing to approve yet: a person can take it, send it on or close
        # it
        kind = ReviewKind.HAND_OVER if payload["reply"] is None else ReviewKind.REPLY
        return Ask(kind=kind, reason=reason, text=text, payload=payload, causes=(Cause.ESCALATED,))
