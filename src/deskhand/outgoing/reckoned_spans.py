"""Spans between days or times of day that a reply names: `until 18 December, a good four weeks`.

What a source sets is a term, and is held to the source. Such a span is no term: it only says how
far two days lie apart, today among them, or two times of day. One of them stands in the sentence or
beside it; the other is today, one of a record or the customer's. So the calendar decides, as exact
as the words are: `just under two weeks` are thirteen days. What the span is said of is for a second
reader.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import product

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, pattern_of, phrases_of
from deskhand.outgoing.content_words import stands_among
from deskhand.outgoing.derived_dates import shifted, year_of
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_limits import ends_with, is_term, number_of
from deskhand.outgoing.quoted_sources import meaningful_words
from deskhand.outgoing.reckoned_days import days_of, moved, spoken_hours
from deskhand.outgoing.sentences import answers_joined, clauses_of
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, is_stated, same_value

_OF_CALENDAR = ("day", "workday", "month")
_OF_CLOCK = ("minute", "hour")
_MOST_DAYS, _MOST_TIMES = 16, 16
"""With more days than that almost any span would lie between two of them."""
_WEEK, _YEAR = 7, 12
_HOUR, _HALF_A_DAY, _DAY = 60, 12 * 60, 24 * 60
_ONE_DAY = timedelta(days=1)
_LONGEST = 366 * 12
_SATURDAY = 5

_MONTH_OF_YEAR = re.compile(r"([a-z]+) (?:de |of )?((?:19|20)[0-9]{2})\b")
_BEFORE_HOUR = re.compile(
    r"(?:\b(?:from|to|till|until|between|and|at|od|do|v|az|a|von|bis|um|und|zwischen|ab|de|las"
    r"|hasta|y|entre)|[-–]) ?$"
)
"""What stands before an hour that is written without a sign."""

Range = tuple[Decimal, Decimal]
"""How many a number may mean, at least and at most."""


def is_span_between(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a span of a reply lies between two days or times of which one stands beside it."""
    if value.kind != "number" or grounds.now is None or _is_called_term(value, text):
        return False
    if grounds.read_on not in (None, grounds.now.date()):
        return False  # it was read on another day
    if _is_of_a_term(value, text, grounds):
        return False
    beside = _values_beside(value, text, grounds)
    if value.unit in _OF_CALENDAR:
        if value.unit == "month" and _lies_between_months(value, text, beside, grounds):
            return True
        return _lies_between_days(value, text, beside, grounds)
    return value.unit in _OF_CLOCK and _lies_between_times(value, text, beside, grounds)


# --- what the number means


def _is_called_term(value: Value, text: str) -> bool:
    """`within two weeks` is a term; `more than an hour` is none."""
    start, clause = _clause_around(value, text)
    here = value._replace(start=value.start - start, end=value.end - start)
    if ends_with(fold(clause[: here.start]).rstrip(), "rather_more"):
        return False
    return is_term(clause, here) and not _is_ahead(clause, here)


