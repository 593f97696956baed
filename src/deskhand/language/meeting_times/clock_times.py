"""Times of day in a text: at two, half past nine, between two and four, in the afternoon."""

from collections.abc import Iterator, Mapping
from datetime import time
from functools import cache
from typing import Any, NamedTuple

from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.clock_words import (
    ABOUT,
    HALF_TO,
    HOUR_WORDS,
    MINUTES_PAST,
    NARROWLY,
    NO_HOUR,
    NOON,
    PARTS,
    QUARTER_TO,
    SUFFIXES,
)
from deskhand.language.meeting_times.meeting_phrases import compiled

DAY = 24 * 60
_NOT_TIME = compiled(
    r"^(?:[0-9]|[.:/-][0-9]|\.? ?(?:%|€|\$|eur|kc|czk|people|persons|osob\w*|lidi|personen|"
    r"personas|"
    r"days?|dn[iyu]\w*|tage?n?|dias?|weeks?|tyd\w+|wochen?|semanas?|months?|mesic\w*|monate?n?|"
    r"mes(?:es)?|"
    r"years?|let\b|jahre?n?|anos|min\w*|cm|mm|m\b|m2|kg|ks|kus\w*|stuck|chairs?|desks?|tables?|"
    r"sillas?|mesas?|stol\w*|zidl\w*|tische?n?|stuhle?n?|st\b|nd\b|rd\b|th\b|floors?|employees?|"
    r"stock\w*|hours?\b|stunden?|horas (?:y|de)\b|hodin[uy]\b))"
)
_REACH = 20
"""How far before a preposition a word that narrows it is looked for, in characters."""
_MINUTES_TO = compiled(
    r"^(?:at|around|about) (?:five|ten|twenty) to \w+$|\b(?:twenty|forty|fifty)-[a-z]"
)
"""One time that looks like a stretch: `at ten to five`, `nine forty-five`."""
_COUNT = compiled(r"^(?:from )?(?:five|ten|twenty(?:[ -]five)?) to \w+$")
"""`five to ten` of something, where no other word says that it is a time."""
_BOUND = compiled(r"^(?:before|after|po|pred|vor|nach|antes|despues)\b")
_BOUNDED = compiled(r"\b(?:before|after|po|pred|vor|nach|antes de|despues de) $")
_EARLIEST = 7
"""An hour before this that is written without `am` or a zero is meant in the afternoon."""
_LOOSE = {
    "en": "around|about|for|by around",
    "cs": "v|ve|k|ke",
    "de": "ca\\.?|etwa um|so um",
    "es": "a eso de las",
}
"""Before a time, or before any other number."""
AT_LATEST = {
    "en": "at the latest|at the very latest",
    "cs": "nejpozdeji",
    "de": "spatestens",
    "es": "a mas tardar|como tarde|como mucho",
}
_ENDS = r"(?: ?$| ?[.,;?!)]|\n| (?:on|or|and|would|if|is|works|please|nebo|oder|o|und)\b)"


class TimeSpot(NamedTuple):
    """A place that names a time of day: one (`at`), or from a minute of the day to another."""

    start: int
    end: int
    at: int | None
    first: int = 0
    last: int = DAY
    part: bool = False
    """Whether it is a part of the day such as the morning."""
    leaves: bool = False
    """Whether somebody must go then."""


def time_spots(folded: str, languages: tuple[str, ...]) -> Iterator[TimeSpot]:
    """Every place that speaks of a time of day; places may overlap."""
    for language in languages:
        yield from _spans(folded, language)
        yield from _limits(folded, language)
        yield from _alone(folded, language)
        for pattern, (first, last) in PARTS[language].items():
            for match in compiled(pattern).finditer(folded):
                start, end = match.span(match.lastindex or 0)
                if _is_close(folded, start, language):
                    continue
                yield TimeSpot(start, end, None, first, last, part=True)


