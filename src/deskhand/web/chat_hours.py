"""When people are there to answer in a chat."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from deskhand.config.sections.chat import ChatSection
from deskhand.model.booking import Span
from deskhand.model.frozen import Frozen
from deskhand.scheduling.hours import Hours, read_hours

_AHEAD = timedelta(days=15)


class PeopleHours(Frozen):
    """Whether people are there now, and when they come."""

    here: bool
    until: str | None = None
    """When they leave, as ISO 8601 in the desk's time zone; None where they always are."""
    back_at: str | None = None
    """When they are there again; None while they are, and where nobody comes within two weeks."""


def people_hours(chat: ChatSection, zone: str, now: datetime | None = None) -> PeopleHours:
    """When people are there, by the `hours` of the chat; always where it has none."""
    if chat.hours is None:
        return PeopleHours(here=True)
    moment = now or datetime.now(UTC)
    local = ZoneInfo(zone)
    hours = Hours(local, read_hours(chat.hours))
    spans = hours.open(Span(moment, moment + _AHEAD))
    if not spans:
        return PeopleHours(here=False)
    first = spans[0]
    if first.start <= moment:
        return PeopleHours(here=True, until=_iso(first.end, local))
    return PeopleHours(here=False, back_at=_iso(first.start, local))


def _iso(moment: datetime, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).isoformat(timespec="minutes")
