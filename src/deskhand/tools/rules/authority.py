"""Principal, read scope and object binding: the model has the sender's authority and nobody
else's."""

from deskhand.model.codes import ErrorCode
from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass
from deskhand.tools.authority import Authority, Customer, CustomerId
from deskhand.tools.gate_call import GateCall, Lookup, Ruling, Terms, deny, hold


def needs_a_customer(call: GateCall, terms: Terms) -> Ruling | None:
    """A tool that is given the customer cannot work for somebody nobody knows."""
    if call.principal.customer_id is not None:
        return None
    for filled in call.admitted_tool.signature.injected.values():
        if not filled.optional and issubclass(filled.kind, (Customer, CustomerId)):
            reason = (
                f"{call.name} works for a known customer only; this sender is not known"
                f" ({call.principal.how})"
            )
            return deny("needs_a_customer", reason, "It is not known who the customer is.")
    return None


def needs_a_principal(call: GateCall, terms: Terms) -> Ruling | None:
    """Nobody in particular may read what is public and ask for what can be undone; the rest
    waits for a person."""
    tool = call.admitted_tool
    lasting = tool.effect in (EffectClass.KEYED, EffectClass.IRREVERSIBLE)
    if not lasting or tool.public or tool.name == DELIVER or call.principal.may_act:
        return None
    reason = f"{tool.name} would act for a sender who is not authenticated ({call.principal.how})"
    return hold("needs_a_principal", reason, "A colleague has to look at this first.")


def read_scope(call: GateCall, terms: Terms) -> Ruling | None:
    """A tool that takes the customer as plain text gets the principal's or nothing."""
    named = call.canonical.get("customer_id")
    if named is None or (call.principal.owns and named == call.principal.customer_id):
        return None
    reason = (
        f"{call.name} was called for customer {named!r}, the principal is"
        f" {call.principal.customer_id!r}"
    )
    return deny("read_scope", reason, "This customer's data is not available here.")


def not_yours(call: GateCall, terms: Terms) -> Ruling | None:
    """What does not exist and what is somebody else's look the same from outside."""
    for lookup in call.lookups:
        if _own(call, lookup):
            continue
        noun = _noun(lookup.kind)
        whose = "is not the principal's" if lookup.things else "does not exist"
        reason = f"{lookup.argument}: {noun} {lookup.key!r} {whose} ({call.principal.how})"
        return deny(
            "not_yours",
            reason,
            f"There is no {noun} {lookup.key} of this customer.",
            ErrorCode.NOT_FOUND,
        )
    return None


def ambiguous_object(call: GateCall, terms: Terms) -> Ruling | None:
    """Several things answer to the key. A person may let it pass where only one of them is the
    principal's."""
    for lookup in call.lookups:
        if len(lookup.things) > 1:
            meanings = ", ".join(thing.id for thing in lookup.things[:5])
            reason = f"{lookup.argument}: {lookup.key!r} may mean {meanings}"
            alone = len(_own(call, lookup)) == 1
            return hold(
                "ambiguous_object", reason, "It is not clear which one is meant.", liftable=alone
            )
    return None


def not_offered(call: GateCall, terms: Terms) -> Ruling | None:
    for lookup in call.lookups:
        held = any(getattr(thing, "held_for", None) is not None for thing in _own(call, lookup))
        if (
            lookup.kind.must_be_offered
            and not held
            and (lookup.argument, lookup.key) not in call.offered
        ):
            reason = (
                f"{lookup.argument}: {_noun(lookup.kind)} {lookup.key!r} was not offered before"
            )
            return deny("not_offered", reason, f"{lookup.key} was not offered; offer it first.")
    return None


def _own(call: GateCall, lookup: Lookup) -> list[Authority]:
    return [thing for thing in lookup.things if thing.belongs_to(call.principal)]


def _noun(kind: type[Authority]) -> str:
    return kind.__name__.removeprefix("Owned").lower() or "thing"
