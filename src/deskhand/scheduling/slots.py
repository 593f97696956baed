"""Slots: the times that may be offered, and which three of the free ones are."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby

from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours
from deskhand.scheduling.spans import merged

OFFERED = 3
_ID = re.compile(r"slot_([0-9]{8}T[0-9]{4})Z_([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Offering:
    """What a desk offers: how long a slot is, how soon and how far ahead it may begin."""

    hours: Hours
    slot: timedelta
    notice: timedelta
    horizon: timedelta

    def frame(self, now: datetime) -> Span:
        """The time in which slots may lie."""
        return Span(now + self.notice, now + self.horizon)

    def grid(self, now: datetime) -> Iterator[Span]:
        """Every slot there could be, in order: one after the other from the beginning of each
        stretch of hours."""
        frame = self.frame(now)
        earliest = frame.start
        for stretch in self.hours.stretches(frame):
            start = stretch.start
            while start + self.slot <= min(stretch.end, frame.end):
                if earliest <= start:
                    yield Span(start, start + self.slot)
                    earliest = (
                        start + self.slot
                    )  # a night in which the clock goes back is in two days' hours
                start += self.slot

    def free(self, now: datetime, busy: Iterable[Span]) -> list[Span]:
        """The slots that nothing is in the way of."""
        taken = merged(busy)
        slots: list[Span] = []
        at = 0
        for slot in self.grid(now):
            while at < len(taken) and taken[at].end <= slot.start:
                at += 1
            if at == len(taken) or not taken[at].overlaps(slot):
                slots.append(slot)
        return slots

    def holds(self, slot: Span, now: datetime) -> bool:
        """Whether this is one of the slots there could be."""
        return any(offered == slot for offered in self.grid(now))


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

    @property
    def moment(self) -> tuple[date, time] | None:
        """The one time that is asked for; None where there is a choice."""
        if (
            self.day is None
            or self.at is None
            or self.or_day is not None
            or (self.until or self.day) != self.day
        ):
            return None
        return self.day, self.at

    @property
    def says_something(self) -> bool:
        return self != Wish()

    def days_off(self, day: date) -> int:
        """How far a day is from the nearest that suits."""
        if self.day is None:
            return 0
        last = max(self.day, self.until or self.day)
        near = (
            0
            if self.day <= day <= last
            else min(abs((day - self.day).days), abs((day - last).days))
        )
        return near if self.or_day is None else min(near, abs((day - self.or_day).days))

    def suits(self, slot: Span, hours: Hours) -> bool:
        """Whether a slot is on one of the days and within the time of day; the very minute is
        not asked for."""
        start, end = (moment.astimezone(hours.zone) for moment in slot)
        early = self.after is not None and start.time() < self.after
        late = self.before is not None and (end.time() > self.before or end.date() > start.date())
        return self.days_off(start.date()) == 0 and not early and not late


def propose(
    free: Sequence[Span], hours: Hours, wish: Wish | None = None, count: int = OFFERED
) -> list[Span]:
    """The slots to offer, in order of time: those nearest to the wish, the others such that
    there is a choice."""
    wish = wish or Wish()
    if wish.at is not None:
        at = wish.at
        nearest = sorted(
            free,
            key=lambda slot: (_days_off(slot, wish, hours), _minutes_off(slot, at, hours), slot),
        )
        return sorted(nearest[:count])
    fitting = list(free)
    if wish.says_something:
        fitting = [slot for slot in free if wish.suits(slot, hours)]
    chosen = _chosen(fitting, hours, wish, count)
    if len(chosen) < count:
        chosen += _chosen(
            [slot for slot in free if slot not in fitting], hours, wish, count - len(chosen)
        )
    return sorted(chosen)


def _chosen(free: Sequence[Span], hours: Hours, wish: Wish, count: int) -> list[Span]:
    """Day by day from the nearest on; where a stretch of days suits, one slot a half day of all
    of them."""
    chosen: list[Span] = []
    by_day = sorted(free, key=lambda slot: (_days_off(slot, wish, hours), slot))
    for _, several in groupby(by_day, key=lambda slot: _days_off(slot, wish, hours)):
        chosen += _spread(list(several), hours, count - len(chosen))
    return chosen


def _spread(free: Sequence[Span], hours: Hours, count: int) -> list[Span]:
    """The first slot of each half day; what is missing then is filled up from the front."""
    halves: dict[tuple[date, bool], Span] = {}
    for slot in free:
        local = slot.start.astimezone(hours.zone)
        halves.setdefault((local.date(), local.hour < 12), slot)
    first = list(halves.values())[:count]
    rest = [slot for slot in free if slot not in first]
    return [*first, *rest[: count - len(first)]]


def _days_off(slot: Span, wish: Wish, hours: Hours) -> int:
    return wish.days_off(slot.start.astimezone(hours.zone).date())


def _minutes_off(slot: Span, at: time, hours: Hours) -> int:
    local = slot.start.astimezone(hours.zone)
    return abs((local.hour - at.hour) * 60 + local.minute - at.minute)


def slot_id(slot: Span) -> str:
    """`slot_20261116T0900Z_30`: says all there is to say, so that nothing needs to be remembered
    about an offer."""
    start = slot.start.astimezone(UTC)
    minutes = round((slot.end - slot.start).total_seconds() / 60)
    return f"slot_{start:%Y%m%dT%H%M}Z_{minutes}"


def read_slot_id(text: str) -> Span | None:
    matched = _ID.fullmatch(text)
    if matched is None:
        return None
    try:
        start = datetime.strptime(matched[1], "%Y%m%dT%H%M").replace(tzinfo=UTC)
        return Span(start, start + timedelta(minutes=int(matched[2])))
    except (ValueError, OverflowError):
        return None
