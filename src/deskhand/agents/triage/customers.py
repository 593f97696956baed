"""`customer_lookup`: what is known about whoever wrote, for a proven customer alone."""

from typing import Any

from deskhand.model.contact import Contact
from deskhand.model.message import Message
from deskhand.model.ticket_request import asserted_info
from deskhand.ports import Contacts

ASKED = ("plan", "tenure_months", "seats", "region")


async def customer_lookup(contacts: Contacts, message: Message) -> dict[str, Any]:
    """Plan, tenure, seats and region of the customer, as far as known.

    What a program asserted with the message stands before what the contacts say. Nothing is known
    about somebody for whom nobody vouched.
    """
    if not message.principal.may_act:
        return {}
    contact = await _contact(contacts, message)
    info: dict[str, Any] = {}
    for name in ASKED:
        value = getattr(contact, name, None)
        if value is not None:
            info[name] = value
    return info | asserted_info(message).model_dump(exclude_none=True)


async def customer_marks(contacts: Contacts, message: Message) -> dict[str, Any]:
    """Tier and tags, by which conditions may call a customer important; no model reads them."""
    if not message.principal.may_act:
        return {"tier": None, "tags": []}
    contact = await _contact(contacts, message)
    tier = message.principal.tier
    if contact is None:
        return {"tier": tier, "tags": []}
    return {"tier": contact.tier or tier, "tags": list(contact.tags)}


async def _contact(contacts: Contacts, message: Message) -> Contact | None:
    principal = message.principal
    if principal.customer_id is not None:
        people = await contacts.of_customer(principal.customer_id)
        own = [person for person in people if person.address == principal.address]
        described = [person for person in people if person.plan is not None]
        if own or people:
            return (own or described or list(people))[0]
    if principal.address is None:
        return None
    contact = await contacts.known(principal.address)
    if contact is None or principal.customer_id not in (None, contact.customer_id):
        return None
    return contact
