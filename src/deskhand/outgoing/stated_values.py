"""The values that a text states: numbers with what they count, times, days, dates, identifiers.

Numbers count in digits and in words of six languages. Two texts state the same value however each
writes it: `1,000 EUR` and `1.000 €`, `two weeks` and `14 days`, `8 pm` and `20:00`.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

from deskhand.language.slots.folded_text import FoldedText
from deskhand.outgoing.claim_words import (
    keys_of,
    meanings_of,
    pattern_of,
    phrases_of,
    phrases_of_each,
    words_of,
)
from deskhand.outgoing.number_units import (
    converted,
    currency_before,
    unit_after,
    with_shared_units,
)
from deskhand.outgoing.number_words import number_at
from deskhand.outgoing.values import Kind, Value

_IDENTIFIER = re.compile(
    r"(?<![\w@./-])(?:#?[a-z]{1,8}[-/ ]?[0-9][a-z0-9-]*|[0-9]+[a-z][a-z0-9-]*[0-9][a-z0-9-]*"
    r"|#[0-9]{3,}|[0-9]{1,8}(?:-[0-9]{1,8}){2,}|[a-z]{1,4}-[a-z0-9]{4,}|[0-9]{6,})(?![\w@])"
)
_LINK = re.compile(
    r"\b(?:https?://|www\.)[^\s<>\"')]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|\b[a-z0-9-]{2,}(?:\.[a-z0-9-]{2,})*\.(?:com|org|net|eu|de|cz|es|fr|pl|uk|io|example|info|shop|sk|at|ch)"
    r"\b(?:/[^\s<>\"')]*)?"
)
_ISO = re.compile(
    r"\b([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[t ]([0-9]{2}):([0-9]{2})(?::[0-9.]+)?"
    r"(?:[+-][0-9:]{4,5}|z)?)?"
)
_NUMERIC_DATE = re.compile(r"\b([0-9]{1,2})[./] ?([0-9]{1,2})[./](?: ?([0-9]{4})\b|(?![0-9]))")
_DIGITS = (
    r"[0-9]{1,3}(?:[ .,'][0-9]{3})+(?![0-9])(?:[.,][0-9]{1,2}(?![0-9]))?|[0-9]+(?:[.,][0-9]+)?"
)
_CLOCK = re.compile(r"\b([01]?[0-9]|2[0-4]):([0-5][0-9])\b(?: ?([ap])\.? ?m\b)?")
_HALF_DAY = re.compile(r"\b([0-9]{1,2})(?:[.:]([0-5][0-9]))? ?([ap])\.? ?m\b")
_NUMBER = re.compile(rf"(?<![\w.,-])(?:{_DIGITS})(?!\w*[0-9])|(?<=[-/])(?:{_DIGITS})(?![\w])")
_ATTACHED = re.compile(r"(?!(?:st|nd|rd|th|er)\b)[a-z%°µ]+|[€$£]")
_NUMBER_OF_PIECES = re.compile(r"[a-z]+ [0-9]+(?:-[a-z]{3,}|st|nd|rd|th|er)*")
"""`room 12`, `the 48-tablet` and `the 9th` are no identifiers."""
_MEASURE = re.compile(r"[a-z]+ [0-9]+(?:mg|mcg|ug|ml|cl|l|kg|g|mm|cm|m|km|w|eur|czk|kc|h|am|pm)")
"""`hold 160kg` is none, nor is `holds 160kg`."""
_NAMED_NUMBER = re.compile(r"[a-z]{2,} ([0-9]+(?:-[0-9]+){2,})")
"""`number 01445-778-2` names the number behind the word."""
_TWO_NUMBERS = re.compile(r"[a-z]{2,} [0-9]+-[0-9]+")
"""`the number is 3391-22`: the word is none of it, unless it is written as a code is."""
_SIZE = re.compile(r"(?<![\w.,/-])([0-9]{2,4})x([0-9]{2,4})(?![0-9x])")
_WORD = re.compile(r"[a-z]+")
_DISTRICT = re.compile(r"\b(?:praha|praze|prahy|prag|prague|praga|wien|vienna|viena) $")
"""`Praha 7` is no time of day."""
_WEEKDAY_BEFORE = re.compile(r"\b([a-z]+),? (?:the |der |den |dem |el |le |dne )?$")
_DAY_RANGE = re.compile(r" ?(?:-|,|to|az|bis|a|au|do|through|until) ?$")
_BEFORE_NOTHING = 8
"""Letters of a word before `nothing`."""
_ONE_OF = frozenset(
    ("day", "workday", "week", "month", "year", "hour", "minute", "l", "ml", "kg", "mg")
)
"""What an article before it counts as one: `a month`, `einen Liter`."""


def values_in(text: str, now: datetime | None = None) -> tuple[Value, ...]:
    """All values of a text, in its order; `now` tells which day `tomorrow` is."""
    return _values_in(text, None if now is None else now.date())


@lru_cache(maxsize=4096)
def _values_in(text: str, today: date | None) -> tuple[Value, ...]:
    return tuple(_Reader(text, today).values())


class _Reader:
    """Reads one text; what one kind has taken, the next leaves alone."""

    def __init__(self, text: str, today: date | None) -> None:
        self._reading = FoldedText(text)
        self._folded = self._reading.folded
        self._taken = [False] * (len(self._folded) + 1)
        self._today = today

    def values(self) -> list[Value]:
        values = [
            *self._links(),
            *self._iso_dates(),
            *self._worded_dates(),
            *self._numeric_dates(),
            *self._clocks(),
            *self._nothing(),
            *self._soon(),
            *self._parts_of_hours(),
            *self._paces(),
            *self._weekdays(),
            *self._relative_days(),
            *self._sizes(),
            *self._identifiers(),
            *self._numbers(),
            *self._number_words(),
        ]
        return sorted(with_shared_units(values, self._folded), key=lambda value: value.start)

    def _free(self, start: int, end: int) -> bool:
        return not any(self._taken[start:end])

    def _made(self, kind: Kind, readings: set[str], start: int, end: int, unit: str = "") -> Value:
        for place in range(start, end):
            self._taken[place] = True
        first, last = self._reading.origin(start), self._reading.origin(end)
        return Value(kind, frozenset(readings), unit, first, last, self._reading.given[first:last])

    def _links(self) -> Iterator[Value]:
        for match in _LINK.finditer(self._folded):
            link = match.group().rstrip(".,;:!?")
            bare = link.removeprefix("https://").removeprefix("http://").removeprefix("www.")
            end = match.start() + len(link)
            yield self._made("link", {bare.rstrip("/")}, match.start(), end)

    def _iso_dates(self) -> Iterator[Value]:
        for match in _ISO.finditer(self._folded):
            year, month, day, hour, minute = match.groups()
            try:
                moment = date(int(year), int(month), int(day))
            except ValueError:
                continue
            yield self._made("date", _date_readings(moment.day, moment.month, year), *match.span())
            yield self._made("weekday", {str(moment.weekday())}, *match.span())
            if hour is not None:
                yield self._made("time", {str(int(hour) * 60 + int(minute))}, *match.span())

    def _worded_dates(self) -> Iterator[Value]:
        months = meanings_of("months")
        for match in _WORD.finditer(self._folded):
            if match.group() not in months:
                continue
            before = re.search(
                r"\b([0-9]{1,2})(?:\.|st|nd|rd|th)?(?: ?(?:of|de) ?| ?)$",
                self._folded[max(0, match.start() - 12) : match.start()],
            )
            after = re.match(r" ([0-9]{1,2})(?:st|nd|rd|th)?\b(?!:)", self._folded[match.end() :])
            year = re.match(
                r"(?: [0-9]{1,2}(?:st|nd|rd|th)?)?,? (?:de )?([0-9]{4})\b",
                self._folded[match.end() :],
            )
            number = before or after
            if number is None:
                continue
            start = match.start()
            if before is not None:
                start -= len(before.group())
            end = match.end()
            if before is None and after is not None:
                end += after.end()
            if year is not None:
                end = max(end, match.end() + year.end())
            readings = _date_readings(
                int(number[1]), int(months[match.group()]), None if year is None else year[1]
            )
            yield self._made("date", readings, self._with_weekday(readings, start), end)

    def _with_weekday(self, readings: set[str], start: int) -> int:
        """Where a date begins with the day of the week that it falls on: `Friday, 4 December`."""
        before = _WEEKDAY_BEFORE.search(self._folded[:start])
        weekday = None if before is None else meanings_of("weekdays").get(before[1])
        if before is None or weekday is None or not self._is_day_of(readings, weekday):
            return start
        return before.start()

    def _is_day_of(self, readings: set[str], weekday: str) -> bool:
        """Whether a date of this year or the next falls on a day of the week."""
        if self._today is None:
            return False
        for reading in readings:
            day, month, *given = [part for part in reading.split(".") if part]
            for candidate in given or (str(self._today.year), str(self._today.year + 1)):
                try:
                    moment = date(int(candidate), int(month), int(day))
                except ValueError:
                    continue
                if str(moment.weekday()) == weekday:
                    return True
        return False

    def _numeric_dates(self) -> Iterator[Value]:
        for match in _NUMERIC_DATE.finditer(self._folded):
            first, second, year = int(match[1]), int(match[2]), match[3]
            readings: set[str] = set()
            for day, month in ((first, second), (second, first)):
                if 1 <= day <= 31 and 1 <= month <= 12:
                    readings |= _date_readings(day, month, year)
            if readings and self._free(*match.span()):
                yield self._made("date", readings, *match.span())

    def _clocks(self) -> Iterator[Value]:
        for pattern in (_CLOCK, _HALF_DAY):
            for match in pattern.finditer(self._folded):
                if not self._free(*match.span()):
                    continue
                hour, minute = int(match[1]), int(match[2] or 0)
                if match[3] == "p" and hour < 12:
                    hour += 12
                yield self._made("time", {str(hour * 60 + minute)}, *match.span())
        for match in _WORD.finditer(self._folded):
            minutes = meanings_of("clock_words").get(match.group())
            if minutes is not None and self._free(*match.span()):
                yield self._made("time", {minutes}, *match.span())

    def _nothing(self) -> Iterator[Value]:
        for match in phrases_of("nothing").finditer(self._folded):
            if _is_feel_free(self._folded, match.start()) or _does_nothing(self._folded, match):
                continue
            if self._free(*match.span()):
                yield self._made("number", {"0"}, *match.span(), unit="EUR")

    def _weekdays(self) -> Iterator[Value]:
        previous: tuple[int, int] | None = None
        for match in _WORD.finditer(self._folded):
            days = self._days_of(match)
            in_code = self._folded[match.end() : match.end() + 1].isdigit()
            if not days or in_code or not self._free(*match.span()):
                continue
            if previous is not None and len(days) == 1:
                between = self._folded[previous[1] : match.start()]
                if _DAY_RANGE.fullmatch(between):
                    first = previous[0] + 1
                    days = {
                        str(day % 7)
                        for day in range(first, first + (int(min(days)) - first) % 7 + 1)
                    }
            for day in sorted(days):
                yield self._made("weekday", {day}, *match.span())
            if len(days) > 1 and previous is not None:
                yield self._made("weekday", {f"{previous[0]}-{max(days)}"}, *match.span())
            previous = (int(max(days)), match.end())

    def _days_of(self, match: re.Match[str]) -> set[str]:
        word = match.group()
        if word in meanings_of("weekdays"):
            return set(meanings_of("weekdays")[word])
        if word not in meanings_of("short_weekdays"):
            return set()
        after = self._folded[match.end() : match.end() + 6]
        before = self._folded[max(0, match.start() - 3) : match.start()]
        in_range = re.match(r"\.? ?-", after) is not None or before.rstrip().endswith("-")
        has_hours = re.match(r"\.? ?[0-9]{1,2}(?:[-:]| -)", f"{after} ") is not None
        if not in_range and (word == "do" or not has_hours):
            return set()
        return {meanings_of("short_weekdays")[word]}

    def _relative_days(self) -> Iterator[Value]:
        for match in _WORD.finditer(self._folded):
            days = meanings_of("relative").get(match.group())
            if days is None or not self._free(*match.span()):
                continue
            readings = {f"in {days} days"}
            if self._today is not None:
                day = self._today + timedelta(days=int(days))
                readings |= _date_readings(day.day, day.month, str(day.year))
            yield self._made("relative", readings, *match.span())

    def _numbers(self) -> Iterator[Value]:
        for match in _NUMBER.finditer(self._folded):
            start, end = match.span()
            if not self._free(start, end):
                continue
            unit, unit_end = unit_after(self._folded, end)
            unit = unit or currency_before(self._folded, start)
            unit = unit or ("district" if _DISTRICT.search(self._folded[:start]) else "")
            if not unit and _ATTACHED.match(self._folded, end):
                continue
            readings = _number_readings(match.group())
            yield self._made("number", *converted(readings, unit, start, unit_end))

    def _sizes(self) -> Iterator[Value]:
        """`160x80` are two numbers, as `160 x 80` is."""
        for match in _SIZE.finditer(self._folded):
            unit, end = unit_after(self._folded, match.end())
            for group in (1, 2):
                readings, last = _number_readings(match[group]), match.end(group)
                last = end if group == 2 else last
                yield self._made("number", *converted(readings, unit, match.start(group), last))

    def _identifiers(self) -> Iterator[Value]:
        for match in _IDENTIFIER.finditer(self._folded):
            digits = re.fullmatch(r"[a-z]+ ([0-9]{6,})", match.group())
            if self._given(match).upper() != self._given(match):
                digits = digits or _NAMED_NUMBER.fullmatch(match.group())
            if digits is not None and self._free(*match.span()):
                start = match.start() + digits.start(1)
                bare = digits[1].replace("-", "")
                yield self._made("identifier", {bare}, start, match.end())
            elif self._free(*match.span()) and _is_identifier(match.group(), self._given(match)):
                bare = re.sub(r"[^a-z0-9]", "", match.group())
                yield self._made("identifier", {bare}, *match.span())

    def _given(self, match: re.Match[str]) -> str:
        return self._reading.given[
            self._reading.origin(match.start()) : self._reading.origin(match.end())
        ]

    def _number_words(self) -> Iterator[Value]:
        matches = list(_WORD.finditer(self._folded))
        words = [match.group() for match in matches]
        place = 0
        while place < len(words):
            start, end = matches[place].span()
            written = number_at(words, place) if self._free(start, end) else None
            number = None if written is None else str(written[0])
            taken = 1 if written is None else written[1]
            taken += _is_half_of_one(words[place : place + 2])
            end = matches[place + taken - 1].end()
            unit, unit_end = unit_after(self._folded, end)
            is_german = words[place : place + 2] == ["an", "den"]  # `to the`, no day
            is_one = words[place] in words_of("one") and not is_german
            if number is None and is_one and unit in _ONE_OF and self._free(start, end):
                number = "1"
            if number is None and not unit and words[place] in words_of("bare_measures"):
                number, unit, unit_end = "1", "l", end
            if number is None and _is_half(words[place]) and unit:
                number = "0.5"
            place += taken
            if number is not None:
                yield self._made("number", *converted({number}, unit, start, unit_end))

    def _paces(self) -> Iterator[Value]:
        """`monthly`: as long as between two times."""
        for match in _WORD.finditer(self._folded):
            for length in keys_of("pace", match.group()):
                number, unit = length.split()
                if self._free(*match.span()):
                    yield self._made("number", {number}, *match.span(), unit=unit)

    def _parts_of_hours(self) -> Iterator[Value]:
        """`a quarter of an hour`, `eine Viertelstunde`."""
        for length, phrases in phrases_of_each("lengths").items():
            number, unit = length.split()
            for match in phrases.finditer(self._folded):
                if self._free(*match.span()):
                    yield self._made("number", {number}, *match.span(), unit=unit)

    def _soon(self) -> Iterator[Value]:
        for section in ("soon", "day before"):
            for match in pattern_of(section).finditer(self._folded):
                if self._free(*match.span()):
                    yield self._made("relative", {section}, *match.span())


def _is_half(word: str) -> bool:
    return meanings_of("numbers").get(word) == "0.5"


def _is_half_of_one(words: list[str]) -> bool:
    """`half an hour`: no year, although French calls one `an`."""
    return len(words) == 2 and words[0] == "half" and words[1] in ("a", "an")


def _is_feel_free(folded: str, start: int) -> bool:
    return re.search(r"\b(?:feel|toll|sugar|gluten)[ -]$", folded[:start]) is not None


def _does_nothing(folded: str, match: re.Match[str]) -> bool:
    """`if you did nothing` states no price."""
    before = folded[max(0, match.start() - _BEFORE_NOTHING) : match.start()]
    return re.search(r"\b(?:do|does|did|doing|done) $", before) is not None


def _is_identifier(folded: str, given: str) -> bool:
    if any(letter.isdigit() for letter in folded):
        if _TWO_NUMBERS.fullmatch(folded) and given.upper() != given:
            return False
        return not any(form.fullmatch(folded) for form in (_NUMBER_OF_PIECES, _MEASURE))
    return given.upper() == given


def _number_readings(written: str) -> set[str]:
    """`1.000` is a thousand, `0,5` a half."""
    bare = re.sub(r"[ ']", "", written)
    if re.match(r"[1-9][0-9]{0,2}(?:[.,][0-9]{3})+(?![0-9])", bare):
        bare = re.sub(r"[.,](?=[0-9]{3}(?![0-9]))", "", bare)
    return {f"{Decimal(bare.replace(',', '.')).normalize():f}"}


def _date_readings(day: int, month: int, year: str | None) -> set[str]:
    """A date with and without its year: one of two dates may leave it out."""
    return {f"{day}.{month}.", f"{day}.{month}.{year}"} if year else {f"{day}.{month}."}
