"""The tools every desk has for dealing with people: contacts and the calendar."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.config.tool_shape import ToolShape
from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.ports import Calendar, Contacts
from deskhand.scheduling.wishes import WINDOW
from deskhand.tools.answer_tool import ANSWER_INVITATION, answer_tool
from deskhand.tools.appointment_tools import (
    CANCEL_APPOINTMENT,
    FIND_APPOINTMENT,
    cancel_tool,
    find_tool,
)
from deskhand.tools.authority import Resolver, Slot
from deskhand.tools.calendar_tools import (
    ASK_PERSON,
    CHECK_CALENDAR,
    HOLD_SLOT,
    check_tool,
    hold_tool,
    slot_resolver,
)
from deskhand.tools.contact_tool import GET_CONTACT, contact_tool
from deskhand.tools.invitation_tool import READ_INVITATION, invitation_tool
from deskhand.tools.registry import Tool

_ON = "the day the customer asks for, as 2026-11-16; leave it out when he names none"
_AT = "the time of day he asks for, as 14:30; leave it out when he names none"
_UNTIL = "the last day that suits him, where he names a week or another stretch of days"
_OR_ON = "another day that suits him as well"
_AFTER = "the time of day from which on it suits him, as 12:00 for an afternoon"
_BEFORE = "the time of day by which it must be over, as 12:00 for a morning"
_WITHIN = (
    'in place of all these, every stretch that suits him, as ["2026-11-24..2026-11-27 12:00-", '
    '"2026-11-26 15:00-17:00", "2026-12-01 10:30"]'
)
_ZONE = "the time zone that he lives by, as America/New_York; times are on the desk's clock"
_CHANGE = "what he wants to do with it"
_OLD_DAY = "its day, as 2026-11-16, where he names it"
_OLD_TIME = "its time of day, as 14:30, where he names it"


def _text(kind: str, description: str) -> dict[str, str]:
    return {"type": "string", "format": kind, "description": description}


_WISH: dict[str, Any] = {
    "on": _text("date", _ON),
    "until": _text("date", _UNTIL),
    "or_on": _text("date", _OR_ON),
    "at": _text("time", _AT),
    "after": _text("time", _AFTER),
    "before": _text("time", _BEFORE),
    "within": {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{WINDOW}$"},
        "description": _WITHIN,
    },
    "minutes": {
        "type": "integer",
        "minimum": 5,
        "maximum": 480,
        "description": "how long it should last, where he says so",
    },
    "zone": {"type": "string", "description": _ZONE},
}
_AGREED: dict[str, Any] = {
    "change": {"type": "string", "enum": ["move", "cancel"], "description": _CHANGE},
    "on": _text("date", _OLD_DAY),
    "at": _text("time", _OLD_TIME),
}
_APPOINTMENT: dict[str, Any] = {
    "type": "string",
    "description": "the appointment that find_appointment found",
}
_SLOT: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "the id of a time that check_calendar offered",
}

_CONTACT = frozenset(
    [
        "known",
        "reason",
        "name",
        "address",
        "company",
        "language",
        "customer_id",
        "tier",
        "first_seen",
        "last_seen",
        "messages",
    ]
)
_FREE_TIMES = frozenset(
    ["time_zone", "slots", "fitting", "wished", "asked", "slot", "holiday", ASK_PERSON]
)
_FOUND = frozenset(
    ["change", "move", "cancel", "found", "appointment", "start", "end", "date", ASK_PERSON]
)
_ANSWERED = frozenset(
    [
        "answer",
        "accepted",
        "tentative",
        "declined",
        "cancelled",
        "held",
        "released",
        "start",
        "end",
        "date",
    ]
)
_HELD = frozenset(["held", "state", "id", "start", "end", "date", "time", "until"])

OFFICE_SHAPES = {
    shape.name: shape
    for shape in (
        ToolShape(GET_CONTACT, "read", "low", returns=_CONTACT),
        ToolShape(CHECK_CALENDAR, "read", "low", _WISH, returns=_FREE_TIMES),
        ToolShape(READ_INVITATION, "read", "low", returns=frozenset(("time_zone", "invitations"))),
        ToolShape(ANSWER_INVITATION, "keyed", "low", returns=_ANSWERED),
        ToolShape(
            HOLD_SLOT,
            "keyed",
            "low",
            {"slot": _SLOT},
            frozenset(("slot",)),
            frozenset(("slot",)),
            returns=_HELD,
        ),
        ToolShape(FIND_APPOINTMENT, "read", "low", _AGREED, frozenset(("change",)), returns=_FOUND),
        ToolShape(
            CANCEL_APPOINTMENT,
            "keyed",
            "low",
            {"appointment": _APPOINTMENT},
            frozenset(("appointment",)),
            returns=frozenset(("released", "start", "end")),
        ),
    )
}
"""The same tools as configuration sees them, before there is anything they could work with."""


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
