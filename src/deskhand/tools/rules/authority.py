"""Principal, read scope and object binding: the model has the sender's authority and nobody
else's."""

from deskhand.model.codes import ErrorCode
from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass
from deskhand.tools.authority import Authority, Customer, CustomerId
from deskhand.tools.case import Case, Lookup, Ruling, Terms, deny, hold


def needs_a_customer(case: Case, terms: Terms) -> Ruling | None:
    """A tool that is given the customer cannot work for somebody nobody knows."""
    if case.principal.customer_id is not None:
        return None
    for filled in case.called.signature.injected.values():
        if not filled.optional and issubclass(filled.kind, (Customer, CustomerId)):
            reason = (
                f"{case.name} works for a known customer only; this sender is not known"
                f" ({case.principal.how})"
            )
            return deny("needs_a_customer", reason, "It is not known who the customer is.")
    return None


def needs_a_principal(case: Case, terms: Terms) -> Ruling | None:
    """Nobody in particular may read what is public and ask for what can be undone; the rest
    waits for a person."""
    tool = case.called
    lasting = tool.effect in (EffectClass.KEYED, EffectClass.IRREVERSIBLE)
    if not lasting or tool.public or tool.name == DELIVER or case.principal.may_act:
        return None
    reason = f"{tool.name} would act for a sender who is not authenticated ({case.principal.how})"
    return hold("needs_a_principal", reason, "A colleague has to look at this first.")


def read_scope(case: Case, terms: Terms) -> Ruling | None:
    """A tool that takes the customer as plain text gets the principal's or nothing."""
    named = case.canonical.get("customer_id")
    if named is None or (case.principal.owns and named == case.principal.customer_id):
        return None
    reason = (
        f"{case.name} was called for customer {named!r}, the principal is"
        f" {case.principal.customer_id!r}"
    )
    return deny("read_scope", reason, "This customer's data is not available here.")


def not_yours(case: Case, terms: Terms) -> Ruling | None:
    """What does not exist and what is somebody else's look the same from outside."""
    for lookup in case.lookups:
        if _own(case, lookup):
            continue
        noun = _noun(lookup.kind)
        whose = "is not the principal's" if lookup.found else "does not exist"
        reason = f"{lookup.argument}: {noun} {lookup.key!r} {whose} ({case.principal.how})"
        return deny(
            "not_yours",
            reason,
            f"There is no {noun} {lookup.key} of this customer.",
            ErrorCode.NOT_FOUND,
        )
    return None


def ambiguous_object(case: Case, terms: Terms) -> Ruling | None:
    """Several things answer to the key. A person may let it pass where only one of them is the
    principal's."""
    for lookup in case.lookups:
        if len(lookup.found) > 1:
            found = ", ".join(one.id for one in lookup.found[:5])
            reason = f"{lookup.argument}: {lookup.key!r} may mean {found}"
            alone = len(_own(case, lookup)) == 1
            return hold(
                "ambiguous_object", reason, "It is not clear which one is meant.", liftable=alone
            )
    return None


def not_offered(case: Case, terms: Terms) -> Ruling | None:
    for lookup in case.lookups:
        held = any(getattr(one, "held_for", None) is not None for one in _own(case, lookup))
        if (
            lookup.kind.must_be_offered
            and not held
            and (lookup.argument, lookup.key) not in case.offered
        ):
            reason = (
                f"{lookup.argument}: {_noun(lookup.kind)} {lookup.key!r} was not offered before"
            )
            return deny("not_offered", reason, f"{lookup.key} was not offered; offer it first.")
    return None


def _own(case: Case, lookup: Lookup) -> list[Authority]:
    return [one for one in lookup.found if one.belongs_to(case.principal)]


def _noun(kind: type[Authority]) -> str:
    return kind.__name__.removeprefix("Owned").lower() or "thing"
