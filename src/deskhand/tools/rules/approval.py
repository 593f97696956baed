"""Approvals: for exactly this call at exactly this place, by enough people, not too long ago."""

from deskhand.model.codes import ErrorCode
from deskhand.model.money import Money
from deskhand.model.run import Decision
from deskhand.tools.case import Case, Ruling, Terms, deny, hold

CLOCKS_DIFFER = 300.0
"""Seconds by which the reviewer's clock may be ahead of ours."""


def rejected_by_reviewer(case: Case, terms: Terms) -> Ruling | None:
    verdict = case.approval
    if verdict is None or verdict.decision is not Decision.REJECT:
        return None
    reason = f"a reviewer rejected this call of {case.name}" + (
        f": {verdict.note}" if verdict.note else ""
    )
    return deny("rejected_by_reviewer", reason, code=ErrorCode.TOOL_REJECTED)


def approval_expired(case: Case, terms: Terms) -> Ruling | None:
    """Also one from the future: a clock was set back, and nobody can tell how old the approval
    is."""
    assert case.approval is not None
    age = case.now - case.approval.at
    if -CLOCKS_DIFFER <= age <= terms.approval_lasts:
        return None
    when = (
        "lies in the future by this machine's clock"
        if age < 0
        else f"is {age / 86400:.1f} days old"
    )
    return hold(
        "approval_expired",
        f"the approval by {case.approval.by} {when}; approve again",
        liftable=False,
    )


def four_eyes(case: Case, terms: Terms) -> Ruling | None:
    assert case.approval is not None
    if not needs_four_eyes(case, terms) or len(case.approval.people) > 1:
        return None
    return hold(
        "four_eyes",
        f"more than {terms.four_eyes_over} needs the approval of two people",
        liftable=False,
    )


def needs_four_eyes(case: Case, terms: Terms) -> bool:
    """Another currency than the limit's cannot be compared with it, so two people look."""
    limit = terms.four_eyes_over
    return limit is not None and any(_over(moved, limit) for moved in case.money.values())


def _over(moved: Money, limit: Money) -> bool:
    return moved.currency != limit.currency or moved > limit