def _is_of_a_term(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether the clause speaks of what a source sets another span for: `a two-year warranty` where
    it has five. That five days are left of thirty speaks of the thirty, too."""
    _, clause = _clause_around(value, text)
    if pattern_of("remaining").search(fold(clause)):
        return False
    claimed = _words_beside_values(clause)
    for passage in grounds.passages:
        for stated in passage.clauses:
            spans = [each for each in stated.values if each.unit in (*_OF_CALENDAR, *_OF_CLOCK)]
            if not spans or any(same_value(each, value) for each in spans):
                continue
            if any(stands_among(word, claimed) for word in _words_beside_values(stated.text)):
                return True
    return False


def _words_beside_values(clause: str) -> list[str]:
    """The words that carry a meaning and belong to no value."""
    inside = {place for each in values_in(clause) for place in range(each.start, each.end)}
    return [word.folded for word in meaningful_words(clause) if word.start not in inside]


def _is_ahead(clause: str, value: Value) -> bool:
    """`in two weeks` counts from today, and a shop is open `for four hours`."""
    return ends_with(fold(clause[: value.start]).rstrip(), "from_today")


def _clause_around(value: Value, text: str) -> tuple[int, str]:
    for start, end in answers_joined(text):
        for first, last in clauses_of(text[start:end]):
            if start + first <= value.start < start + last:
                return start + first, text[start + first : start + last]
    return 0, text


def _meant(value: Value, text: str, leeway: Decimal) -> Range:
    """How many the number means by the words around it: exactly so many where none is there."""
    number = number_of(value)
    start, clause = _clause_around(value, text)
    before = fold(clause[: value.start - start]).rstrip()
    if ends_with(before, "rather_less"):
        return number - leeway, number
    if ends_with(before, "rather_more"):
        return number, number + leeway
    behind = fold(clause[value.end - start :]).lstrip()
    if ends_with(before, "about") or phrases_of("about_behind").match(behind):
        return number - leeway, number + leeway
    return number, number


def _leeway(value: Value) -> Decimal:
    """How far a rough number may be off: half a week of two weeks, two months of years."""
    number = number_of(value)
    if value.unit == "month":
        return Decimal(2 if number % _YEAR == 0 else "0.5")
    if value.unit == "hour":
        return Decimal("0.4")
    at_least = {"day": _half_a_week(value), "minute": Decimal(5)}.get(value.unit, Decimal(1))
    return max(at_least, number / 8)


def _half_a_week(value: Value) -> Decimal:
    last = fold(value.written).split()[-1]
    return Decimal(3 if meanings_of("units").get(last) == "week" else 1)


# --- days


def _values_beside(value: Value, text: str, grounds: Grounds) -> list[Value]:
    """The other values of the sentence, of the two before it and of the one behind it."""
    beside: list[Value] = []
    for start, end in _places_around(value, text):
        for other in values_in(text[start:end], grounds.now):
            at = other._replace(start=other.start + start, end=other.end + start)
            beside += [] if at.start == value.start else [at]
    return beside


def _places_around(value: Value, text: str) -> list[tuple[int, int]]:
    places = answers_joined(text)
    around = [place for place, (start, end) in enumerate(places) if start <= value.start < end]
    return [near for place in around[:1] for near in places[max(0, place - 2) : place + 2]]


def _lies_between_days(value: Value, text: str, beside: Sequence[Value], grounds: Grounds) -> bool:
    assert grounds.now is not None
    today = grounds.now.date()
    named = _days_beside(beside, today, grounds)
    recorded = _days_in(grounds.record_values, today)
    others = [today, *named, *recorded, *_days_in(grounds.message_values, today)]
    pairs = [*product(named, others[:_MOST_DAYS]), *product(recorded[:_MOST_DAYS], [today])]
    least, most = _meant(value, text, _leeway(value))
    return any(
        least <= length <= most
        for first, second in pairs
        for length in _lengths(value.unit, min(first, second), max(first, second))
    )


def _days_beside(beside: Sequence[Value], today: date, grounds: Grounds) -> list[date]:
    """The days that stand there, and those a span away that stands there too and that a source
    names."""
    named = _days_in(beside, today)
    sources = [*grounds.article_values, *grounds.record_values]
    spans = [each for each in beside if each.unit in _OF_CALENDAR and is_stated(each, sources)]
    ends = [
        moved(day, span, back=back)
        for day, span, back in product(named, spans[:_MOST_DAYS], (False, True))
    ]
    return [*named, *filter(None, ends)][:_MOST_DAYS]


def _days_in(values: Sequence[Value], today: date) -> list[date]:
    """The days that values name; those of a week only in the weeks before and behind today, and not
    where the week's day is that of a date (`2026-11-09`)."""
    dated = {value.start: value for value in values if value.kind == "date"}
    days = [day for value in dated.values() for day in days_of(value, today)]
    for value in values:
        if value.kind in ("weekday", "relative") and value.start not in dated:
            near = (day for day in days_of(value, today) if abs(day - today) <= _WEEK * _ONE_DAY)
            days += near
    return list(dict.fromkeys(days))[:_MOST_DAYS]


def _lengths(unit: str, first: date, last: date) -> Iterator[Decimal]:
    """How long it is from one day to another."""
    days = (last - first).days
    if not 0 < days <= _LONGEST:
        return
    if unit == "day":
        yield Decimal(days)
    elif unit == "workday":
        each = [first + number * _ONE_DAY for number in range(1, days + 1)]
        yield Decimal(sum(day.weekday() < _SATURDAY for day in each))
    else:
        yield _months_between(first, last)


def _months_between(first: date, last: date) -> Decimal:
    """Whole months, and the days that are left as part of thirty."""
    months = (last.year - first.year) * _YEAR + last.month - first.month
    one_month = Value("number", frozenset((str(months),)), "month", 0, 0, "")
    reached = shifted(first, one_month, back=False)
    left = 0 if reached is None else (last - reached).days
    return Decimal(months) + Decimal(left) / 30


def _lies_between_months(
    value: Value, text: str, beside: Sequence[Value], grounds: Grounds
) -> bool:
    """Whether years or months lie between a year or a `March 2026` that stands there, or follows
    from one that does, and this month."""
    assert grounds.now is not None
    sources = [*grounds.article_values, *grounds.record_values]
    spans = [
        int(number_of(each)) // _YEAR
        for each in beside
        if each.unit == "month" and number_of(each) % _YEAR == 0 and is_stated(each, sources)
    ]
    named = [year for year in map(year_of, beside) if year is not None]
    named += [year + span for year, span in product(named, spans)]
    least, most = _meant(value, text, _leeway(value))
    years = [abs(first - second) for first, second in product(named, [*named, grounds.now.year])]
    if any(year and least <= year * _YEAR <= most for year in years):
        return True
    this_month = grounds.now.year * _YEAR + grounds.now.month
    months = [abs(month - this_month) for month in _months_beside(value, text)]
    return any(month and least <= month <= most for month in months)


def _months_beside(value: Value, text: str) -> Iterator[int]:
    """The months with their year that stand beside a value, counted from the year nought."""
    for start, end in _places_around(value, text):
        for match in _MONTH_OF_YEAR.finditer(fold(text[start:end])):
            month = meanings_of("months").get(match[1])
            if month is not None:
                yield int(match[2]) * _YEAR + int(month)


# --- times of day


def _lies_between_times(value: Value, text: str, beside: Sequence[Value], grounds: Grounds) -> bool:
    named = _times_in(beside, text, grounds)
    asked = [time for other in grounds.message_values for time in _minutes(other)]
    asked += spoken_hours(grounds)
    asked += [time + _HALF_A_DAY for time in asked if _HOUR <= time < _HALF_A_DAY]
    named += [time + span for time, span in product(asked, _spans_of_clock(beside, grounds))]
    least, most = _meant(value, text, _leeway(value))
    scale = _HOUR if value.unit == "hour" else 1
    return any(
        first != second and least <= Decimal(abs(first - second)) / scale <= most
        for first, second in product(named[:_MOST_TIMES], [*named, *asked][: 2 * _MOST_TIMES])
    )


def _spans_of_clock(beside: Sequence[Value], grounds: Grounds) -> Iterator[int]:
    """The minutes of the spans that stand there and in a source: an hour that a link is valid."""
    for value in beside:
        if value.unit in _OF_CLOCK and is_stated(value, grounds.article_values):
            scale = _HOUR if value.unit == "hour" else 1
            yield int(number_of(value) * scale)


def _times_in(values: Sequence[Value], text: str, grounds: Grounds) -> list[int]:
    """The times of day that stand there; `till 20 hours` and `from 8 to 12` are times where a
    source says so."""
    times = [time for value in values for time in _minutes(value)]
    sources = [*grounds.article_values, *grounds.record_values]
    for value in values:
        if value.kind != "number" or number_of(value) * _HOUR > _DAY:
            continue
        is_bare = not value.unit and _BEFORE_HOUR.search(fold(text[: value.start])) is not None
        is_hour = is_bare or value.unit in ("hour", "oclock")
        if is_hour and is_stated(value, sources):
            times.append(int(number_of(value) * _HOUR))
    return times


def _minutes(value: Value) -> list[int]:
    readings = value.readings if value.kind == "time" else ()
    return list(map(int, readings))
