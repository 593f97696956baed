"""Days and times of day that follow from known ones: Wednesday and three working days make Monday.

Known are today, the days that the customer, a quoted article or a record names, and the spans of
articles and records. Which of them belong together nobody says here, so this backs nothing by
itself: a second reader must confirm the sentence. It keeps a day that follows from nothing from
leaving on that reader's word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice

from deskhand.language.slots.date_relative import workdays_away
from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, pattern_of, phrases_of
from deskhand.outgoing.derived_dates import day_of, is_day, shifted, year_of
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_limits import ends_with
from deskhand.outgoing.values import Value

_WEEK = 7
_WEEKS_AROUND = 2
"""How far from today a weekday may be meant that somebody names."""
_MOST_DAYS, _MOST_SPANS = 24, 16
"""How many days and spans are reckoned with: with more of them any day would follow."""
_MOST_WORKDAYS = 60
_MOST_DIGITS = 3
_MOST_MINUTES = 24 * 60
_ONE_O_CLOCK, _NOON = 60, 12 * 60
_HOURS = frozenset(str(hour) for hour in range(1, 25))
_DAY = timedelta(days=1)
_IN_DAYS = "in "
_DAY_OF_MONTH = re.compile(r"(?<![\w.,:])([0-9]{1,2})(?:st|nd|rd|th|\.)?(?![\w:%])")
_WEEKDAY_BEFORE = re.compile(r"\b([a-z]+),? (?:the |der |den |dem |el |le |dne )?$")
_DOTTED = re.compile(r"(?<![\w.,])([01]?[0-9]|2[0-3])\.([0-5][0-9])(?![\w.]|,[0-9]| ?(?:EUR|€|Kč))")
"""`18.15` as a time of day."""
_OF_DAYS = ("date", "weekday", "relative")


def is_reckoned(value: Value, grounds: Grounds) -> bool:
    """Whether a day, a day of the week or a time of day is known or one span away from such."""
    if value.kind == "time":
        return bool(value.readings & _reckoned_times(grounds))
    year = year_of(value)
    if (value.kind not in _OF_DAYS and year is None) or grounds.now is None:
        return False
    if grounds.read_on not in (None, grounds.now.date()):
        return False  # it was read on another day: `tomorrow` is over
    days = _reckoned_days(grounds)
    if value.kind == "weekday":
        near = [day for day in days if abs(day - grounds.now.date()) <= _WEEK * _DAY]
        return _are_weekdays(value, near, grounds)
    if value.kind == "date":
        return any(is_day(value, day) for day in days)
    if year is not None:
        return any(day.year == year for day in days)
    distances = [(day - grounds.now.date()).days for day in days]
    return any(f"{_IN_DAYS}{distance} days" in value.readings for distance in distances)


def is_reckoned_number(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a bare number of a reply is a day of a month behind its day of the week, and both are
    those of a reckoned day: `until Thursday 26`."""
    before = _WEEKDAY_BEFORE.search(fold(text[: value.start]))
    if value.kind != "number" or value.unit or before is None or grounds.now is None:
        return False
    weekday = meanings_of("weekdays").get(before[1])
    if weekday is None or grounds.read_on not in (None, grounds.now.date()):
        return False
    days = [day for day in _reckoned_days(grounds) if str(day.weekday()) == weekday]
    return bool(value.readings & {str(day.day) for day in days})


def _are_weekdays(claimed: Value, days: Iterable[date], grounds: Grounds) -> bool:
    """Whether days of the week are those of known days, or stand in a source: `from Wednesday to
    Friday` where the showroom is open from Monday to Friday."""
    said = (*grounds.article_values, *grounds.record_values)
    stated = [value for value in said if value.kind == "weekday"]
    weekdays = {str(day.weekday()) for day in days}
    for value in stated:
        weekdays |= value.readings
    return any(weekdays.issuperset(_each_weekday(reading)) for reading in claimed.readings)


def _each_weekday(reading: str) -> list[str]:
    """`2-4` is Wednesday to Friday."""
    first, _, last = reading.partition("-")
    return [str(day) for day in range(int(first), int(last or first) + 1)]


def _reckoned_days(grounds: Grounds) -> Iterator[date]:
    """The known days, today among them, with those beside them and those a span before or after."""
    bases = list(islice(_known_days(grounds), _MOST_DAYS))
    spans = list(islice(_spans(grounds), _MOST_SPANS))
    for day in bases:
        yield from (day, day - _DAY, day + _DAY)
        yield from (workdays_away(day, -1), workdays_away(day, 1))
        for span in spans:
            yield from filter(None, (moved(day, span, back=back) for back in (False, True)))


def _known_days(grounds: Grounds) -> Iterator[date]:
    if grounds.now is None:
        return
    today = grounds.now.date()
    yield today
    sources = [*grounds.record_values, *grounds.article_values]
    dated = [value for value in sources if value.kind == "date"]
    days = [day for value in (*grounds.message_values, *dated) for day in days_of(value, today)]
    days += [today - int(ago) * _DAY for ago in _days_ago(grounds)]
    days += list(_days_of_months(grounds, days or [today]))
    yield from dict.fromkeys(day for day in days if day != today)


