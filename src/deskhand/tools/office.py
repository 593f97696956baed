"""The tools every desk has for dealing with people: contacts and the calendar."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.ports import Calendar, Contacts
from deskhand.tools.answer_tool import answer_tool
from deskhand.tools.appointment_tools import cancel_tool, find_tool
from deskhand.tools.authority import Resolver, Slot
from deskhand.tools.calendar_tools import check_tool, hold_tool, slot_resolver
from deskhand.tools.contact_tool import contact_tool
from deskhand.tools.invitation_tool import invitation_tool
from deskhand.tools.registry import Tool


@dataclass(frozen=True, slots=True)
class Office:
    """What these tools work with."""

    contacts: Contacts
    calendar: Calendar
    spec: CalendarSpec
    now: Callable[[], float]
    message_of: Callable[[str], Awaitable[Message | None]]
    """The message a run works."""
    rehearses: bool = False
    """Whether times are only looked at, not held: what is captured leaves nothing in a company's
    calendar."""

    def tools(self, beside: Collection[str] = ()) -> list[Tool]:
        """All but those of which a desk has one of its own."""
        made = (
            contact_tool(self.contacts),
            check_tool(self.calendar, self.spec, self.now, self.message_of),
            invitation_tool(self.calendar, self.spec, self.message_of),
            answer_tool(
                self.calendar, self.spec, self.now, self.message_of, rehearses=self.rehearses
            ),
            hold_tool(self.calendar, self.spec, self.now, rehearses=self.rehearses),
            find_tool(self.calendar, self.spec, self.now),
            cancel_tool(self.calendar, self.spec, self.now, rehearses=self.rehearses),
        )
        return [tool for tool in made if tool.name not in beside]

    def resolvers(self, beside: Collection[Resolver] = ()) -> list[Resolver]:
        own = {resolver.kind for resolver in beside}
        return [] if Slot in own else [slot_resolver(self.spec, self.now)]

    async def acquainted(self, principal: Principal) -> Principal:
        """The principal with what the company wrote down about his address; a text he sent has
        no part in it."""
        if not principal.owns or principal.address is None:
            return principal
        contact = await self.contacts.known(principal.address)
        if contact is None:
            return principal
        return principal.changed(
            customer_id=principal.customer_id or contact.customer_id,
            tier=principal.tier or contact.tier,
            tags=contact.tags or None,
        )
