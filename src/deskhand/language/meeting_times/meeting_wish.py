"""When somebody would like to meet: days, stretches of days, a time of day.

Times that the text refuses do not count.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.day_ranges import (
    Stretch,
    means_week,
    part_of_week,
    stretches,
    week_around,
)
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled, spoken
from deskhand.language.meeting_times.times_of_day import read_day_time
from deskhand.language.slots.date_numeric import Spot
from deskhand.language.slots.dates import date_spots
from deskhand.language.slots.folded_text import FoldedText, Scan, fold
from deskhand.language.slots.slot_context import SlotContext
from deskhand.scheduling.slots import Wish

_LONGEST = 20_000
_SENTENCE = compiled(r"[.!?…]+(?:\s+|$)|\n\s*\n")
_BUT = compiled(r"(?i)[,;]? (?:but|aber|sondern|ale|nybrz|pero|sino|dafür|zato)\b|; ")
_WEEKDAY = r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
_PART = r"vormittag|nachmittag|morgen|mittag|abend"
_COMPOUND = compiled(rf"(?i)({_WEEKDAY})({_PART})")
_SHORT_PIECE = compiled(r"(?:\b(?:[a-z]|ca|cca|nr|no|st|tj|uhr|[0-9]{1,2})|^)$")
_JOINED = compiled(
    r"^[ ,]{0,2}(?:or|and|nebo|ci|a|i|oder|und|bzw\.?|o|y|/)? ?(?:on |am |v |ve |el )?$"
)
_WHEN = SlotSpec(name="when", type="date", prefer="future")
_FARTHEST = timedelta(days=14)
"""Days farther apart than this are no one stretch."""

Days = tuple[date, date]


def read_wish(text: str, language: str | None, now: datetime) -> Wish:
    """The wish that a text tells; one that says nothing where the text is not clear.

    `now` is on the desk's clock.
    """
    languages = spoken(language)
    said = _COMPOUND.sub(r"\1 \2", " \n ".join(welcome(text[:_LONGEST], languages)))
    places = _places(said, language, languages, now)
    clock = read_day_time(fold(said), languages)
    if any_of(meeting_phrases.MOVING, languages).search(fold(said)) is not None:
        places = places[-1:]
    wish = _together(list(dict.fromkeys(days for place in places for days in place)))
    return Wish(wish.day, clock.at, wish.until, wish.or_day, clock.after, clock.before)


def welcome(text: str, languages: tuple[str, ...]) -> Iterator[str]:
    """The sentences of a text that refuse nothing.

    `I cannot on Monday, but Tuesday is fine` counts as two.
    """
    refusal = any_of(meeting_phrases.REFUSAL, languages)
    for sentence in sentences(text):
        for part in _BUT.split(sentence):
            if refusal.search(fold(part)) is None:
                yield part


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a full stop after an abbreviation or a number does not end one."""
    start = 0
    for gap in _SENTENCE.finditer(text):
        piece = text[start : gap.start()]
        full_stop = gap.group().startswith(".") and "\n" not in gap.group()
        if full_stop and _SHORT_PIECE.search(fold(piece)[-6:]):
            continue
        yield text[start : gap.end()].strip()
        start = gap.end()
    if text[start:].strip():
        yield text[start:].strip()


def _places(
    text: str, language: str | None, languages: tuple[str, ...], now: datetime
) -> list[list[Days]]:
    """The days that each place of the text may mean, in order; what is over is left out."""
    scan = Scan(FoldedText(text))
    folded = scan.folded
    today = now.date()
    spots = date_spots(scan, SlotContext(language, now), _WHEN)
    every_stretch = stretches(folded, today, languages)
    more = [stretch for stretch in every_stretch if not _covered(stretch, spots)]
    week = _week(spots, more, folded, languages)

    places = [(stretch.start, [(stretch.first, stretch.last)]) for stretch in more]
    before: tuple[Spot, Days] | None = None
    for spot in spots:
        days = list(_of_spot(spot, before, week, folded, languages))
        places.append((spot.start, days))
        before = (spot, days[-1]) if days else before
    if week is not None and any(spot.weekday is not None for spot in spots):
        # a day of that week is asked for, not the week
        places = [(start, days) for start, days in places if days != [week]]

    ahead = [_from_today(days, today) for _, days in sorted(places)]
    return [days for days in ahead if days]


def _from_today(days: Sequence[Days], today: date) -> list[Days]:
    return [(max(first, today), last) for first, last in days if last >= today]


def _of_spot(
    spot: Spot,
    before: tuple[Spot, Days] | None,
    week: Days | None,
    folded: str,
    languages: tuple[str, ...],
) -> Iterator[Days]:
    """The days of one place.

    A weekday on its own belongs to the week that was named, or follows the day before it.
    """
    lead = folded[max(0, spot.start - 40) : spot.start]
    if spot.precision == "month":
        yield _month(spot.days[0])
        return
    if spot.precision != "exact":
        weeks = spot.days if spot.precision == "week" else ()
        yield from (part_of_week(lead, *week_around(day), languages) for day in weeks)
        return
    if spot.weekday is not None and week is not None:
        day = week[0] + timedelta(days=spot.weekday)
        yield day, day
        return
    if (
        spot.weekday is not None
        and before is not None
        and _JOINED.search(folded[before[0].end : spot.start])
    ):
        earlier = before[1][0]
        day = earlier + timedelta(days=(spot.weekday - earlier.weekday()) % 7)
        yield day, day
        return
    if means_week(lead, languages):
        yield week_around(spot.days[0])
        return
    for day in spot.days:
        yield day, day


def _week(
    spots: Sequence[Spot], more: Sequence[Stretch], folded: str, languages: tuple[str, ...]
) -> Days | None:
    """The one week that the text speaks of."""
    weeks = {week_around(day) for spot in spots if spot.precision == "week" for day in spot.days}
    weeks |= {
        (stretch.first, stretch.last)
        for stretch in more
        if (stretch.last - stretch.first).days == 6
    }
    weeks |= {
        week_around(spot.days[0])
        for spot in spots
        if spot.precision == "exact"
        and means_week(folded[max(0, spot.start - 40) : spot.start], languages)
    }
    return next(iter(weeks)) if len(weeks) == 1 else None


def _covered(stretch: Stretch, spots: Sequence[Spot]) -> bool:
    return any(stretch.start < spot.end and spot.start < stretch.end for spot in spots)


def _month(first: date) -> Days:
    following = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
    return first.replace(day=1), following - timedelta(days=1)


def _together(days: Sequence[Days]) -> Wish:
    """One stretch, two days, or from the first to the last of several that lie near each other."""
    if not days:
        return Wish()
    first = min(begin for begin, _ in days)
    last = max(end for _, end in days)
    if len(days) == 1:
        return Wish(first, until=last if last != first else None)
    single = [begin for begin, end in days if begin == end]
    if len(days) == 2 and len(single) == 2:
        return Wish(first, or_day=last)
    return Wish(first, until=last) if last - first <= _FARTHEST else Wish()
