"""`read_invitation`: what an invitation says, and whether the company is busy then."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.model.booking import Span
from deskhand.model.message import Message
from deskhand.ports import Calendar
from deskhand.scheduling.invitations import CALENDAR_TYPES, Invitation
from deskhand.scheduling.limited_calendars import invitations_of
from deskhand.scheduling.slots import Offering
from deskhand.tools.calendar_tools import PATIENCE
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool
from deskhand.tools.shapes import READ_INVITATION as READ_INVITATION


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
        invitations = [] if message is None else await invitations_in(message, offering)
        return {
            "time_zone": spec.zone,
            "invitations": [
                await _invitation_fields(invitation, offering, calendar, message)
                for invitation in invitations
                if message is not None
            ],
        }

    return read_invitation


async def invitations_in(message: Message, offering: Offering) -> list[Invitation]:
    """All that came with a message, each once: many programs attach the same one twice."""
    texts = [
        attachment.text
        for attachment in message.attachments
        if attachment.type.lower() in CALENDAR_TYPES and attachment.text
    ]
    invitations: dict[tuple[str, str, Span], Invitation] = {}
    for invitation in await asyncio.to_thread(invitations_of, texts, offering.hours.zone):
        key = (invitation.method, invitation.uid, invitation.span)
        invitations.setdefault(key, invitation)
    return list(invitations.values())


async def _invitation_fields(
    invitation: Invitation, offering: Offering, calendar: Calendar, message: Message
) -> dict[str, Any]:
    start, end = (moment.astimezone(offering.hours.zone) for moment in invitation.span)
    fields: dict[str, Any] = {
        "method": invitation.method,
        "what": invitation.what,
        "where": invitation.where,
        "start": _shown(start, invitation.all_day),
        "end": _shown(end, invitation.all_day),
        "all_day": invitation.all_day,
        "repeats": invitation.repeats,
        "organizer": invitation.organizer,
        "organizer_is_sender": invitation.organizer == message.sender.address.strip().lower(),
        "attendees": [
            {"address": who.address, "answer": who.answer} for who in invitation.attendees
        ],
    }
    if (
        invitation.method in ("request", "counter", "publish")
        and invitation.span.start < invitation.span.end
    ):
        busy = await calendar.busy(invitation.span, (invitation.uid,))
        fields["collides"] = bool(busy)
        fields["in_working_hours"] = any(
            span.start <= invitation.span.start and invitation.span.end <= span.end
            for span in offering.hours.open(invitation.span)
        )
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _shown(moment: datetime, is_day: bool) -> str:
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="minutes")
