"""The gate's rules, in the order they are asked. Whatever speaks against a call is one of these,
by name."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from deskhand.tools.gate_call import GateCall, Ruling, Terms
from deskhand.tools.rules import (
    admission,
    approval,
    asked,
    authority,
    effect,
    limits,
    recipients,
    replies,
    unsure_readings,
)

Check = Callable[[GateCall, Terms], Ruling | None]


class GateRule(NamedTuple):
    """One reason why a call may not run; its name stands in every verdict it gives."""

    name: str
    check: Check


ADMISSION = (
    GateRule("not_listed", admission.not_listed),
    GateRule("unknown_tool", admission.unknown_tool),
    GateRule("unreadable_arguments", admission.unreadable_arguments),
    GateRule("invalid_arguments", admission.invalid_arguments),
)
"""Asked before anything is looked up."""

JUDGEMENT = (
    GateRule("rejected_by_reviewer", approval.rejected_by_reviewer),
    GateRule("needs_a_customer", authority.needs_a_customer),
    GateRule("read_scope", authority.read_scope),
    GateRule("not_yours", authority.not_yours),
    GateRule("not_offered", authority.not_offered),
    GateRule("ambiguous_object", authority.ambiguous_object),
    GateRule("policy", limits.policy),
    GateRule("needs_a_principal", authority.needs_a_principal),
    GateRule("recipient", recipients.recipient),
    GateRule(replies.HEADER, replies.header_injection),
    GateRule(replies.ALWAYS_ASK, replies.always_ask),
    GateRule(replies.ATTACHED, replies.attachments_not_approved),
    GateRule(replies.CONTENT, replies.outgoing_content),
    GateRule(replies.COMMITMENT, replies.unbacked_commitment),
    GateRule(replies.DOUBT, replies.writer_doubts),
    GateRule(replies.SUBJECT, replies.subject_for_people),
    GateRule(replies.CLAIM, replies.unbacked_claim),
    GateRule(unsure_readings.UNSURE_READING, unsure_readings.unsure_reading),
    GateRule("irreversible_needs_approval", effect.irreversible_needs_approval),
    GateRule("removal_not_asked", asked.removal_not_asked),
    GateRule("effect_not_asked", asked.effect_not_asked),
    GateRule("risk_needs_approval", effect.risk_needs_approval),
    GateRule("unbound_authority", effect.unbound_authority),
    GateRule("earlier_outcome_unknown", effect.earlier_outcome_unknown),
    GateRule("done_with_other_arguments", effect.done_with_other_arguments),
    GateRule(limits.OVER_CAP, limits.over_cap),
    GateRule("stopped", limits.stopped),
)
"""A hold among these is lifted by an approval that stands; a denial by nothing."""

JUDGED_ONCE = frozenset(("policy", limits.OVER_CAP))
"""Not asked again about an effect that a crash left open: they speak of what it may have changed
itself."""

APPROVAL = (
    GateRule("approval_expired", approval.approval_expired),
    GateRule("four_eyes", approval.four_eyes),
)
"""Why an approval does not stand."""

RULES = (*ADMISSION, *JUDGEMENT, *APPROVAL)


def named_rules(names: Collection[str], rules: Sequence[GateRule]) -> tuple[GateRule, ...]:
    """Those of the rules that have one of these names."""
    return tuple(rule for rule in rules if rule.name in names)


def first_objection(rules: Sequence[GateRule], call: GateCall, terms: Terms) -> Ruling | None:
    """What the first rule says that speaks against the call; None where none does."""
    rulings = (rule.check(call, terms) for rule in rules)
    return next((ruling for ruling in rulings if ruling is not None), None)
