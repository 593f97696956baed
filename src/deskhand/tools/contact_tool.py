"""`get_contact`: what the desk knows about whoever writes, and about nobody else."""

from datetime import UTC, datetime
from typing import Any

from deskhand.model.contact import Contact
from deskhand.model.principal import Principal
from deskhand.ports import Contacts
from deskhand.tools.registry import Tool, tool
from deskhand.tools.shapes import GET_CONTACT as GET_CONTACT


def contact_tool(contacts: Contacts) -> Tool:
    @tool(
        effect="read", name=GET_CONTACT, outside=True
    )  # his name is what he wrote himself: it backs no promise
    async def get_contact(principal: Principal) -> dict[str, Any]:
        """Look up what is known about the sender of this message: name, language, since when,
        how many messages."""
        if principal.address is None:
            return {"known": False, "reason": principal.how}
        contact = await contacts.find(principal.address)
        return {"known": False} if contact is None else shown(contact)

    return get_contact


def shown(contact: Contact) -> dict[str, Any]:
    """What a person may hear about himself: neither notes nor tags, which colleagues wrote for
    each other."""
    said = {
        "name": contact.name,
        "address": contact.address,
        "company": contact.company,
        "language": contact.language,
        "customer_id": contact.customer_id,
        "tier": contact.tier,
        "plan": contact.plan,
        "region": contact.region,
        "first_seen": _day(contact.first_seen),
        "last_seen": _day(contact.last_seen),
    }
    return {
        "known": True,
        **{name: value for name, value in said.items() if value},
        "messages": contact.messages,
    }


def _day(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).date().isoformat()
