"""Policies for an `AgentRouter`: none, or the rules of a policy.yaml."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from deskhand.config.sections.policy import PolicySpec
from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError
from deskhand.model.interaction import Interaction, PolicyDecision
from deskhand.model.outcome import EffectClass
from deskhand.model.plan import ToolCall
from deskhand.policy.call_facts import CallFacts
from deskhand.policy.rule_policy import Policy, compile_policy

log = logging.getLogger("deskhand.policy")


class NullPolicyEngine:
    """Allows every call."""

    def validate(
        self, call: ToolCall, interaction: Interaction, history: Sequence[str]
    ) -> PolicyDecision:
        return PolicyDecision(allowed=True, rule="null_policy")


class YAMLPolicyEngine:
    """Judges calls by rules written as in a desk's policy.yaml. What no rule allows is denied, but
    for tools that only read."""

    def __init__(
        self,
        policy: Policy,
        effects: Mapping[str, EffectClass | str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`effects` says by tool what it may change; one that is not listed counts as
        irreversible."""
        self._policy = policy
        self._effects = {name: str(effect) for name, effect in (effects or {}).items()}
        self._now = now

    @classmethod
    def from_file(
        cls, path: Path | str, effects: Mapping[str, EffectClass | str] | None = None
    ) -> "YAMLPolicyEngine":
        """Rules from a file as a desk's policy.yaml. ConfigError where it holds none, or wrong
        ones."""
        written = read_yaml(Path(path)).data
        try:
            spec = PolicySpec.model_validate({"rules": written["policy"]})
        except KeyError:
            words = "there are no rules in the file"
            fix = "begin with a line `policy:` and list the rules"
            raise ConfigError(words, file=path, line=1, fix=fix) from None
        except ValueError as error:
            words = f"the rules cannot be read: {error}"
            raise ConfigError(words, file=path, fix="write a list of {name, when, then}") from None
        return cls(compile_policy(spec), effects)

    def validate(
        self, call: ToolCall, interaction: Interaction, history: Sequence[str]
    ) -> PolicyDecision:
        """The verdict of the first rule that matches; a violation is logged with its rule."""
        tier = interaction.context.get("tier")
        principal = {"customer_id": interaction.customer_id, "tier": tier}
        facts = CallFacts(
            tool=call.tool,
            effect=self._effects.get(call.tool, str(EffectClass.IRREVERSIBLE)),
            risk="medium",
            at=self._now(),
            arguments=call.parameters,
            principal={name: value for name, value in principal.items() if value is not None},
            channel=interaction.context.get("channel"),
        )
        decision = self._policy.decide(facts)
        if decision.verdict == "allow":
            return PolicyDecision(allowed=True, rule=decision.rule)
        log.warning(
            "%s of %s by rule %r: %s", decision.verdict, call.tool, decision.rule, decision.reason
        )
        reasons = tuple(filter(None, (decision.reason,)))
        holds = decision.verdict == "hold"
        return PolicyDecision(allowed=False, reasons=reasons, rule=decision.rule, holds=holds)
