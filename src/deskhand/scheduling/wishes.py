"""When somebody would like to meet: stretches of days, each with its own times of day."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}"
WINDOW = rf"(?:\*|{_DAY}(?:\.\.{_DAY})?)(?: (?:{_CLOCK}|(?:{_CLOCK})?-(?:{_CLOCK})?))?"
"""How a window is written: `2026-11-24..2026-11-27 12:00-`, `2026-11-26 10:30`, `* -12:00`."""
_WINDOW = re.compile(
    rf"(?:\*|({_DAY})(?:\.\.({_DAY}))?)(?: (?:({_CLOCK})|({_CLOCK})?-({_CLOCK})?))?"
)


@dataclass(frozen=True, slots=True)
class Window:
    """Days from the first to the last, and the times of day that suit on them."""

    first: date | None = None
    """None where every day suits."""
    last: date | None = None
    at: time | None = None
    after: time | None = None
    before: time | None = None

    def holds_day(self, day: date) -> bool:
        return self.first is None or self.first <= day <= (self.last or self.first)

    def holds(self, slot: Span, hours: Hours) -> bool:
        """Whether a slot is on one of the days and within the time of day; the very minute of
        `at` is not asked for."""
        start, end = (moment.astimezone(hours.zone) for moment in slot)
        early = self.after is not None and start.time() < self.after
        late = self.before is not None and (end.time() > self.before or end.date() > start.date())
        return self.holds_day(start.date()) and not early and not late

    def days_off(self, day: date) -> int:
        """How far a day is from the nearest that suits."""
        if self.first is None or self.holds_day(day):
            return 0
        last = max(self.first, self.last or self.first)
        return min(abs((day - self.first).days), abs((day - last).days))

    def written(self) -> str:
        """The window as text that `read_window` reads."""
        days = "*"
        if self.first is not None:
            days = self.first.isoformat()
            if self.last is not None and self.last != self.first:
                days += f"..{self.last.isoformat()}"
        if self.at is not None:
            return f"{days} {self.at:%H:%M}"
        if self.after is None and self.before is None:
            return days
        return f"{days} {_shown(self.after)}-{_shown(self.before)}"


def _shown(clock: time | None) -> str:
    return "" if clock is None else f"{clock:%H:%M}"


def read_window(text: str) -> Window:
    """The window that is written like this; ValueError where none is."""
    matched = _WINDOW.fullmatch(text)
    if matched is None:
        raise ValueError(f"{text!r} is no window: write it like 2026-11-24..2026-11-27 12:00-17:00")
    first, last, *clocks = matched.groups()
    at, after, before = map(_clock, clocks)
    return Window(_day(first), _day(last), at, after, before)


def _day(written: str | None) -> date | None:
    return None if written is None else date.fromisoformat(written)


def _clock(written: str | None) -> time | None:
    return None if written is None else time.fromisoformat(written)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the customer asks for, on the desk's clock: days, a time of day, or both."""

    day: date | None = None
    at: time | None = None
    until: date | None = None
    """The last day that suits him, where a week or any other stretch of days does."""
    or_day: date | None = None
    """Another day that suits him, or that his words may mean."""
    after: time | None = None
    before: time | None = None
    """When it should begin and end at the outside: `in the afternoon` is after 12:00."""
    windows: tuple[Window, ...] = ()
    """All that suits him, where days and times of day alone cannot say it."""
    minutes: int | None = None
    """How long it should last."""
    zone: str | None = None
    """The zone in which he named the times, where its clocks differ from the desk's."""
    change: str | None = None
    """`move` or `cancel`, where he speaks of an appointment that was agreed."""
    old: tuple[date, time | None] | None = None
    """When that appointment is, as far as he says."""
    unclear: tuple[str, ...] = ()
    """The words about time that were not understood: then a person must look."""

    @property
    def person(self) -> bool:
        """Whether a person must look before anything is answered."""
        return bool(self.unclear or self.change)

    @property
    def stretches(self) -> tuple[Window, ...]:
        """All windows that suit; one without limits where nothing is said."""
        if self.windows:
            return self.windows
        first = Window(self.day, self.until, self.at, self.after, self.before)
        if self.or_day is None:
            return (first,)
        return first, Window(self.or_day, None, self.at, self.after, self.before)

    @property
    def moment(self) -> tuple[date, time] | None:
        """The one time that is asked for; None where there is a choice."""
        if len(self.stretches) != 1:
            return None
        [only] = self.stretches
        if only.first is None or only.at is None or (only.last or only.first) != only.first:
            return None
        return only.first, only.at

    @property
    def says_something(self) -> bool:
        return self.stretches != (Window(),)

    def days_off(self, day: date) -> int:
        """How far a day is from the nearest that suits."""
        return min(window.days_off(day) for window in self.stretches)

    def suits(self, slot: Span, hours: Hours) -> bool:
        """Whether a slot is on one of the days and within the time of day; the very minute is
        not asked for."""
        return any(window.holds(slot, hours) for window in self.stretches)

    def fits(self, slot: Span, hours: Hours) -> bool:
        """Whether a slot is what was asked for, to the minute."""
        return any(_meets(window, slot, hours) for window in self.stretches)

    def minutes_off(self, start: datetime) -> int:
        """How far a beginning is from the nearest time of day that is asked for."""
        clocks = [window.at for window in self.stretches if window.at is not None]
        distances = [abs((start.hour - at.hour) * 60 + start.minute - at.minute) for at in clocks]
        return min(distances, default=0)


def _meets(window: Window, slot: Span, hours: Hours) -> bool:
    start = slot.start.astimezone(hours.zone).time()
    return (window.at is None or start == window.at) and window.holds(slot, hours)


def wish_of(windows: tuple[Window, ...]) -> Wish:
    """The wish for these windows, in days and times of day where they can say it."""
    if not windows:
        return Wish()
    limits = {(window.at, window.after, window.before) for window in windows}
    if len(limits) == 1 and len(windows) <= 2:
        [(at, after, before)] = limits
        head, *others = windows
        single = all((window.last or window.first) == window.first for window in windows)
        if not others:
            until = None if head.last == head.first else head.last
            return Wish(head.first, at, until, None, after, before)
        if single:
            return Wish(head.first, at, None, others[0].first, after, before)
    return Wish(windows=windows)
