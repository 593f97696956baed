"""Effect class: what cannot be taken back, is risky, or acts on something unbound waits for a
person."""

from collections.abc import Sequence

from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass, RiskLevel
from deskhand.model.run import EffectState
from deskhand.tools.asked_removals import NAMING, asks_to_remove, own_words, removal_of
from deskhand.tools.authority import Authority
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


def removal_not_asked(call: GateCall, terms: Terms) -> Ruling | None:
    """Who names a thing has not asked to remove it. What cannot be undone is removed where the
    principal's own words ask for that, about that thing.

    A `reversible` tool has a bin. Of a `keyed` one the desk's own policy may decide.
    """
    tool = call.admitted_tool
    removal = removal_of(tool.name, call.canonical)
    decided_by_policy = tool.effect is EffectClass.KEYED and terms.policy is not None
    if removal is None or not _lasting(call) or decided_by_policy:
        return None
    message = call.ctx.envelope.message
    things = _named_things(call)
    if message is not None and call.principal.may_act and things:
        words = own_words(message)
        if all(asks_to_remove(words, names, removal) for names in things):
            return None
    reason = f"{tool.name} would {removal} something that the sender did not ask to {removal}"
    return hold("removal_not_asked", reason, LATER)


def _named_things(call: GateCall) -> list[list[str]]:
    """What each thing that a call is about may be called."""
    if call.lookups:
        return [[lookup.key, *_names_of(lookup.things)] for lookup in call.lookups]
    plain = plain_authority(call.admitted_tool)
    values = [call.canonical[name] for name in plain or call.canonical if name in call.canonical]
    return [[str(value)] for value in values if value is not None]


def _names_of(things: Sequence[Authority]) -> list[str]:
    names: list[str] = []
    for thing in things:
        fields = thing.model_dump(mode="json")
        names += [str(fields[name]) for name in NAMING if fields.get(name)]
    return names


def risk_needs_approval(call: GateCall, terms: Terms) -> Ruling | None:
    """Where no policy of the desk's own decides."""
    tool = call.admitted_tool
    risky = tool.risk in (RiskLevel.HIGH, RiskLevel.CRITICAL)
    if terms.policy is not None or not risky or not _lasting(call):
        return None
    reason = f"{tool.name} is of {tool.risk} risk and no policy of this desk says when it may pass"
    return hold("risk_needs_approval", reason, LATER)


def unbound_authority(call: GateCall, terms: Terms) -> Ruling | None:
    """Where no policy of the desk's own decides: a plain text that names an object or an address
    binds to nobody."""
    if terms.policy is not None or not _lasting(call) or call.name == DELIVER:
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


def _lasting(call: GateCall) -> bool:
    return call.admitted_tool.effect in (EffectClass.KEYED, EffectClass.IRREVERSIBLE)
