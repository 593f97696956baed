"""From what the sentences of a text say to the days and hours that suit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from deskhand.language.meeting_times import hours_of_day
from deskhand.language.meeting_times.day_ranges import week_around
from deskhand.language.meeting_times.day_spot import Days, DaySpot, bounded
from deskhand.language.meeting_times.hours_of_day import WHOLE, HoursOfDay
from deskhand.language.meeting_times.time_marks import Place
from deskhand.language.meeting_times.wish_groups import Group

FARTHEST = 60
"""Days from today on that are looked at where the text names none."""
_FEW = 3
_SINGLES = 4
"""So many days were named one by one; more are a stretch."""


@dataclass(slots=True)
class WishedDays:
    """What suits, sentence after sentence."""

    today: date
    week: Days | None
    """The one week that the text speaks of."""
    hours: dict[date, HoursOfDay] = field(default_factory=dict[date, HoursOfDay])
    general: HoursOfDay = WHOLE
    """Hours that count for every day."""
    is_open: bool = True
    """Whether no day was named."""
    one_by_one: bool = False
    refused: list[tuple[list[date] | None, HoursOfDay | None]] = field(
        default_factory=list[tuple[list[date] | None, HoursOfDay | None]]
    )
    scopes: list[DaySpot] = field(default_factory=list[DaySpot])
    stated: list[Group] = field(default_factory=list[Group])
    far_apart: list[DaySpot] = field(default_factory=list[DaySpot])
    """Days beside a stretch that another sentence named: they may not be meant for a meeting."""
    contradicts: bool = False
    """Whether hours that stand together leave nothing together: not all were understood."""

    def take(self, groups: Iterable[Group]) -> None:
        """Add what one sentence says."""
        groups = list(groups)
        self.contradicts |= any(group.contradicts for group in groups)
        self.stated += [group for group in groups if group.stated]
        groups = [group for group in groups if not group.stated]
        for group in groups:
            if group.refused:
                self._refuse(group)
        wished = [group for group in groups if not group.refused]
        named = [group for group in wished if self._named(group)]
        if named:
            self._wish(named)
        for group in wished:
            if group not in named and group.hours is not None:
                self._limit(group.hours)

    def result(self) -> dict[date, HoursOfDay]:
        """Hours by day, without what was refused; empty where nothing is left."""
        if self.is_open and self.scopes:
            self._wish([Group(self.scopes)])
        days = dict(self.hours)
        if self.is_open:
            days = {self.today + timedelta(days=ahead): WHOLE for ahead in range(FARTHEST)}
        left: dict[date, HoursOfDay] = {}
        for day, hours in sorted(days.items()):
            kept = hours_of_day.both(hours, self.general)
            for refused_days, refused_hours in self.refused:
                if refused_days is None or day in refused_days:
                    kept = hours_of_day.without(kept, refused_hours or WHOLE)
            if kept and day >= self.today:
                left[day] = kept
        return left

    def doubtful(self) -> list[Place]:
        """The places that only tell something about times, where that matters.

        What lies outside of all that suits, or holds all of it, changes nothing either way.
        """
        left = self.result()
        places = [(spot.start, spot.end) for spot in self.far_apart]
        for group in self.stated:
            if self._cuts(group, left):
                places += group.places
        return places

    def _cuts(self, group: Group, left: dict[date, HoursOfDay]) -> bool:
        if self.is_open and self._all_days(group.days):
            return True
        days = set(self._all_days(group.days)) if group.days else set(left)
        shared = {
            day: hours_of_day.both(hours, group.hours or WHOLE)
            for day, hours in left.items()
            if day in days
        }
        touched = {day: hours for day, hours in shared.items() if hours}
        return bool(touched) and touched != left

    def calls_off(self) -> bool:
        """Whether all that is said is that a certain day or time does not suit."""
        if not self.is_open or self.general != WHOLE or self.scopes:
            return False
        return any(days is not None and len(days) <= _FEW for days, _ in self.refused)

    # --- one thing that is said

    def _named(self, group: Group) -> bool:
        """Whether a group names days of its own: a week does not where one of its days is
        named."""
        return any(self._days_of(spot, group.days) for spot in group.days)

    def _wish(self, groups: Sequence[Group]) -> None:
        fresh = self._hours_of(groups)
        if not fresh or self._is_reason(fresh):
            return
        if not self.is_open and self.week is not None and set(fresh) == set(_each(self.week)):
            return  # it says in which week the days are that were named before
        inside = not self.is_open and set(fresh) <= set(self.hours)
        if self.is_open or (inside and not self.one_by_one):
            self.hours = fresh
            self.one_by_one = len(fresh) <= _SINGLES
        elif inside:
            narrowed = {day: hours_of_day.both(self.hours[day], fresh[day]) for day in fresh}
            self.hours |= narrowed
        else:
            if max(len(self.hours), len(fresh)) > _SINGLES:
                self.far_apart += [spot for group in groups for spot in group.days]
            joined = {day: self.hours.get(day, frozenset()) | fresh[day] for day in fresh}
            self.hours |= joined
        self.is_open = False

    def _hours_of(self, groups: Sequence[Group]) -> dict[date, HoursOfDay]:
        """Hours by day of one sentence; of a stretch and a day in it the day alone is meant."""
        fresh: dict[date, HoursOfDay] = {}
        named: list[tuple[Group, list[date]]] = []
        for group in groups:
            latest = max((day for _, days in named for day in days), default=None)
            named.append((group, self._all_days(group.days, latest)))
        sets = [frozenset(days) for _, days in named if days]
        for group, days in named:
            if any(other < frozenset(days) for other in sets):
                continue
            for day in days:
                fresh[day] = fresh.get(day, frozenset()) | (
                    WHOLE if group.hours is None else group.hours
                )
        return fresh

    def _is_reason(self, fresh: dict[date, HoursOfDay]) -> bool:
        """Whether it lies wholly in what was refused: then it only says why."""
        left = set(fresh)
        for days, hours in self.refused:
            for day in list(left):
                outside = hours_of_day.without(fresh[day], hours or WHOLE)
                if (days is None or day in days) and not outside:
                    left.discard(day)
        return not left

    def _limit(self, hours: HoursOfDay) -> None:
        """Hours without a day count for all; those that lie wholly in what is out say why."""
        for days, refused in self.refused:
            if days is None and not hours_of_day.without(hours, refused or WHOLE):
                return
        limited = hours_of_day.both(self.general, hours)
        if self.general != WHOLE and not limited:
            return
        if not self.is_open and not self._leaves(hours):
            return
        self.general = limited

    def _leaves(self, hours: HoursOfDay) -> bool:
        return any(hours_of_day.both(wished, hours) for wished in self.hours.values())

    def _refuse(self, group: Group) -> None:
        if not group.days:
            self.refused.append((None, group.hours))
            return
        days: list[date] = []
        for spot in group.days:
            days += self._refused_days(spot)
        self.refused.append((days, group.hours))
        if group.scope:
            self.scopes += group.days

    # --- which days a place means

    def _all_days(self, spots: Sequence[DaySpot], latest: date | None = None) -> list[date]:
        """The days of several places; weekdays follow each other, and the first one follows
        `latest` where that is the day before it: `Thursday any time, and Friday until eleven`."""
        days: list[date] = []
        for spot in spots:
            after = days[-1] if days else _day_before(spot, latest)
            after = after if spot.kind == "weekday" else None
            days += self._days_of(spot, spots, after)
        return days

    def _days_of(
        self, spot: DaySpot, beside: Sequence[DaySpot], after: date | None = None
    ) -> list[date]:
        if spot.kind in ("past", "doubt"):
            return [day for days in spot.days for day in _each(days)]
        if spot.kind == "week" and any(_is_within(other, self.week) for other in beside):
            return []
        if spot.kind == "stretch" and any(self._is_part(other, spot) for other in beside):
            return []
        if spot.kind == "weekly":
            return [day for day in self._frame() if day.weekday() == spot.weekday]
        days = self._range_of(spot, after)
        if spot.limit:
            days = bounded(spot, days, self.week, self.today)
        return _each(days)

    def _is_part(self, spot: DaySpot, whole: DaySpot) -> bool:
        """Whether a day lies in a stretch that is named beside it."""
        if spot.kind not in ("day", "weekday") or whole.limit or spot.limit:
            return False
        first, last = self._range_of(spot, None)
        return whole.days[0][0] <= first and last <= whole.days[0][1]

    def _range_of(self, spot: DaySpot, after: date | None) -> Days:
        if spot.weekday is None:
            return spot.days[0]
        first = self.weekday(spot.weekday, after)
        if spot.to_weekday is None:
            return first, first
        return first, first + timedelta(days=(spot.to_weekday - spot.weekday) % 7)

    def weekday(self, number: int, after: date | None = None) -> date:
        """In the week that was named; else the next one, after the day named before it."""
        if self.week is not None:
            return self.week[0] + timedelta(days=number)
        if after is not None:
            return after + timedelta(days=(number - after.weekday()) % 7)
        return self.today + timedelta(days=(number - self.today.weekday() - 1) % 7 + 1)

    def _refused_days(self, spot: DaySpot) -> list[date]:
        """All days of this name where no week was named."""
        is_weekday = spot.weekday is not None and spot.to_weekday is None and not spot.limit
        if is_weekday and (self.week is None or spot.kind == "weekly"):
            return [day for day in self._ahead() if day.weekday() == spot.weekday]
        return self._days_of(spot, ())

    def _frame(self) -> list[date]:
        return sorted(self.hours) or self._ahead()

    def _ahead(self) -> list[date]:
        return [self.today + timedelta(days=ahead) for ahead in range(FARTHEST)]


def _day_before(spot: DaySpot, latest: date | None) -> date | None:
    """The day itself where the weekday of a place is the next; else None."""
    if latest is None or spot.weekday is None:
        return None
    return latest if (latest.weekday() + 1) % 7 == spot.weekday else None


def _is_within(spot: DaySpot, week: Days | None) -> bool:
    """Whether a day or part of the week is named, so that the week itself is not asked for."""
    if spot.kind == "weekday":
        return True
    if week is None or spot.kind not in ("day", "stretch"):
        return False
    return week[0] <= spot.days[0][0] and spot.days[0][1] <= week[1]


def _each(days: Days) -> list[date]:
    count = min((days[1] - days[0]).days, 400)
    return [days[0] + timedelta(days=ahead) for ahead in range(count + 1)]


def the_week(spots: Iterable[DaySpot]) -> Days | None:
    """The one week that a text speaks of."""
    weeks: set[Days] = set()
    for spot in spots:
        if spot.kind == "week":
            weeks.add(spot.days[0])
        elif spot.kind == "stretch" and (spot.days[0][1] - spot.days[0][0]).days < 4:
            weeks.add(week_around(spot.days[0][0]))
    return next(iter(weeks)) if len(weeks) == 1 else None