def as_time(minutes: int) -> time | None:
    return None if minutes >= DAY else time(minutes // 60, minutes % 60)


@cache
def clock_form(language: str) -> str:
    """A pattern for one time, in named places of which `read_clock` finds the parts; no groups."""
    hours = "|".join(sorted(HOUR_WORDS[language], key=len, reverse=True))
    suffix = SUFFIXES[language]
    past = "|".join(sorted(MINUTES_PAST[language], key=len, reverse=True))
    before_hour = _before_hour(language)
    forms = (
        rf"(?:{before_hour}) (?:{hours}|[0-9]{{1,2}})(?: (?:{suffix}))?",
        rf"(?:{NOON[language]})",
        rf"[0-9]{{1,2}}[:.h][0-9]{{2}}(?: ?(?:{suffix}))?",
        rf"(?:{hours}|[0-9]{{1,2}})[ -](?:{past})(?: (?:{suffix}))?",
        rf"[0-9]{{1,2}}(?: ?(?:{suffix}))?",
        rf"(?:{hours})(?: (?:{suffix}))?",
    )
    return "|".join(forms)


def _before_hour(language: str) -> str:
    forms = (*HALF_TO[language], *QUARTER_TO[language])
    return "|".join(sorted(forms, key=len, reverse=True)) or "~"


def _spans(folded: str, language: str) -> Iterator[TimeSpot]:
    clock = clock_form(language)
    opening, joint = meeting_phrases.BETWEEN[language]
    about = ABOUT[language]
    forms = (
        rf"\b(?:{opening}) (?:(?:{about}) )?({clock})\.? ?(?:{joint}) ?(?:(?:{about}) )?({clock})"
        r"(?:\b|$)",
        rf"\b({clock}) ?(?:-|to|bis|az|do) ?(?:(?:{about}) )?({clock})(?:\b|$)",
    )
    for place, form in enumerate(forms):
        for match in compiled(form).finditer(folded):
            spot = _span(match, folded, language, bare=place == 0)
            if spot is not None:
                yield spot


def _span(match: Any, folded: str, language: str, *, bare: bool) -> TimeSpot | None:
    texts = match.groups()
    if _MINUTES_TO.search(match.group()):
        return None
    before = folded[max(0, match.start() - 1) : match.start()]
    if before in (".", "/", "-", ",", ":") or _NOT_TIME.search(folded[match.end() :]):
        return None
    in_brackets = before == "(" and folded[match.end() :].startswith(")")
    if not bare and not in_brackets and all(text.isdecimal() for text in texts):
        return None  # `5-10` may be anything
    suffix = _suffix(texts[1], language)
    first = read_clock(texts[0], language, suffix)
    last = read_clock(texts[1], language, suffix)
    if first is not None and last is not None and first >= last:
        first = read_clock(texts[0], language, "")
    if first is None or last is None or first >= last:
        return None
    return TimeSpot(match.start(), match.end(), None, first, last)


def _limits(folded: str, language: str) -> Iterator[TimeSpot]:
    clock = clock_form(language)
    for kind, table in (
        ("after", meeting_phrases.AFTER),
        ("before", meeting_phrases.BEFORE),
        ("at", meeting_phrases.AT),
    ):
        form = rf"\b(?:{table[language]}) (?:(?:{ABOUT[language]}) )?({clock})(?:\b|$)"
        for match in compiled(form).finditer(folded):
            minute = None
            is_count = _COUNT.search(match.group()) is not None
            if not is_count and not _is_other(folded, match.start(), match.end(), language):
                minute = read_clock(match.group(1), language, "")
            if minute is not None:
                yield _limit(match.start(), match.end(), kind, minute)
    yield from _loose_times(folded, language)


def _is_other(folded: str, start: int, end: int, language: str) -> bool:
    """Whether a number is no hour, or stands so close to it that it is no wide limit."""
    if _NOT_TIME.search(folded[end:]) or compiled(NO_HOUR[language]).search(folded[end:]):
        return True
    return _is_close(folded, start, language)


def _is_close(folded: str, start: int, language: str) -> bool:
    """Whether a word makes `before` or `after` mean close to the time: `shortly after two`."""
    lead = folded[max(0, start - _REACH) : start]
    is_bound = _BOUND.search(folded[start:]) is not None
    return is_bound and compiled(NARROWLY[language]).search(lead) is not None


def _loose_times(folded: str, language: str) -> Iterator[TimeSpot]:
    """`around 10`, `4 pm at the latest`."""
    clock = clock_form(language)
    loose = rf"\b(?:{_LOOSE[language]}) ({clock}){_ENDS}"
    for match in compiled(loose).finditer(folded):
        minute = read_clock(match.group(1), language, "")
        if minute is not None and not _COUNT.search(match.group(1)):
            yield TimeSpot(match.start(), match.end(1), minute)

    for match in compiled(rf"\b({clock}) (?:{AT_LATEST[language]})").finditer(folded):
        minute = read_clock(match.group(1), language, "")
        if minute is not None:
            yield _limit(match.start(), match.end(), "before", minute)


def _limit(start: int, end: int, kind: str, minute: int) -> TimeSpot:
    if kind == "after":
        return TimeSpot(start, end, None, minute, DAY)
    if kind == "before":
        return TimeSpot(start, end, None, 0, minute)
    return TimeSpot(start, end, minute)


def _alone(folded: str, language: str) -> Iterator[TimeSpot]:
    """A time without a word before it, where it cannot be another number."""
    suffix = SUFFIXES[language]
    forms = [
        r"[0-9]{1,2}:[0-9]{2}(?: ?(?:{s}))?",
        r"[0-9]{1,2}[.][0-9]{2} ?(?:{s})",
        r"[0-9]{1,2} ?(?:{s})",
        rf"(?:{NOON[language]})",
    ]
    hours = "|".join(sorted(HOUR_WORDS[language], key=len, reverse=True))
    forms.append(rf"(?:{_before_hour(language)}) (?:{hours}|[0-9]{{1,2}})(?: (?:{{s}}))?")
    forms.append(rf"(?:{hours}) (?:{{s}})")
    pattern = "|".join(forms).replace("{s}", suffix)
    for match in compiled(rf"(?:^|[^a-z0-9.:/-])({pattern})(?:\b|$)").finditer(folded):
        if _NOT_TIME.search(folded[match.end(1) :]) or match.group(1).startswith("jednou"):
            continue  # `jednou odpoledne` is once some afternoon
        if _COUNT.search(match.group(1)) or _BOUNDED.search(folded[: match.start(1)][-_REACH:]):
            continue
        minute = read_clock(match.group(1), language, "")
        if minute is not None:
            yield TimeSpot(match.start(1), match.end(1), minute)


def _suffix(text: str, language: str) -> str:
    match = compiled(rf"(?:{SUFFIXES[language]})$").search(text)
    return "" if match is None else str(match.group())


def read_clock(text: str, language: str, borrowed: str) -> int | None:
    """The minute of the day that a written time means; None where it means none."""
    if compiled(rf"^(?:{NOON[language]})$").search(text):
        return 12 * 60
    suffix = _suffix(text, language)
    body = text.removesuffix(suffix).strip()
    shift = 0
    counted = [(compiled(form).search(body), minutes) for form, minutes in _minute_forms(language)]
    read = [(match.group(), minutes) for match, minutes in counted if match is not None]
    if read:
        said, shift = max(read, key=lambda form: len(form[0]))
        body = body.replace(said, "", 1).strip()
    if body == "ein" and not suffix:
        return None  # `um ein Angebot`
    return _minute(body, HOUR_WORDS[language], suffix or borrowed, shift)


@cache
def _minute_forms(language: str) -> list[tuple[str, int]]:
    """The ways to count minutes from an hour, before it and behind it."""
    before = HALF_TO[language] | QUARTER_TO[language]
    forms = [(rf"^(?:{form}) ", minutes) for form, minutes in before.items()]
    behind = MINUTES_PAST[language].items()
    return [*forms, *((rf"[ -](?:{form})$", minutes) for form, minutes in behind)]


def _minute(body: str, words: Mapping[str, int], suffix: str, shift: int) -> int | None:
    digits = compiled(r"^([0-9]{1,2})(?:[:.h]([0-9]{2}))?$").search(body)
    if digits is None and body not in words:
        return None
    hour = words.get(body, 0) if digits is None else int(digits.group(1))
    minutes = 0 if digits is None else int(digits.group(2) or 0)
    if hour > 24 or minutes > 59:
        return None
    hour = _in_the_half(hour, suffix, written=body)
    moment = hour * 60 + minutes + shift
    return moment if 0 <= moment < DAY else None


def _in_the_half(hour: int, suffix: str, *, written: str) -> int:
    """The hour of the day; without a word for it, one that offices are open at."""
    later = compiled(r"^p|tarde|noche|odpoledne|vecer|nachm|abend|afternoon|evening").search(suffix)
    sooner = compiled(r"^a\.?m|manana|rano|dopo|morgen|vorm|morning").search(suffix)
    if hour <= 12 and (later or sooner):
        return hour % 12 + (12 if later else 0)
    if 0 < hour < _EARLIEST and not written.startswith("0"):
        return hour + 12
    return hour
