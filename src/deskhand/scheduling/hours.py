"""Working hours: `{mon-fri: "9:00-12:00, 13:00-17:00"}` as spans of real time, also where clocks
are changed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from deskhand.model.booking import Span
from deskhand.scheduling.public_holidays import holiday_on
from deskhand.scheduling.spans import merged, within

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAYS = re.compile(rf"({'|'.join(DAYS)})(?:-({'|'.join(DAYS)}))?")
_TIMES = re.compile(r"([0-9]{1,2}):([0-9]{2})\s*-\s*([0-9]{1,2}):([0-9]{2})")
_DAY = 24 * 60

Opening = tuple[int, int]
"""From and until, in minutes of the local clock since midnight."""


class HoursUnreadable(ValueError):
    """Working hours that say nothing clear; the words say what to write."""


@dataclass(frozen=True, slots=True)
class Hours:
    """When somebody is there."""

    zone: ZoneInfo
    openings: Mapping[int, tuple[Opening, ...]]
    """By weekday, Monday being 0."""
    closed: frozenset[date] = field(default_factory=frozenset[date])
    """Days without hours, whatever weekday they are."""
    holidays: tuple[str, ...] = ()
    """The countries and regions whose public holidays have no hours either, as `CZ`."""

    def open(self, frame: Span) -> list[Span]:
        """The working hours inside the frame."""
        return merged(within(self.stretches(frame), frame))

    def stretches(self, frame: Span) -> Iterator[Span]:
        """Each day's hours, whole, of every day that the frame touches and one more at both
        ends."""
        day = frame.start.astimezone(self.zone).date() - timedelta(days=1)
        last = frame.end.astimezone(self.zone).date() + timedelta(days=1)
        while day <= last:
            for opening in self._openings_on(day):
                yield from shown_between(day, opening, self.zone)
            day += timedelta(days=1)

    def holiday(self, day: date) -> str | None:
        """The name of the public holiday that a day is; None where it is none."""
        return holiday_on(day, self.holidays)

    def missed_holidays(self, frame: Span) -> dict[date, str]:
        """The public holidays inside the frame on which somebody would be there otherwise, by
        name."""
        missed: dict[date, str] = {}
        day = frame.start.astimezone(self.zone).date()
        while day <= frame.end.astimezone(self.zone).date():
            name = self.holiday(day)
            if name is not None and day.weekday() in self.openings and day not in self.closed:
                missed[day] = name
            day += timedelta(days=1)
        return missed

    def _openings_on(self, day: date) -> tuple[Opening, ...]:
        openings = self.openings.get(day.weekday(), ())
        if not openings or day in self.closed or self.holiday(day) is not None:
            return ()
        return openings


def shown_between(day: date, opening: Opening, zone: ZoneInfo) -> list[Span]:
    """The real time during which a local clock shows something from the first up to the second.

    Mostly one span; two where the clock goes back and shows some of it again, none where it skips
    all of it.
    """
    midnight = datetime.combine(day, time(), tzinfo=UTC)
    window = Span(midnight - timedelta(hours=15), midnight + timedelta(hours=39))
    spans: list[Span] = []
    for part, ahead in _by_offset(window, zone):
        start, end = (midnight + timedelta(minutes=minutes) - ahead for minutes in opening)
        spans += within([Span(start, end)], part)
    return merged(spans)


def _by_offset(window: Span, zone: ZoneInfo) -> list[tuple[Span, timedelta]]:
    """The window cut where the zone's clocks are changed, each part with how far they are ahead
    of UTC."""
    first, last = (_ahead(moment, zone) for moment in (window.start, window.end))
    if first == last:
        return [(window, first)]
    before, after = window
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        if _ahead(middle, zone) == first:
            before = middle
        else:
            after = middle
    change = after.replace(microsecond=0)
    return [(Span(window.start, change), first), (Span(change, window.end), last)]


def _ahead(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def instant(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    """The moment at which a local clock shows this, or first shows something later where it
    skips it."""
    opening = (minutes, minutes + 36 * 60)
    spans = shown_between(day, opening, zone)
    return spans[0].start


def read_hours(written: Mapping[str, str]) -> dict[int, tuple[Opening, ...]]:
    """`{mon-fri: "9:00-17:00", sat: "9:00-12:00"}`; a day that is named twice has the hours of
    both."""
    by_day: dict[int, list[Opening]] = {}
    for days, times in written.items():
        openings = _openings(days, times)
        for day in _weekdays(days):
            by_day.setdefault(day, []).extend(openings)
    for day, openings in by_day.items():
        openings.sort()
        if any(earlier[1] > later[0] for earlier, later in pairwise(openings)):
            raise HoursUnreadable(f"the hours of {DAYS[day]} overlap")
    return {day: tuple(openings) for day, openings in sorted(by_day.items())}


def _weekdays(days: str) -> list[int]:
    matched = _DAYS.fullmatch(days.strip().lower())
    if matched is None:
        raise HoursUnreadable(f"`{days}` is no weekday; write `mon`, `tue`, ... or `mon-fri`")
    first = DAYS.index(matched[1])
    last = DAYS.index(matched[2] or matched[1])
    if last < first:
        last += 7  # over the weekend, as `sat-mon`
    return [day % 7 for day in range(first, last + 1)]


def _openings(days: str, times: str) -> list[Opening]:
    openings: list[Opening] = []
    for part in times.split(","):
        matched = _TIMES.fullmatch(part.strip())
        if matched is None:
            raise HoursUnreadable(
                f"`{part.strip()}` are no hours; write `9:00-17:00` or `9:00-12:00, 13:00-17:00`"
            )
        hours = [int(number) for number in matched.groups()]
        start, end = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
        if hours[1] > 59 or hours[3] > 59 or end > _DAY:
            raise HoursUnreadable(
                f"`{part.strip()}` is more than a day has; write times up to 24:00"
            )
        if start >= end:
            raise HoursUnreadable(f"the hours of {days} end before they begin: `{part.strip()}`")
        openings.append((start, end))
    return openings
