"""Approvals: for exactly this call at exactly this place, by enough people, not too long ago."""

from deskhand.model.codes import ErrorCode
from deskhand.model.money import Money
from deskhand.model.run import Decision
from deskhand.tools.gate_call import GateCall, Ruling, Terms, deny, hold

CLOCKS_DIFFER = 300.0
"""Seconds by which the reviewer's clock may be ahead of ours."""


def rejected_by_reviewer(call: GateCall, terms: Terms) -> Ruling | None:
    verdict = call.approval
    if verdict is None or verdict.decision is not Decision.REJECT:
        return None
    reason = f"a reviewer rejected this call of {call.name}" + (
        f": {verdict.note}" if verdict.note else ""
    )
    return deny("rejected_by_reviewer", reason, code=ErrorCode.TOOL_REJECTED)


def approval_expired(call: GateCall, terms: Terms) -> Ruling | None:
    """Also one from the future: a clock was set back, and nobody can tell how old the approval
    is."""
    assert call.approval is not None
    age = call.now - call.approval.at
    if -CLOCKS_DIFFER <= age <= terms.approval_lasts:
        return None
    when = (
        "lies in the future by this machine's clock"
        if age < 0
        else f"is {age / 86400:.1f} days old"
    )
    return hold(
        "approval_expired",
        f"the approval by {call.approval.by} {when}; approve again",
        liftable=False,
    )


def four_eyes(call: GateCall, terms: Terms) -> Ruling | None:
    assert call.approval is not None
    if not needs_four_eyes(call, terms) or len(call.approval.people) > 1:
        return None
    return hold(
        "four_eyes",
        f"more than {terms.four_eyes_over} needs the approval of two people",
        liftable=False,
    )


def needs_four_eyes(call: GateCall, terms: Terms) -> bool:
    """Another currency than the limit's cannot be compared with it, so two people look."""
    limit = terms.four_eyes_over
    return limit is not None and any(_over(moved, limit) for moved in call.money.values())


def _over(moved: Money, limit: Money) -> bool:
    return moved.currency != limit.currency or moved > limit
