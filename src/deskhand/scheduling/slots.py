"""Slots: the times that may be offered, and which three of the free ones are."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours
from deskhand.scheduling.spans import merged
from deskhand.scheduling.wishes import Wish

OFFERED = 3
LONGEST = timedelta(hours=8)
"""An appointment that takes longer is for a person to make."""
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

    def free(
        self, now: datetime, busy: Iterable[Span], length: timedelta | None = None
    ) -> list[Span]:
        """The slots that nothing is in the way of; longer ones where a length is asked for."""
        taken = merged(busy)
        slots: list[Span] = []
        at = 0
        for slot in self._lengthened(now, length):
            while at < len(taken) and taken[at].end <= slot.start:
                at += 1
            if at == len(taken) or not taken[at].overlaps(slot):
                slots.append(slot)
        return slots

    def _lengthened(self, now: datetime, length: timedelta | None) -> Iterator[Span]:
        """The slots of the grid, each as long as was asked for, as far as they end in the hours."""
        if length is None or length <= self.slot:
            yield from self.grid(now)
            return
        open_spans = list(self.hours.open(self.frame(now)))
        for slot in self.grid(now):
            longer = Span(slot.start, slot.start + length)
            if any(span.start <= longer.start and longer.end <= span.end for span in open_spans):
                yield longer

    def holds(self, slot: Span, now: datetime) -> bool:
        """Whether this is one of the slots there could be."""
        length = slot.end - slot.start
        if length < self.slot or length > LONGEST:
            return False
        return any(offered == slot for offered in self._lengthened(now, length))


def propose(
    free: Sequence[Span], hours: Hours, wish: Wish | None = None, count: int = OFFERED
) -> list[Span]:
    """The slots to offer, in order of time: only such as the wish asks for, spread so that there
    is a choice.

    Where none of the free ones is what was asked for, those nearest to it.
    """
    wish = wish or Wish()
    fitting = [slot for slot in free if wish.fits(slot, hours)]
    if fitting:
        return sorted(_chosen(fitting, hours, wish, count))
    return nearest(free, hours, wish, count)


def nearest(free: Sequence[Span], hours: Hours, wish: Wish, count: int = OFFERED) -> list[Span]:
    """The slots that lie nearest to a wish, in order of time; within its hours if there are any."""
    suiting = [slot for slot in free if wish.suits(slot, hours)]
    if any(window.at is not None for window in wish.stretches):
        by_distance = sorted(free, key=lambda slot: (*_distance(slot, wish, hours), slot))
        return sorted(by_distance[:count])
    chosen = _chosen(suiting, hours, wish, count)
    others = [slot for slot in free if slot not in suiting]
    return sorted(chosen + _chosen(others, hours, wish, count - len(chosen)))


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


def _distance(slot: Span, wish: Wish, hours: Hours) -> tuple[int, int]:
    """Days and minutes from what was asked for."""
    return _days_off(slot, wish, hours), wish.minutes_off(slot.start.astimezone(hours.zone))


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
