"""Days and years that a reply computes: the customer's date and a quoted term.

`30 days before it ends` and an end on 15 January make 16 December; two years from 3 February 2025
end on 3 February 2027. The day must be exact, and the reply must tell the date that it counts from.
"""

import calendar
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import words_of_each
from deskhand.outgoing.content_words import stands_among, words_in
from deskhand.outgoing.quoted_sources import Clause
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, is_stated, same_value

_YEARS = range(1990, 2100)
_BEFORE = 40
"""Letters around a term in which `before` stands."""


def is_derived_date(sentence: ReplySentence, value: Value) -> bool:
    """Whether a date or a year is the customer's own and a term that the reply tells and a source
    states."""
    if value.kind == "date":
        return any(is_day(value, day) for day in _days(sentence))
    if year_of(value) is None:
        return False
    return year_of(value) in set(_years(sentence))


def is_base_of_derived(sentence: ReplySentence, value: Value) -> bool:
    """Whether a date of the customer's is the one that another date of the reply counts from."""
    if value.kind != "date" and year_of(value) is None:
        return False
    if not is_stated(value, _asked(sentence)):
        return False
    others = [other for other in sentence.values if other != value]
    return any(is_derived_date(sentence, other) for other in others)


def tells_derived_day(sentence: ReplySentence, rest: Clause) -> bool:
    """Whether a sentence tells a computed day, the date it counts from and nothing that neither
    the customer nor a source says: `for an invoice of 3 December that is 2 January`."""
    dates = [value for value in rest.values if value.kind == "date"]
    derived = [value for value in dates if is_derived_date(sentence, value)]
    bases = [value for value in dates if is_base_of_derived(sentence, value)]
    if not derived or not bases or len(dates) > len(derived) + len(bases):
        return False
    said = [*sentence.grounds.message_words, *sentence.grounds.quoted_words]
    return all(stands_among(word, said) for word in rest.words)


def _asked(sentence: ReplySentence) -> tuple[Value, ...]:
    return sentence.grounds.message_values


def _days(sentence: ReplySentence) -> Iterator[date]:
    """The days on which a term ends that begins, or begins that ends, on a day of the message."""
    for base in _bases(sentence):
        for term, is_before in _terms(sentence):
            day = shifted(base, term, back=is_before)
            if day is not None:
                yield day


def _bases(sentence: ReplySentence) -> Iterator[date]:
    """The days of the message; one without a year is the nearest."""
    now = sentence.grounds.now
    for value in _asked(sentence):
        if value.kind == "relative" and now is not None and value.readings & {"in 0 days"}:
            yield now.date()
        if value.kind != "date":
            continue
        for reading in value.readings:
            day, month, year = reading.split(".")
            years = [int(year)] if year else []
            if not year and now is not None and len(value.readings) == 1:
                years = [now.year, now.year + 1, now.year - 1]
            for written in years:
                base = day_of(written, int(month), int(day))
                if base is not None:
                    yield base


def _terms(sentence: ReplySentence) -> Iterator[tuple[Value, bool]]:
    """The terms that a source states and the reply has told, each with whether it ends at the day
    that is counted from."""
    stated = values_in(sentence.whole[: sentence.end])
    for passage in sentence.grounds.passages:
        for clause in () if passage.is_record else passage.clauses:
            for value in clause.values:
                if value.unit in ("day", "month") and is_stated(value, stated):
                    yield value, _counts_back(clause, value)


def _counts_back(clause: Clause, value: Value) -> bool:
    around = fold(clause.text)[value.end : value.end + _BEFORE]
    before = words_of_each("opposites")["before"]
    return any(word.folded in before for word in words_in(around)[:2])


def shifted(base: date, term: Value, *, back: bool) -> date | None:
    """The day a term of days or months after or before another; None where there is none."""
    number = max(map(Decimal, term.readings))
    if number % 1 or number > 36_500:
        return None
    count = -int(number) if back else int(number)
    if term.unit == "day":
        return base + timedelta(days=count)
    months = base.month - 1 + count
    year, month = base.year + months // 12, months % 12 + 1
    return day_of(year, month, min(base.day, calendar.monthrange(year, month)[1]))


def is_day(value: Value, day: date) -> bool:
    """Whether a date, with or without its year, is this day."""
    readings = frozenset({f"{day.day}.{day.month}.", f"{day.day}.{day.month}.{day.year}"})
    return same_value(value, value._replace(readings=readings))


def _years(sentence: ReplySentence) -> Iterator[int]:
    """Years of the message and a term of whole years behind them."""
    for value in _asked(sentence):
        year = year_of(value)
        for term, is_before in _terms(sentence) if year is not None else ():
            months = max(map(Decimal, term.readings))
            if year is not None and term.unit == "month" and months % 12 == 0 and not is_before:
                yield year + int(months) // 12


def year_of(value: Value) -> int | None:
    """The year that a number is; None for any other value."""
    if value.kind != "number" or value.unit or not value.written[:4].isdigit():
        return None
    number = max(map(Decimal, value.readings))
    return int(number) if number in _YEARS else None


def day_of(year: int, month: int, day: int) -> date | None:
    """A day of the calendar; None for one that it does not have."""
    try:
        return date(year, month, day)
    except ValueError:
        return None
