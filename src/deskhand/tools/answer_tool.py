"""`answer_invitation`: the time of an invitation is held and accepted, or declined; one called
off is given back."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.errors import Conflict, SlotTaken, ToolError
from deskhand.model.booking import Booking, BookingState, NewBooking
from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.ports import Calendar
from deskhand.scheduling.invitations import ACCEPTED, DECLINED, TENTATIVE, Invitation
from deskhand.scheduling.slots import Offering
from deskhand.tools.calendar_tools import PATIENCE, Now, looked_at
from deskhand.tools.context import Context
from deskhand.tools.invitation_tool import invitations_in
from deskhand.tools.registry import Tool, tool
from deskhand.tools.shapes import ANSWER_INVITATION as ANSWER_INVITATION

CANCELLED = "cancelled"
LONGEST = timedelta(hours=8)
"""A meeting that takes longer is for a person to accept."""


def answer_tool(
    calendar: Calendar,
    spec: CalendarSpec,
    now: Now,
    message_of: Callable[[str], Awaitable[Message | None]],
    *,
    rehearses: bool = False,
) -> Tool:
    offering = spec.offering

    async def held_already(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        booking = await calendar.find(key)
        return None if booking is None else _answer_fields(booking, offering)

    @tool(
        effect="keyed",
        name=ANSWER_INVITATION,
        probe=held_already,
        timeout=PATIENCE,
        rehearsable=True,
    )
    async def answer_invitation(principal: Principal, ctx: Context) -> dict[str, Any]:
        """Answer the invitation in this message: hold and accept a time that is free, give back
        one called off."""
        invitation = await _the_one(await message_of(ctx.run_id), principal, offering)
        moment = datetime.fromtimestamp(now(), UTC)
        if invitation.method == "cancel":
            return await _give_back(calendar, invitation, principal, moment, rehearses=rehearses)
        _check(invitation, offering, moment)
        new = NewBooking(
            key=ctx.effect_key,
            run_id=ctx.run_id,
            span=invitation.span,
            holder=principal.address or principal.customer_id,
            expires_at=(moment + spec.hold_for).timestamp(),
            uid=invitation.uid,
        )
        try:
            if await calendar.busy(invitation.span, (invitation.uid,)):
                return _answer(DECLINED, invitation, offering)
            held = await looked_at(calendar, new) if rehearses else await calendar.hold(new)
        except SlotTaken:
            return _answer(DECLINED, invitation, offering)
        except Conflict as error:
            raise ToolError("too_many_held", str(error)) from error
        return _answer_fields(held, offering)

    return answer_invitation


async def _the_one(message: Message | None, principal: Principal, offering: Offering) -> Invitation:
    """The invitation that the sender makes or calls off; a person must answer any other."""
    invitations = [] if message is None else await invitations_in(message, offering)
    asked = [invitation for invitation in invitations if invitation.method in ("request", "cancel")]
    if len(asked) != 1:
        raise ToolError(
            "not_answerable", f"the message brings {len(asked)} invitations; a person answers it"
        )
    if (
        not principal.address
        or asked[0].organizer != principal.address.strip().lower()
        or not asked[0].uid
    ):
        raise ToolError(
            "not_answerable", "the one who invites is not the one who wrote; a person answers it"
        )
    return asked[0]


def _check(invitation: Invitation, offering: Offering, now: datetime) -> None:
    """Raise ToolError where a person has to answer the invitation."""
    start, end = invitation.span.start, invitation.span.end
    problems = (
        (invitation.repeats, "it repeats"),
        (invitation.all_day, "it takes whole days"),
        (start >= end, "it takes no time"),
        (end - start > LONGEST, "it takes too long"),
        (start < now, "its time is over or has begun"),
        (end > offering.frame(now).end, "it is too far ahead"),
    )
    for applies, why in problems:
        if applies:
            raise ToolError("not_answerable", f"{why}: a person answers it")


async def _give_back(
    calendar: Calendar,
    invitation: Invitation,
    principal: Principal,
    now: datetime,
    *,
    rehearses: bool,
) -> dict[str, Any]:
    """What the organizer calls off is nobody's any more, as far as it was held for him."""
    whose = (principal.address, principal.customer_id)
    standing = [
        booking
        for booking in await calendar.bookings(after=now.timestamp())
        if booking.uid == invitation.uid
        and booking.holder in whose
        and booking.state is not BookingState.RELEASED
    ]
    for booking in standing:
        if not rehearses:
            await calendar.release(booking.key, "the organizer called it off")
    return {"answer": CANCELLED, CANCELLED: True, "held": False, "released": len(standing)}


def _answer_fields(booking: Booking, offering: Offering) -> dict[str, Any]:
    """What the organiser is told: accepted within working hours; outside of them a colleague has to
    want it."""
    open_then = any(
        span.start <= booking.span.start and booking.span.end <= span.end
        for span in offering.hours.open(booking.span)
    )
    answer = ACCEPTED if open_then else TENTATIVE
    return {
        "answer": answer,
        answer: True,
        "held": True,
        **_shown(booking.span.start, booking.span.end, offering),
    }


def _answer(answer: str, invitation: Invitation, offering: Offering) -> dict[str, Any]:
    return {
        "answer": answer,
        answer: True,
        "held": False,
        **_shown(invitation.span.start, invitation.span.end, offering),
    }


def _shown(start: datetime, end: datetime, offering: Offering) -> dict[str, str]:
    local = [
        moment.astimezone(offering.hours.zone).isoformat(timespec="minutes")
        for moment in (start, end)
    ]
    return {"start": local[0], "end": local[1], "date": local[0][:10]}
