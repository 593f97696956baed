"""Context from contacts and the calendar: who writes, and when somebody is busy."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from deskhand.agents.retrieval import Asked, ContextPiece, Source
from deskhand.config.sections.calendar import CalendarSpec
from deskhand.ports import Calendar, Contacts
from deskhand.tools.contact_tool import shown

MEETINGS = frozenset({"meeting_request"})
"""Categories for which the calendar is looked at."""
_MOST_SPANS = 20


def contact_source(contacts: Contacts) -> Source:
    """What the desk knows of the sender, if he was proven to be himself; nothing of anybody
    else, and no notes."""

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        address = asked.principal.address
        contact = None if address is None else await contacts.find(address)
        if contact is None:
            return []
        said = {
            name.replace("_", " "): value
            for name, value in shown(contact).items()
            if name != "known"
        }
        text = "; ".join(f"{name}: {value}" for name, value in said.items())
        return [ContextPiece(f"The sender in our contacts: {text}", contact.address)]

    return Source("contact", find)


def calendar_source(calendar: Calendar, spec: CalendarSpec, now: Callable[[], float]) -> Source:
    """When the company is busy or has a holiday in the time that appointments are offered in;
    never busy with what."""

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        offering = spec.offering
        frame = offering.frame(datetime.fromtimestamp(now(), UTC))
        busy = sorted(await calendar.busy(frame))[:_MOST_SPANS]
        holidays = [
            f"{day} ({name})" for day, name in offering.hours.missed_holidays(frame).items()
        ]
        closed = f". We are closed on public holidays: {'; '.join(holidays)}" if holidays else ""
        if not busy:
            words = "Our calendar has no appointments in the days that can be offered"
            return [ContextPiece(words + closed, "calendar")]

        zone = offering.hours.zone

        def local(moment: datetime) -> str:
            return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"

        spans = [f"{local(span.start)} to {local(span.end)}" for span in busy]
        words = f"We are busy ({spec.zone}): {'; '.join(spans)}"
        return [ContextPiece(words + closed, "calendar")]

    return Source("calendar", find, MEETINGS)
