"""Parts of a month: at its end, at the beginning of December, in December."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import cache

from deskhand.language.meeting_times.day_ranges import Stretch
from deskhand.language.meeting_times.meeting_phrases import compiled
from deskhand.language.slots.date_words import MONTHS
from deskhand.language.slots.folded_text import fold

_PARTS: dict[str, tuple[str, str, str]] = {
    "en": (
        r"(?:(?:at |towards |by )?the )?(?:end|last week|last days) of(?: the| this)?|late(?: in)?",
        r"(?:(?:at |in )?the )?(?:beginning|start|first week|first days) of(?: the| this)?|"
        r"early(?: in)?",
        r"(?:(?:in )?the )?middle of(?: the| this)?|mid-?",
    ),
    "cs": (
        r"(?:na |ke )?kon(?:ec|ci|cem)(?: tohoto)?",
        r"(?:na )?(?:zacat(?:ek|ku|kem)|pocat(?:ek|ku|kem))(?: tohoto)?|v prvnim tydnu",
        r"v polovine|polovinou|uprostred",
    ),
    "de": (
        r"(?:am |zum |gegen )?ende(?: des| dieses)?",
        r"(?:am |zu )?(?:anfang|beginn)(?: des| dieses)?|in der ersten woche(?: des| im)?",
        r"mitte(?: des| dieses)?",
    ),
    "es": (
        r"(?:a |para |hacia )?(?:finales|final|fines|fin) de(?:l| este)?",
        r"(?:a |para )?(?:principios?|comienzos?|inicios?) de(?:l| este)?|la primera semana de",
        r"(?:a )?mediados de(?:l| este)?",
    ),
}
"""End, beginning and middle."""
_MONTH: dict[str, tuple[str, str]] = {
    "en": (r"month", r"next month"),
    "cs": (r"mesice", r"pristiho mesice"),
    "de": (r"monats", r"nachsten monats|kommenden monats"),
    "es": (r"mes", r"(?:proximo )?mes que viene|proximo mes"),
}
"""This month and the next, after such a part."""
_WHOLE: dict[str, str] = {"en": "in", "cs": "ve?|behem", "de": "im", "es": "en"}
_END, _BEGINNING = 6, 7


def month_spots(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    """Every part of a month, and every whole one that is named without a day."""
    for language in languages:
        names = _names(language)
        months = "|".join(sorted(names, key=len, reverse=True))
        this, following = _MONTH[language]
        for place, part in enumerate(_PARTS[language]):
            form = rf"\b(?:{part}) ?(?:({following})|({this})|({months}))\b"
            for match in compiled(form).finditer(folded):
                after, _, name = match.groups()
                first = _first_of(today, names.get(name or ""), is_next=after is not None)
                yield Stretch(match.start(), match.end(), *_part(first, place))
        whole = compiled(rf"\b(?:{_WHOLE[language]}) ({months})(?:$|[ .,;?!\n])")
        for match in whole.finditer(folded):
            first = _first_of(today, names[match.group(1)], is_next=False)
            yield Stretch(match.start(), match.end(1), first, _last_day(first))


@cache
def _names(language: str) -> dict[str, int]:
    names: dict[str, int] = {}
    for number, spellings in enumerate(MONTHS[language].split(), start=1):
        folded = [fold(spelling) for spelling in spellings.split("/")]
        names |= {spelling: number for spelling in folded if len(spelling) > 3}
    return names


def _first_of(today: date, month: int | None, *, is_next: bool) -> date:
    """The first of the month that is meant: this one, the next, or the coming one of this name."""
    year = today.year
    if month is None:
        month = today.month + is_next
        year, month = (year + 1, 1) if month > 12 else (year, month)
    elif month < today.month:
        year += 1
    return date(year, month, 1)


def _last_day(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])


def _part(first: date, place: int) -> tuple[date, date]:
    last = _last_day(first)
    if place == 0:
        return last.replace(day=last.day - _END + 1), last
    if place == 1:
        return first, first.replace(day=_BEGINNING)
    return first.replace(day=12), first.replace(day=18)
