"""What other rules would have said: recorded calls judged again by the old rules and the new
ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.policy.call_facts import CallFacts, facts_of
from deskhand.policy.rule_policy import Policy, RuleDecision


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as its row tells it."""

    run: str
    seq: int
    record: Mapping[str, Any]

    @property
    def facts(self) -> CallFacts | None:
        return facts_of(self.record)


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A call that the new rules judge in another way."""

    run: str
    seq: int
    facts: CallFacts
    old: RuleDecision
    new: RuleDecision

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "seq": self.seq,
            "tool": self.facts.tool,
            "arguments": dict(self.facts.arguments),
            "old": {"verdict": self.old.verdict, "rule": self.old.rule},
            "new": {"verdict": self.new.verdict, "rule": self.new.rule, "reason": self.new.reason},
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    judged: int
    unknown: int
    """Calls recorded without the facts they were judged by."""
    changes: list[ChangedVerdict]


def what_if(calls: Iterable[RecordedCall], old: Policy, new: Policy) -> WhatIf:
    judged = unknown = 0
    changes: list[ChangedVerdict] = []
    for call in calls:
        facts = call.facts
        if facts is None:
            unknown += 1
            continue
        judged += 1
        before, after = old.decide(facts), new.decide(facts)
        if before.verdict != after.verdict:
            changes.append(ChangedVerdict(call.run, call.seq, facts, before, after))
    return WhatIf(judged, unknown, changes)
