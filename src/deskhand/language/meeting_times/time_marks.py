"""Everything in a text that is about time, place by place, and what limits or refuses it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deskhand.language.meeting_times import idle_words, wish_words
from deskhand.language.meeting_times.clock_times import TimeSpot, time_spots
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.day_spots import day_spots
from deskhand.language.meeting_times.durations import DurationSpot, duration_spots
from deskhand.language.meeting_times.leaving import leaving_spots
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.zones import ZoneSpot, zone_spots
from deskhand.language.slots.folded_text import FoldedText

_SENTENCE = compiled(r"[.!?…]+(?:\s+|$)|\n\s*\n")
_OPENING = "¿¡\"'„“‚‘«»–- "
"""What may stand before the first letter of a sentence."""
_HOURS = compiled(r"\b(?:uhr|hod)$")
_SHORT_PIECE = compiled(r"(?:\b(?:[a-z]|ca|cca|nr|no|st|tj|mr|mrs|ms|dr|popr|bzw)|^)$")
Mark = DaySpot | TimeSpot | DurationSpot | ZoneSpot
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TimeMarks:
    """What was found in one text; places are those of the folded text."""

    folded: str
    given: FoldedText
    languages: tuple[str, ...]
    days: tuple[DaySpot, ...]
    times: tuple[TimeSpot, ...]
    durations: tuple[DurationSpot, ...]
    zones: tuple[ZoneSpot, ...]
    harmless: tuple[Place, ...]
    events: tuple[Place, ...] = ()
    """Sentences that tell of an event whose end begins the time that suits."""

    @property
    def marks(self) -> list[DaySpot | TimeSpot]:
        """Days and times of day, in the order of the text."""
        both: list[DaySpot | TimeSpot] = [*self.days, *self.times]
        return sorted(both, key=lambda mark: mark.start)

    @property
    def covered(self) -> list[Place]:
        """The places that were understood."""
        return [*self.marked, *self.harmless]

    @property
    def marked(self) -> list[Place]:
        """The places of days, times, lengths and zones."""
        spots: list[Mark] = [*self.days, *self.times, *self.durations, *self.zones]
        return [(spot.start, spot.end) for spot in spots]

    def words_at(self, place: Place) -> str:
        """A place in the words of the text as given."""
        start, end = (self.given.origin(point) for point in place)
        return " ".join(self.given.given[start:end].split())


def read_marks(
    text: str, language: str | None, languages: tuple[str, ...], now: datetime
) -> TimeMarks:
    """Every mark of a text; of two that overlap the longer."""
    reading = FoldedText(text)
    folded = reading.folded
    zones = list(zone_spots(reading))
    spots: list[Mark] = [*zones, *day_spots(reading, language, languages, now)]
    spots += [*duration_spots(folded, languages), *time_spots(folded, languages)]
    spots += leaving_spots(folded, languages)
    kept = _apart([*spots, *_harmless(folded, languages)])
    days = tuple(spot for spot in kept if isinstance(spot, DaySpot))
    times = tuple(spot for spot in kept if isinstance(spot, TimeSpot))
    lengths = tuple(spot for spot in kept if isinstance(spot, DurationSpot))
    named = tuple(spot for spot in kept if isinstance(spot, ZoneSpot))
    idle = tuple((spot[0], spot[1]) for spot in kept if type(spot) is tuple)
    return TimeMarks(folded, reading, languages, days, times, lengths, named, idle)


def _harmless(folded: str, languages: tuple[str, ...]) -> Iterator[Place]:
    """Places about time on which no wish depends."""
    for table in (wish_words.HARMLESS, idle_words.EACH, idle_words.INDIFFERENT):
        for match in any_of(table, languages).finditer(folded):
            yield match.span()
    for language in languages:
        form = idle_words.ON_THE_WAY.get(language, "~")
        for match in compiled(form).finditer(folded):
            yield match.span(match.lastindex or 0)


def _apart(spots: Sequence[Any]) -> list[Any]:
    kept: list[Any] = []
    for spot in sorted(spots, key=lambda spot: spot[0] - spot[1]):
        if all(spot[1] <= other[0] or other[1] <= spot[0] for other in kept):
            kept.append(spot)
    return sorted(kept, key=lambda spot: spot[0])


def overlaps(place: Place, places: Sequence[Place]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in places)


def sentences(marks: TimeMarks) -> Iterator[Place]:
    """The sentences; a full stop of a date, a number or an abbreviation ends none."""
    start = 0
    covered = marks.covered
    for gap in _SENTENCE.finditer(marks.folded):
        piece = marks.folded[start : gap.start()]
        full_stop = gap.group().startswith(".") and "\n" not in gap.group()
        stop = (gap.start(), gap.start() + 1)
        goes_on = _SHORT_PIECE.search(piece[-6:]) or _is_inside(stop, covered)
        if _HOURS.search(piece[-6:]):
            goes_on = not _begins_high(marks, gap.end())
        if full_stop and (goes_on or _is_dates_own(marks, stop[1], gap.end())):
            continue
        yield start, gap.end()
        start = gap.end()
    if start < len(marks.folded):
        yield start, len(marks.folded)


def _is_dates_own(marks: TimeMarks, stop: int, following: int) -> bool:
    """Whether a full stop belongs to a date and the sentence goes on: `am 24.11. um zehn`."""
    is_date = any(spot.end in (stop, stop - 1) for spot in marks.days)
    return is_date and not _begins_high(marks, following)


def _begins_high(marks: TimeMarks, place: int) -> bool:
    following = marks.given.given[marks.given.origin(place) :]
    return following.lstrip(_OPENING)[:1].isupper()


def _is_inside(place: Place, places: Sequence[Place]) -> bool:
    """Whether a place lies in another that goes on behind it."""
    return any(start <= place[0] and place[1] < end for start, end in places)


def pieces(marks: TimeMarks, sentence: Place) -> Iterator[Place]:
    """The parts of a sentence between commas, brackets and words like `but`."""
    start, last = sentence
    covered = [*marks.covered, *words_in(marks, sentence, wish_words.EXCEPTION)]
    for gap in compiled(wish_words.BREAK).finditer(marks.folded[: sentence[1]], sentence[0]):
        if overlaps(gap.span(), covered):
            continue
        if start < gap.start():
            yield start, gap.start()
        start = gap.end()
    if start < last:
        yield start, last


def words_in(
    marks: TimeMarks, place: Place, table: dict[str, str], but: dict[str, str] | None = None
) -> list[Place]:
    """Where words of a table stand in a part of the text, beside what only looks like them."""
    seen = marks.folded[place[0] : place[1]]
    # `any day` is harmless, `any day but Thursday` is not
    covered = marks.marked if table is wish_words.EXCEPTION else marks.covered
    if but is not None:
        covered += [
            (place[0] + match.start(), place[0] + match.end())
            for match in any_of(but, marks.languages).finditer(seen)
        ]
    spots: list[Place] = []
    for match in any_of(table, marks.languages).finditer(seen):
        spot = (place[0] + match.start(), place[0] + match.end())
        if not overlaps(spot, covered):
            spots.append(spot)
    return spots


def is_bare(marks: TimeMarks, place: Place) -> bool:
    """Whether a part of the text holds nothing but times and the small words between them."""
    rest = marks.folded[place[0] : place[1]]
    whereabouts = [(spot.start, spot.end) for spot in marks.zones if not spot.certain]
    for start, end in sorted(set(marks.covered) - set(whereabouts), reverse=True):
        if place[0] <= start and end <= place[1]:
            rest = f"{rest[: start - place[0]]} {rest[end - place[0] :]}"
    small = "|".join(wish_words.SMALL[language] for language in marks.languages)
    joins = "|".join(wish_words.JOIN[language] for language in marks.languages)
    small += "|" + "|".join(wish_words.HENCE[language] for language in marks.languages)
    return compiled(rf"^[\s,.?!¿¡]*(?:(?:{small}|{joins})[\s,.?!¿¡]*)*$").search(rest) is not None
