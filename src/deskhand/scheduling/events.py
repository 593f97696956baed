"""Calendar data (iCalendar) as busy time: recurring events expanded, what does not block anybody
left out."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from deskhand.model.booking import Span
from deskhand.scheduling.recurrence import RuleUnreadable, read_rule
from deskhand.scheduling.spans import within

if TYPE_CHECKING:
    from icalendar import Component

log = logging.getLogger("deskhand.calendar")

LONGEST = timedelta(days=62)
"""How long one event may take; what is longer is cut there."""
MOST_EVENTS = 20_000


class CalendarUnreadable(ValueError):
    """This is no calendar data."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time as an event gives it: on some clock, or a whole day."""

    shown: datetime
    """What the clock shows; midnight for a day."""
    zone: tzinfo
    is_day: bool

    @property
    def at(self) -> datetime:
        return self.shown.replace(tzinfo=self.zone).astimezone(UTC)

    def moved(self, shown: datetime) -> "Moment":
        return Moment(shown, self.zone, self.is_day)


def parse_calendar(raw: bytes | str) -> "list[Component]":
    """The calendars in a file; a file may hold several."""
    from icalendar import Calendar

    try:
        calendars: list[Component] = list(Calendar.from_ical(raw, multiple=True))
    except Exception as error:  # the library raises all kinds of errors on broken data
        raise CalendarUnreadable(f"this is no calendar data: {str(error)[:200]}") from None
    if not calendars or any(calendar.name != "VCALENDAR" for calendar in calendars):
        raise CalendarUnreadable(
            "this is no calendar data: it holds no calendar, or only the beginning of one"
        )
    return calendars


def busy_in(
    calendars: "Iterable[Component]", frame: Span, zone: ZoneInfo, beside: Collection[str] = ()
) -> list[Span]:
    """When somebody is busy, within the frame; `zone` is where days and times without a zone are
    meant.

    Events that are transparent or cancelled block nobody; those with one of the uids `beside` are
    not looked at.
    """
    busy: list[Span] = []
    series: dict[str, list[Component]] = {}
    for calendar in calendars:
        for number, component in enumerate(calendar.walk()):
            if number > MOST_EVENTS:
                raise CalendarUnreadable(f"the calendar holds more than {MOST_EVENTS} events")
            if component.name == "VEVENT":
                uid = str(component.get("UID", id(component)))
                if uid not in beside:
                    series.setdefault(uid, []).append(component)
            elif component.name == "VFREEBUSY":
                busy += _free_busy(component)
    for events in series.values():
        busy += _spans_of(events, frame, zone)
    return within(busy, frame)


def blocks(event: "Component") -> bool:
    """Whether an event keeps anybody from something else."""
    transparent = str(event.get("TRANSP", "")).upper() == "TRANSPARENT"
    return not transparent and str(event.get("STATUS", "")).upper() != "CANCELLED"


def moment_of(event: "Component", name: str, zone: ZoneInfo) -> Moment | None:
    prop: Any = event.get(name)
    value = getattr(prop[0] if isinstance(prop, list) else prop, "dt", None)
    return None if not isinstance(value, date) else as_moment(value, zone)


def as_moment(value: date, zone: ZoneInfo) -> Moment:
    if not isinstance(value, datetime):
        return Moment(datetime.combine(value, time()), zone, True)
    return Moment(value.replace(tzinfo=None), value.tzinfo or zone, False)


def first_span(event: "Component", zone: ZoneInfo) -> Span | None:
    """When an event takes place the first time."""
    start = moment_of(event, "DTSTART", zone)
    return None if start is None else _span(event, start, zone)


# --- one series of events


def _spans_of(events: "Sequence[Component]", frame: Span, zone: ZoneInfo) -> Iterator[Span]:
    """The occurrences of all events with one uid: those that were changed stand for themselves."""
    changed = {
        moment.at: event
        for event in events
        if (moment := moment_of(event, "RECURRENCE-ID", zone)) is not None
    }
    for event in events:
        start = moment_of(event, "DTSTART", zone)
        if start is None:
            continue
        if event.get("RECURRENCE-ID") is not None:
            if blocks(event):
                yield _span(event, start, zone)
            continue
        for moment in _occurrences(event, start, frame, zone):
            if moment.at in changed:
                continue
            by, shifted = _from_then_on(changed, moment, zone) or (event, moment)
            if blocks(by):
                yield _span(by, shifted, zone)