def _days_ago(grounds: Grounds) -> Iterator[str]:
    """How long ago a day is that the customer calls `yesterday`, or `three days ago`."""
    ago = meanings_of("days_ago")
    yield from (ago[word] for word in grounds.message_words if word in ago)
    for value in grounds.message_values:
        if value.unit == "day" and _is_ago(value, grounds.message):
            yield from (reading for reading in value.readings if len(reading) <= _MOST_DIGITS)


def _is_ago(value: Value, message: str) -> bool:
    before, behind = fold(message[: value.start]).rstrip(), fold(message[value.end :]).lstrip()
    return bool(ends_with(before, "ago_before") or phrases_of("ago_behind").match(behind))


def _days_of_months(grounds: Grounds, named: Sequence[date]) -> Iterator[date]:
    """Bare numbers that may be days of a month which is named: `on 2 May, and again on the 9th`."""
    for number in {int(match[1]) for match in _DAY_OF_MONTH.finditer(grounds.message)}:
        days = [day_of(month.year, month.month, number) for month in named]
        yield from filter(None, days)


def days_of(value: Value, today: date) -> Iterator[date]:
    """The days that a value may mean."""
    if value.kind == "relative":
        yield from _relative_days(value, today)
    elif value.kind == "weekday":
        yield from _days_around(value, today)
    elif value.kind == "date":
        yield from _dates(value, today)


def _relative_days(value: Value, today: date) -> Iterator[date]:
    for reading in value.readings:
        if reading.startswith(_IN_DAYS):
            yield today + timedelta(days=int(reading.split()[1]))


def _days_around(value: Value, today: date) -> Iterator[date]:
    """The days of this name in the weeks around today."""
    for distance in range(-_WEEKS_AROUND * _WEEK + 1, _WEEKS_AROUND * _WEEK):
        day = today + timedelta(days=distance)
        if str(day.weekday()) in value.readings:
            yield day


def _dates(value: Value, today: date) -> Iterator[date]:
    """A date without a year is the one nearest to today."""
    with_year = [reading for reading in value.readings if not reading.endswith(".")]
    for reading in with_year or value.readings:
        day, month, year = reading.split(".")
        years = [int(year)] if year else [today.year - 1, today.year, today.year + 1]
        days = [day_of(each, int(month), int(day)) for each in years]
        yield from sorted(filter(None, days), key=lambda day: abs((day - today).days))[:1]


def _spans(grounds: Grounds) -> Iterator[Value]:
    """What articles and records say of how long something takes; never the customer's own."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for value in (*grounds.article_values, *grounds.record_values):
        is_span = value.unit in ("day", "workday", "month")
        is_next = bool(value.readings & {"soon", "day before"})
        key = (value.unit, value.readings)
        if (is_span or is_next) and key not in seen:
            seen.add(key)
            yield value


def moved(day: date, span: Value, *, back: bool) -> date | None:
    """The day a span after or before another; `soon` is the next working day."""
    if "day before" in span.readings:
        return day - _DAY if back else None
    if "soon" in span.readings:
        return None if back else workdays_away(day, 1)
    if span.unit != "workday":
        return shifted(day, span, back=back)
    number = max(map(Decimal, span.readings))
    if number % 1 or number > _MOST_WORKDAYS:
        return None
    return workdays_away(day, -int(number) if back else int(number))


def _reckoned_times(grounds: Grounds) -> set[str]:
    """Times of day that lie some minutes, which somebody names, before or after a known one."""
    said = [*grounds.message_values, *grounds.record_values, *grounds.article_values]
    times = [int(minutes) for value in said if value.kind == "time" for minutes in value.readings]
    times += spoken_hours(grounds)
    times += [time + _NOON for time in times if _ONE_O_CLOCK <= time < _NOON]  # `at 1:20`
    spans = [span for value in said for span in _minutes_of(value)]
    reckoned = {str(time) for time in times[:_MOST_DAYS]}
    for time in times[:_MOST_DAYS]:
        for span in spans[:_MOST_SPANS]:
            reckoned |= {str(time + span), str(time - span)}
    return reckoned


def spoken_hours(grounds: Grounds) -> list[int]:
    """The times of day that the customer names without minutes or a colon: `at four`, `half past
    four`, `18.15`."""
    said = [value for value in grounds.message_values if value.kind == "number"]
    hours = [int(reading) for value in said for reading in value.readings if reading in _HOURS]
    times = [hour * 60 for hour in hours]
    for match in _DOTTED.finditer(grounds.message):
        times.append(int(match[1]) * 60 + int(match[2]))
    for match in pattern_of("half_past").finditer(fold(grounds.message)):
        word = match[match.lastgroup or 0]
        number = word if word in _HOURS else meanings_of("numbers").get(word)
        number = number or meanings_of("hours_of_half").get(word)
        if number in _HOURS:
            is_coming = match.lastgroup in ("halb", "pul")
            times.append(int(number) * 60 + (-30 if is_coming else 30))
    return times


def _minutes_of(value: Value) -> Iterator[int]:
    if value.kind != "number" or value.unit not in ("minute", "hour"):
        return
    for reading in value.readings:
        minutes = Decimal(reading) * (60 if value.unit == "hour" else 1)
        if minutes % 1 == 0 and minutes < _MOST_MINUTES:
            yield int(minutes)
