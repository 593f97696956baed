"""The gate's rules, in the order they are asked. Whatever speaks against a call is one of these,
by name."""

from collections.abc import Callable
from typing import NamedTuple

from deskhand.tools.case import Case, Ruling, Terms
from deskhand.tools.rules import admission, approval, authority, effect, limits, recipients, replies

Check = Callable[[Case, Terms], Ruling | None]


class Rule(NamedTuple):
    """One reason why a call may not run; its name stands in every verdict it gives."""

    name: str
    check: Check


ADMISSION = (
    Rule("not_listed", admission.not_listed),
    Rule("unknown_tool", admission.unknown_tool),
    Rule("unreadable_arguments", admission.unreadable_arguments),
    Rule("invalid_arguments", admission.invalid_arguments),
)
"""Asked before anything is looked up."""

JUDGEMENT = (
    Rule("rejected_by_reviewer", approval.rejected_by_reviewer),
    Rule("needs_a_customer", authority.needs_a_customer),
    Rule("read_scope", authority.read_scope),
    Rule("not_yours", authority.not_yours),
    Rule("not_offered", authority.not_offered),
    Rule("ambiguous_object", authority.ambiguous_object),
    Rule("policy", limits.policy),
    Rule("needs_a_principal", authority.needs_a_principal),
    Rule("recipient", recipients.recipient),
    Rule(replies.HEADER, replies.header_injection),
    Rule(replies.ALWAYS_ASK, replies.always_ask),
    Rule(replies.CONTENT, replies.outgoing_content),
    Rule(replies.COMMITMENT, replies.unbacked_commitment),
    Rule("irreversible_needs_approval", effect.irreversible_needs_approval),
    Rule("risk_needs_approval", effect.risk_needs_approval),
    Rule("unbound_authority", effect.unbound_authority),
    Rule("earlier_outcome_unknown", effect.earlier_outcome_unknown),
    Rule("over_cap", limits.over_cap),
    Rule("stopped", limits.stopped),
)
"""A hold among these is lifted by an approval that stands; a denial by nothing."""

JUDGED_ONCE = frozenset(("policy", "over_cap"))
"""Not asked again about an effect that a crash left open: they speak of what it may have changed
itself."""

APPROVAL = (
    Rule("approval_expired", approval.approval_expired),
    Rule("four_eyes", approval.four_eyes),
)
"""Why an approval does not stand."""

RULES = (*ADMISSION, *JUDGEMENT, *APPROVAL)
