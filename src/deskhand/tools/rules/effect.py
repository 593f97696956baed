"""Effect class: what cannot be taken back, is risky, or acts on something unbound waits for a
person."""

from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass, RiskLevel
from deskhand.model.run import EffectState
from deskhand.tools.gate_call import GateCall, Ruling, Terms, hold
from deskhand.tools.plain_authority import plain_authority

LATER = "A colleague has to look at this first."


def irreversible_needs_approval(call: GateCall, terms: Terms) -> Ruling | None:
    tool = call.admitted_tool
    if tool.effect is not EffectClass.IRREVERSIBLE or tool.probe is not None:
        return None
    return hold(
        "irreversible_needs_approval", f"{tool.name} cannot be taken back: a person must approve it"
    )


def risk_needs_approval(call: GateCall, terms: Terms) -> Ruling | None:
    """Where no policy of the desk's own decides."""
    tool = call.admitted_tool
    risky = tool.risk in (RiskLevel.HIGH, RiskLevel.CRITICAL)
    if terms.policy is not None or not risky or not is_lasting(call):
        return None
    reason = f"{tool.name} is of {tool.risk} risk and no policy of this desk says when it may pass"
    return hold("risk_needs_approval", reason, LATER)


def unbound_authority(call: GateCall, terms: Terms) -> Ruling | None:
    """Where no policy of the desk's own decides: a plain text that names an object or an address
    binds to nobody."""
    if terms.policy is not None or not is_lasting(call) or call.name == DELIVER:
        return None
    unbound = [
        name for name in plain_authority(call.admitted_tool) if call.canonical.get(name) is not None
    ]
    if not unbound:
        return None
    reason = f"{call.name}: {', '.join(unbound)} is plain text, so nobody checked whose it is"
    return hold("unbound_authority", reason, LATER)


def earlier_outcome_unknown(call: GateCall, terms: Terms) -> Ruling | None:
    """An earlier call of the same tool in this run may have happened: another one could be its
    double."""
    if any(effect.key == call.key for effect in call.effects):
        return None
    for effect in call.effects:
        unsettled = effect.state in (EffectState.INTENDED, EffectState.UNKNOWN)
        if unsettled and effect.tool == call.name:
            reason = f"nobody knows whether an earlier {effect.tool} ({effect.key}) took effect"
            return hold("earlier_outcome_unknown", reason)
    return None


def done_with_other_arguments(call: GateCall, terms: Terms) -> Ruling | None:
    """The plan was made anew after a question, and what it had done stands in it in other words:
    that may be the same once more, or something that is meant."""
    if not call.admitted_tool.changes_something:
        return None
    if not any(done.tool == call.name for done in call.done):
        return None
    reason = (
        f"{call.name} was carried out before the customer was asked, with other arguments; a"
        " person must say whether this is another one"
    )
    return hold("done_with_other_arguments", reason, LATER)


def is_lasting(call: GateCall) -> bool:
    """Whether what a call changes cannot simply be taken back."""
    return call.admitted_tool.effect in (EffectClass.KEYED, EffectClass.IRREVERSIBLE)
