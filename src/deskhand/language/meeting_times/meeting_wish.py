"""When somebody would like to meet, in his own words; all of them are understood, or the wish
says which were not."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from zoneinfo import ZoneInfo

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.agreed_change import change_in, changed_wish
from deskhand.language.meeting_times.busy_later import busy_besides
from deskhand.language.meeting_times.clock_times import DAY, TimeSpot, as_time
from deskhand.language.meeting_times.events import with_events
from deskhand.language.meeting_times.hours_of_day import (
    WHOLE,
    HoursOfDay,
    Piece,
    both,
    of_spots,
)
from deskhand.language.meeting_times.meeting_phrases import LANGUAGES, any_of, compiled, spoken
from deskhand.language.meeting_times.sentence_parts import others_refused
from deskhand.language.meeting_times.time_marks import (
    Place,
    TimeMarks,
    is_bare,
    overlaps,
    read_marks,
    sentences,
)
from deskhand.language.meeting_times.wish_groups import groups_of
from deskhand.language.meeting_times.wished_days import FARTHEST, WishedDays, the_week
from deskhand.scheduling.wishes import Window, Wish, wish_of

_LONGEST = 20_000
_WEEKDAY = r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
_PART = r"vormittag|nachmittag|morgen|mittag|abend"
_COMPOUND = compiled(rf"(?i)({_WEEKDAY})({_PART})")
_MOST_UNCLEAR = 6
_BESIDE = 5
"""Characters between a day and the time that belongs to it."""
_NEAR = 12
"""Characters between a word like `during` and the day that it belongs to."""
_SHOWN = 60
"""Characters that are shown of a text in a language whose times are not read."""


def read_wish(text: str, language: str | None, now: datetime, beside: str = "") -> Wish:
    """The wish that a text tells, on the desk's clock, which is that of `now`.

    What the wish leaves open is named in `unclear`: every word about time must have been
    understood. `beside` is only asked when an agreed time is changed that the text does not name.
    """
    languages = _languages(language)
    said = _COMPOUND.sub(r"\1 \2", text[:_LONGEST])
    marks = with_events(read_marks(said, language, languages, now))
    change = change_in(marks)
    if change is not None and _speaks_of_time(marks, beside):
        context = read_marks(beside, language, languages, now) if beside else None
        return changed_wish(marks, change, now, context)

    unclear: list[Place] = []
    used: list[Place] = []
    wished = WishedDays(now.date(), the_week(marks.days))
    for sentence in sentences(marks):
        wished.take(groups_of(marks, sentence, unclear, used))
    if wished.calls_off():
        context = read_marks(beside, language, languages, now) if beside else None
        return changed_wish(marks, "cancel", now, context)
    if wished.is_open:
        unclear += others_refused(marks)
    if wished.contradicts:
        unclear += [(spot.start, spot.end) for spot in marks.times]
    unclear += wished.doubtful()
    unclear += [(spot.start, spot.end) for spot in marks.days if spot.kind == "doubt"]
    unclear += _left_over(marks, used)
    unclear += _after_leaving(marks) + _until_when(marks) + _contradicting(marks)
    zone = _zone(marks, now, unclear)
    windows = _windows(wished, now, zone)
    if windows is None:
        unclear += [(mark.start, mark.end) for mark in marks.marks]
    minutes = _minutes(marks, unclear)
    return _made(marks, windows or (), unclear, minutes, zone, language)


def _languages(language: str | None) -> tuple[str, ...]:
    """The text's own language and English, which many mix in; all where it is not known."""
    own = spoken(language)
    return own if len(own) > 1 or own == ("en",) else (*own, "en")


def _speaks_of_time(marks: TimeMarks, beside: str) -> bool:
    return bool(marks.days or marks.times or beside)


def _made(
    marks: TimeMarks,
    windows: tuple[Window, ...],
    unclear: Sequence[Place],
    minutes: int | None,
    zone: str | None,
    language: str | None,
) -> Wish:
    wish = wish_of(windows)
    words = [marks.words_at(place) for place in sorted(set(unclear))]
    primary = (language or "").partition("-")[0].lower()
    if primary and primary not in LANGUAGES:
        words = words or [marks.words_at((0, _SHOWN))]
    return Wish(
        wish.day,
        wish.at,
        wish.until,
        wish.or_day,
        wish.after,
        wish.before,
        wish.windows,
        minutes,
        zone,
        unclear=tuple(dict.fromkeys(words))[:_MOST_UNCLEAR],
    )


def _left_over(marks: TimeMarks, used: Sequence[Place]) -> list[Place]:
    """The words about time that nothing accounts for."""
    covered = [*marks.covered, *used, *busy_besides(marks), *_before_a_day(marks)]
    matches = [
        *any_of(wish_words.LEFTOVER, marks.languages).finditer(marks.folded),
        *compiled(wish_words.LEFTOVER_CLOCK).finditer(marks.folded),
    ]
    return [match.span() for match in matches if not overlaps(match.span(), covered)]


def _before_a_day(marks: TimeMarks) -> list[Place]:
    """Words like `during` with nothing but small words between them and a day."""
    words = any_of(wish_words.DURING, marks.languages).finditer(marks.folded)
    return [match.span() for match in words if _leads_to_a_day(marks, match.end())]


def _leads_to_a_day(marks: TimeMarks, place: int) -> bool:
    near = [spot.start for spot in marks.days if 0 <= spot.start - place <= _NEAR]
    return bool(near) and is_bare(marks, (place, min(near)))


