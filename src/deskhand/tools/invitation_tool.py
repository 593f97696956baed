"""`read_invitation`: what an invitation in the message says, and whether the company is busy
then."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.model.booking import Span
from deskhand.model.message import Message
from deskhand.ports import Calendar
from deskhand.scheduling.invitations import CALENDAR_TYPES, Invitation, read_invitations
from deskhand.scheduling.slots import Offering
from deskhand.tools.calendar_tools import PATIENCE
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool

READ_INVITATION = "read_invitation"


def invitation_tool(
    calendar: Calendar, spec: CalendarSpec, message_of: Callable[[str], Awaitable[Message | None]]
) -> Tool:
    offering = spec.offering

    @tool(
        effect="read", name=READ_INVITATION, timeout=PATIENCE, outside=True
    )  # a sender wrote all of it
    async def read_invitation(ctx: Context) -> dict[str, Any]:
        """Read the calendar invitations of this message: what, when, who, and whether we are
        busy then."""
        message = await message_of(ctx.run_id)
        found = [] if message is None else invitations_in(message, offering)
        return {
            "time_zone": spec.zone,
            "invitations": [
                await _told(one, offering, calendar, message)
                for one in found
                if message is not None
            ],
        }

    return read_invitation


def invitations_in(message: Message, offering: Offering) -> list[Invitation]:
    """All that came with a message, each once: many programs attach the same one twice."""
    found: dict[tuple[str, str, Span], Invitation] = {}
    for attachment in message.attachments:
        if attachment.type.lower() in CALENDAR_TYPES and attachment.text:
            for one in read_invitations(attachment.text, offering.hours.zone):
                found.setdefault((one.method, one.uid, one.span), one)
    return list(found.values())


async def _told(
    one: Invitation, offering: Offering, calendar: Calendar, message: Message
) -> dict[str, Any]:
    start, end = (moment.astimezone(offering.hours.zone) for moment in one.span)
    told: dict[str, Any] = {
        "method": one.method,
        "what": one.what,
        "where": one.where,
        "start": _shown(start, one.all_day),
        "end": _shown(end, one.all_day),
        "all_day": one.all_day,
        "repeats": one.repeats,
        "organizer": one.organizer,
        "organizer_is_sender": one.organizer == message.sender.address.strip().lower(),
        "attendees": [{"address": who.address, "answer": who.answer} for who in one.attendees],
    }
    if one.method in ("request", "counter", "publish") and one.span.start < one.span.end:
        busy = await calendar.busy(one.span, (one.uid,))
        told["collides"] = bool(busy)
        told["in_working_hours"] = any(
            span.start <= one.span.start and one.span.end <= span.end
            for span in offering.hours.open(one.span)
        )
    return {name: value for name, value in told.items() if value not in ("", None)}


def _shown(moment: datetime, is_day: bool) -> str:
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="minutes")