def _occurrences(
    event: "Component", start: Moment, frame: Span, zone: ZoneInfo
) -> Iterator[Moment]:
    left_out = {moment.at for moment in _listed(event, "EXDATE", zone)}
    moments = [start, *_listed(event, "RDATE", zone)]
    lower, upper = (bound.astimezone(start.zone).replace(tzinfo=None) for bound in frame)
    rules: Any = event.get("RRULE")
    for written in as_list(rules):
        try:
            rule = read_rule(
                {str(name).upper(): several for name, several in written.items()},
                _until(written, start),
            )
        except RuleUnreadable as error:
            log.warning("an event's rule is not read, only its first time counts: %s", error)
            continue
        struck = rule.between(start.shown, lower - LONGEST, upper + timedelta(days=1))
        moments += [start.moved(moment) for moment in struck]
    for moment in {moment.at: moment for moment in moments}.values():
        if moment.at not in left_out:
            yield moment


def _from_then_on(
    changed: "dict[datetime, Component]", moment: Moment, zone: ZoneInfo
) -> "tuple[Component, Moment] | None":
    """The change (THISANDFUTURE) that an occurrence goes by, and when it takes place because of
    it."""
    latest: tuple[datetime, Component] | None = None
    for at, event in changed.items():
        range_of = getattr(event.get("RECURRENCE-ID"), "params", {}).get("RANGE", "")
        if (
            str(range_of).upper() == "THISANDFUTURE"
            and at <= moment.at
            and (latest is None or at > latest[0])
        ):
            latest = (at, event)
    if latest is None:
        return None
    began, was = moment_of(latest[1], "DTSTART", zone), moment_of(latest[1], "RECURRENCE-ID", zone)
    if began is None or was is None:
        return None
    return latest[1], began.moved(moment.shown + (began.shown - was.shown))


def _until(written: Any, start: Moment) -> datetime | None:
    """The last moment of a rule, on the event's own clock; a day includes all of itself."""
    several = written.get("UNTIL")
    value = several[0] if isinstance(several, list) and several else several
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        return datetime.combine(value, time(23, 59, 59))
    return value.astimezone(start.zone).replace(tzinfo=None) if value.tzinfo is not None else value


def as_list(value: Any) -> list[Any]:
    """A property of a calendar, which may stand there several times, once or not at all."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _listed(event: "Component", name: str, zone: ZoneInfo) -> Iterator[Moment]:
    """The moments of EXDATE or RDATE, which may stand there several times."""
    lists: Any = event.get(name)
    for dates in as_list(lists):
        for value in getattr(dates, "dts", ()):
            moment = value.dt[0] if isinstance(value.dt, tuple) else value.dt
            if isinstance(moment, date):
                yield as_moment(moment, zone)


def _span(event: "Component", start: Moment, zone: ZoneInfo) -> Span:
    """From this beginning, as long as the event says: by the clock where it gives an end, else
    by its duration."""
    own = moment_of(event, "DTSTART", zone)
    end = moment_of(event, "DTEND", zone)
    lasts: Any = getattr(event.get("DURATION"), "dt", None)
    if own is not None and end is not None:
        length = min(max(end.shown - own.shown, timedelta()), LONGEST)
        if own.zone == end.zone or own.is_day:
            return Span(start.at, start.moved(start.shown + length).at)
        return Span(start.at, start.at + min(max(end.at - own.at, timedelta()), LONGEST))
    if isinstance(lasts, timedelta) and not start.is_day:
        return Span(start.at, start.at + min(max(lasts, timedelta()), LONGEST))
    if start.is_day:
        days = max(lasts if isinstance(lasts, timedelta) else timedelta(days=1), timedelta(days=1))
        return Span(start.at, start.moved(start.shown + min(days, LONGEST)).at)
    return Span(start.at, start.at)


def _free_busy(component: "Component") -> Iterator[Span]:
    """What somebody else's free/busy data says is not free."""
    lists: Any = component.get("FREEBUSY")
    for period in as_list(lists):
        kind = str(getattr(period, "params", {}).get("FBTYPE", "BUSY")).upper()
        value: Any = getattr(period, "dt", None)
        if kind == "FREE" or not isinstance(value, tuple) or not isinstance(value[0], datetime):
            continue
        start = value[0] if value[0].tzinfo else value[0].replace(tzinfo=UTC)
        end = start + value[1] if isinstance(value[1], timedelta) else value[1]
        yield Span(
            start.astimezone(UTC), (end if end.tzinfo else end.replace(tzinfo=UTC)).astimezone(UTC)
        )