def _after_leaving(marks: TimeMarks) -> list[Place]:
    """Where somebody must go, and other times are named after that: he may come back."""
    places: list[Place] = []
    for gone in marks.times:
        comes_back = any(_begins(other) >= gone.last for other in marks.times)
        if gone.leaves and comes_back:
            places.append((gone.start, gone.end))
    return places


def _begins(spot: TimeSpot) -> int:
    return spot.first if spot.at is None else spot.at


def _until_when(marks: TimeMarks) -> list[Place]:
    """`by Friday noon`: a time beside the last day bounds that day, and says nothing of others."""
    last = [spot for spot in marks.days if spot.limit in ("until", "before")]
    return [
        (day.start, clock.end)
        for day in last
        for clock in marks.times
        if clock.at is not None and 0 <= clock.start - day.end <= _BESIDE
    ]


def _contradicting(marks: TimeMarks) -> list[Place]:
    """`in the morning at one`: two times side by side that leave nothing together."""
    return [
        (left.start, right.end)
        for left, right in pairwise(marks.times)
        if marks.folded[left.end : right.start] == " "
        and not both(of_spots([left]), of_spots([right]))
    ]


def _minutes(marks: TimeMarks, unclear: list[Place]) -> int | None:
    lengths = {spot.minutes for spot in marks.durations}
    if len(lengths) > 1:
        unclear += [(spot.start, spot.end) for spot in marks.durations]
    return max(lengths, default=None)


# --- zones


def _zone(marks: TimeMarks, now: datetime, unclear: list[Place]) -> str | None:
    """The zone of the times that are named; None where it is the desk's own."""
    if not marks.times:
        return None
    named = {spot.zone for spot in marks.zones if spot.certain and spot.zone is not None}
    places = {spot.zone for spot in marks.zones if not spot.certain and spot.zone is not None}
    zones = named or places
    abroad = {zone for zone in zones if _differs(zone, now)}
    says_own = any(spot.zone is None for spot in marks.zones)
    spots = [(spot.start, spot.end) for spot in marks.zones]
    unsaid = abroad and not named and not says_own
    doubtful = len(zones) > 1 or unsaid or (says_own and not zones)
    if doubtful and (abroad or says_own):
        unclear += spots
    return next(iter(abroad)) if len(abroad) == 1 and len(zones) == 1 else None


def _differs(zone: str, now: datetime) -> bool:
    there = ZoneInfo(zone)
    moments = (now + timedelta(days=ahead) for ahead in (0, 14, 28))
    return any(moment.utcoffset() != moment.astimezone(there).utcoffset() for moment in moments)


# --- windows


def _windows(wished: WishedDays, now: datetime, zone: str | None) -> tuple[Window, ...] | None:
    """What suits, as few windows as possible; None where nothing is left."""
    if wished.is_open and not wished.refused and not wished.scopes:
        if wished.general == WHOLE:
            return ()
        if zone is None:
            return tuple(_of_piece(None, None, piece) for piece in sorted(wished.general, key=str))
    by_day = wished.result()
    if zone is not None:
        by_day = _moved(by_day, ZoneInfo(zone), now)
    if not by_day:
        return None
    if wished.is_open and all(days is None for days, _ in wished.refused) and zone is None:
        [hours] = set(by_day.values())
        return tuple(_of_piece(None, None, piece) for piece in sorted(hours, key=str))
    return tuple(_runs(by_day))


def _moved(
    by_day: dict[date, HoursOfDay], there: ZoneInfo, now: datetime
) -> dict[date, HoursOfDay]:
    """The hours of another zone on the desk's clock."""
    moved: dict[date, HoursOfDay] = {}
    for day, hours in by_day.items():
        if hours == WHOLE:
            moved[day] = moved.get(day, frozenset()) | hours
            continue
        midnight = datetime(day.year, day.month, day.day, 12, tzinfo=there)
        here = midnight.astimezone(now.tzinfo).replace(tzinfo=None)
        shift = round((here - midnight.replace(tzinfo=None)).total_seconds() / 60)
        for piece in hours:
            for ahead, part in _shifted(piece, shift):
                place = day + timedelta(days=ahead)
                moved[place] = moved.get(place, frozenset()) | {part}
    return dict(sorted(moved.items()))


def _shifted(piece: Piece, shift: int) -> Iterable[tuple[int, Piece]]:
    """A piece of a day later by so many minutes, with the day that it falls on."""
    at, first, last = piece
    if at is not None:
        ahead, minute = divmod(at + shift, DAY)
        return [(ahead, (minute, 0, DAY))]
    parts: list[tuple[int, Piece]] = []
    for ahead in (-1, 0, 1):
        start = max(first + shift, ahead * DAY)
        end = min(last + shift, (ahead + 1) * DAY)
        if start < end:
            parts.append((ahead, (None, start - ahead * DAY, end - ahead * DAY)))
    return parts


def _runs(by_day: dict[date, HoursOfDay]) -> list[Window]:
    """Days that follow each other with the same hours are one window."""
    numbered = list(enumerate(sorted(by_day.items())))
    windows: list[Window] = []
    for _, several in groupby(
        numbered, key=lambda item: (item[1][0].toordinal() - item[0], sorted(item[1][1], key=str))
    ):
        days = [day for _, (day, _) in several]
        for piece in sorted(by_day[days[0]], key=str):
            windows.append(_of_piece(days[0], days[-1], piece))
    return windows


def _of_piece(first: date | None, last: date | None, piece: Piece) -> Window:
    at, start, end = piece
    if at is not None:
        return Window(first, last, at=as_time(at))
    after = as_time(start) if start else None
    return Window(first, last, after=after, before=as_time(end))


__all__ = ["FARTHEST", "read_wish"]
