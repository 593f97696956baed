"""Recurring events: when a rule strikes within a stretch of time. Bounded for every rule,
however it is written."""

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import product
from typing import Literal

Frequency = Literal["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
FREQUENCIES: tuple[Frequency, ...] = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
MOST_PERIODS = 40_000
"""Days, weeks, months or years that are looked at for one rule."""
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BY_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")


class RuleUnreadable(ValueError):
    """A rule of a kind that calendars do not write, such as one for every second."""


@dataclass(frozen=True)
class RecurrenceRule:
    """An RRULE, on the clock of its event."""

    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    by_month: tuple[int, ...] = ()
    by_month_day: tuple[int, ...] = ()
    by_year_day: tuple[int, ...] = ()
    by_week: tuple[int, ...] = ()
    by_day: tuple[tuple[int, int], ...] = ()
    """(which one, weekday): (0, 4) is every Friday, (-1, 4) the last one."""
    by_hour: tuple[int, ...] = ()
    by_minute: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0

    def between(self, start: datetime, lower: datetime, upper: datetime) -> Iterator[datetime]:
        """When an event that began at `start` happens again, from `lower` up to `upper`; all
        without a zone."""
        filled = self._filled(start)
        first = 0 if self.count is not None else max(0, filled._periods_to(start, lower) - 1)
        first -= first % filled.interval
        occurrences = 0
        for number in range(first, first + MOST_PERIODS * filled.interval, filled.interval):
            days = filled._days(start, number)
            if days is None or not days or datetime.combine(days[0], time()) >= upper:
                return
            for moment in filled._moments(days, start):
                if moment < start:
                    continue
                occurrences += 1
                if (self.until is not None and moment > self.until) or (
                    self.count is not None and occurrences > self.count
                ):
                    return
                if lower <= moment < upper:
                    yield moment

    def _filled(self, start: datetime) -> "RecurrenceRule":
        """With what the event's own beginning says where the rule says nothing."""
        values = dict(self.__dict__)
        values.pop("_weekdays", None)
        if not (self.by_week or self.by_year_day or self.by_month_day or self.by_day):
            if self.frequency == "YEARLY":
                values["by_month"] = self.by_month or (start.month,)
            if self.frequency in ("YEARLY", "MONTHLY"):
                values["by_month_day"] = (start.day,)
            if self.frequency == "WEEKLY":
                values["by_day"] = ((0, start.weekday()),)
        values["by_hour"] = self.by_hour or (start.hour,)
        values["by_minute"] = self.by_minute or (start.minute,)
        return RecurrenceRule(**values)

    # --- periods

    def _periods_to(self, start: datetime, moment: datetime) -> int:
        match self.frequency:
            case "DAILY":
                return (moment.date() - start.date()).days
            case "WEEKLY":
                return (self._week(moment.date()) - self._week(start.date())).days // 7
            case "MONTHLY":
                return (moment.year - start.year) * 12 + moment.month - start.month
            case "YEARLY":
                return moment.year - start.year

    def _days(self, start: datetime, number: int) -> Sequence[date] | None:
        """All days of the period with this number; None where time ends."""
        try:
            match self.frequency:
                case "DAILY":
                    return [start.date() + timedelta(days=number)]
                case "WEEKLY":
                    monday = self._week(start.date()) + timedelta(weeks=number)
                    return [monday + timedelta(days=day) for day in range(7)]
                case "MONTHLY":
                    year, month = divmod(start.year * 12 + start.month - 1 + number, 12)
                    return _days_of(
                        date(year, month + 1, 1), calendar.monthrange(year, month + 1)[1]
                    )
                case "YEARLY":
                    year = start.year + number
                    return _days_of(date(year, 1, 1), 366 if calendar.isleap(year) else 365)
        except (ValueError, OverflowError):
            return None

    def _week(self, day: date) -> date:
        """The first day of a day's week."""
        return day - timedelta(days=(day.weekday() - self.week_start) % 7)

    def _moments(self, days: Sequence[date], start: datetime) -> list[datetime]:
        hours = sorted(product(self.by_hour, self.by_minute))
        moments = [
            datetime.combine(day, time(hour, minute, start.second))
            for day in days
            if self._strikes(day)
            for hour, minute in hours
        ]
        if not self.positions:
            return moments
        count = len(moments)
        from_start = {position - 1 for position in self.positions if position > 0}
        from_end = {count + position for position in self.positions if position <= 0}
        chosen = from_start | from_end
        return [moment for index, moment in enumerate(moments) if index in chosen]

    # --- days

    def _strikes(self, day: date) -> bool:
        return (
            (not self.by_month or day.month in self.by_month)
            and (not self.by_month_day or _counted(day.day, _month_length(day), self.by_month_day))
            and (
                not self.by_year_day
                or _counted(day.timetuple().tm_yday, _year_length(day), self.by_year_day)
            )
            and (not self.by_week or _week_is_in(day, self.by_week))
            and (not self.by_day or self._weekday_fits(day))
        )

    def _weekday_fits(self, day: date) -> bool:
        if day.weekday() not in self._weekdays:
            return False
        in_month = self.frequency == "MONTHLY" or (
            self.frequency == "YEARLY" and bool(self.by_month)
        )
        ordered = in_month or self.frequency == "YEARLY"
        for which, weekday in self.by_day:
            if weekday != day.weekday():
                continue
            if which == 0 or not ordered:
                return True
            place, length = (
                (day.day, _month_length(day))
                if in_month
                else (day.timetuple().tm_yday, _year_length(day))
            )
            if which in ((place - 1) // 7 + 1, -((length - place) // 7 + 1)):
                return True
        return False

    @cached_property
    def _weekdays(self) -> frozenset[int]:
        return frozenset(weekday for _, weekday in self.by_day)


def read_rule(parts: Mapping[str, Sequence[object]], until: datetime | None) -> RecurrenceRule:
    """A rule from its parts, as `{"FREQ": ["WEEKLY"], "BYDAY": ["MO", "-1FR"]}`; `until` on the
    event's own clock."""
    frequency = next(
        (
            frequency
            for frequency in FREQUENCIES
            if frequency == str(_first_of(parts, "FREQ")).upper()
        ),
        None,
    )
    if frequency is None:
        raise RuleUnreadable(f"events that recur {_first_of(parts, 'FREQ')} are not read")
    try:
        count = parts.get("COUNT")
        by_day = tuple(_by_day(str(day)) for day in parts.get("BYDAY", ()))
        return RecurrenceRule(
            frequency=frequency,
            interval=max(1, int(str(_first_of(parts, "INTERVAL") or 1))),
            count=None if not count else max(1, int(str(count[0]))),
            until=until,
            by_month=_numbers(parts, "BYMONTH", 1, 12),
            by_month_day=_numbers(parts, "BYMONTHDAY", -31, 31),
            by_year_day=_numbers(parts, "BYYEARDAY", -366, 366),
            by_week=_numbers(parts, "BYWEEKNO", -53, 53),
            by_day=by_day,
            by_hour=_numbers(parts, "BYHOUR", 0, 23),
            by_minute=_numbers(parts, "BYMINUTE", 0, 59),
            positions=_numbers(parts, "BYSETPOS", -366, 366),
            week_start=_WEEKDAYS.index(str(_first_of(parts, "WKST") or "MO").upper()),
        )
    except ValueError as error:
        raise RuleUnreadable(f"a rule of an event cannot be read: {error}") from None


def _first_of(parts: Mapping[str, Sequence[object]], name: str) -> object | None:
    several = parts.get(name)
    return several[0] if several else None


def _numbers(
    parts: Mapping[str, Sequence[object]], name: str, least: int, most: int
) -> tuple[int, ...]:
    numbers = tuple(int(str(number)) for number in parts.get(name, ()))
    if any(not least <= number <= most for number in numbers):
        raise RuleUnreadable(f"{name} of an event is out of range")
    return numbers


def _by_day(written: str) -> tuple[int, int]:
    matched = _BY_DAY.fullmatch(written.strip().upper())
    if matched is None:
        raise RuleUnreadable(f"`{written[:20]}` is no weekday")
    return int(matched[1] or 0), _WEEKDAYS.index(matched[2])


def _days_of(first: date, count: int) -> list[date]:
    return [first + timedelta(days=day) for day in range(count)]


def _counted(place: int, length: int, wanted: tuple[int, ...]) -> bool:
    """Whether the place is one of those, counted from the beginning or, below zero, from the
    end."""
    return place in wanted or place - length - 1 in wanted


def _week_is_in(day: date, wanted: tuple[int, ...]) -> bool:
    year, week, _ = day.isocalendar()
    return _counted(week, date(year, 12, 28).isocalendar().week, wanted)


def _month_length(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _year_length(day: date) -> int:
    return 366 if calendar.isleap(day.year) else 365
