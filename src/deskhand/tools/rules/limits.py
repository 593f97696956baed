"""The desk's own policy, its caps and its stop switch."""

from deskhand.config.sections.policy import LimitSpec
from deskhand.model.codes import ErrorCode
from deskhand.model.totals import CALLS, Limit, counted_money, is_money
from deskhand.tools.gate_call import GateCall, Ruling, Terms, hold

OVER_CAP = "over_cap"


def policy(call: GateCall, terms: Terms) -> Ruling | None:
    """The company's rules can only make the gate stricter. The verdict carries the name of the
    company's rule."""
    if terms.policy is None or call.facts is None:
        return None
    decided = terms.policy.decide(call.facts)
    if decided.verdict == "allow":
        if decided.limit is not None:
            call.limits += _limits(decided.limit, call.name)
        return None
    code = ErrorCode.TOOL_DENIED if decided.verdict == "deny" else ErrorCode.TOOL_HELD
    return Ruling(
        decided.verdict,
        decided.rule,
        decided.reason,
        code,
        say=decided.say,
        liftable=decided.verdict == "hold",
        requires_escalation=decided.requires_escalation,
    )


def over_cap(call: GateCall, terms: Terms) -> Ruling | None:
    """The caps go with the call into the transaction that writes its intention: nobody can slip
    in between."""
    if not call.admitted_tool.changes_something:
        return None
    call.limits += terms.caps
    capped = {limit.unit for limit in terms.caps if is_money(limit.unit)}
    for currency in call.money:
        if capped and currency not in capped:
            reason = (
                f"nobody can tell whether an amount in {currency} stays within caps in"
                f" {', '.join(sorted(capped))}"
            )
            return hold(OVER_CAP, reason, "A colleague has to look at this first.")
    return None


def stopped(call: GateCall, terms: Terms) -> Ruling | None:
    """Asked together with the caps: the switch holds from the moment it is thrown, in every
    process."""
    call.heeds_stop = call.admitted_tool.changes_something
    if call.stop is None:
        return None
    why = f": {call.stop.reason}" if call.stop.reason else ""
    return hold("stopped", f"the desk was stopped by {call.stop.by}{why}", liftable=False)


def _limits(limit: LimitSpec, tool: str) -> tuple[Limit, ...]:
    limits: list[Limit] = []
    if limit.calls is not None:
        limits.append(Limit(limit.per, CALLS, limit.calls, tool))
    if limit.money is not None:
        limits.append(
            Limit(limit.per, limit.money.currency, counted_money(limit.money.amount), tool)
        )
    return tuple(limits)
