"""Whether somebody moves or cancels what was agreed, and from when to when."""

from datetime import date, datetime, timedelta

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import as_time
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.sentence_parts import others_refused
from deskhand.language.meeting_times.time_marks import TimeMarks, overlaps, sentences, words_in
from deskhand.language.meeting_times.wished_days import WishedDays, the_week
from deskhand.scheduling.wishes import Wish

_SAME = compiled(
    r"\b(?:same (?:time|hour|slot)|stejn\w+ (?:dobu|cas\w*|hodinu|dobe)|"
    r"(?:gleich|selb)e[nrs]? (?:uhrzeit|zeit|stunde)|misma hora|mismo horario)\b"
)
_TO = compiled(r"\b(?:to|until|na|auf|al?|para(?: el)?|until|den) (?:on |the )?$")
_GIVEN_UP = compiled(
    r"\b(?:no (?:need for a )?new|ersatzlos|bez nahrady|no hace falta|without a new|sin nueva)\b"
)


def change_in(marks: TimeMarks) -> str | None:
    """`move` or `cancel`; None where nothing that was agreed is touched."""
    if _says_off(marks):
        return "cancel"
    moves = _says_move(marks)
    cancels = _says_cancel(marks)
    if moves and not _GIVEN_UP.search(marks.folded):
        return "move"
    if not cancels and not moves:
        return None
    asks = compiled(r"\?").search(marks.folded) is not None and len(marks.days) > 1
    return "move" if asks and not _GIVEN_UP.search(marks.folded) else "cancel"


def _says_move(marks: TimeMarks) -> bool:
    """`the same time` as another zone's moves nothing."""
    apart = [*marks.harmless, *((spot.start, spot.end) for spot in marks.zones)]
    apart += others_refused(marks)
    matches = any_of(wish_words.MOVE, marks.languages).finditer(marks.folded)
    return any(not overlaps(match.span(), apart) for match in matches)


def _says_cancel(marks: TimeMarks) -> bool:
    apart = others_refused(marks)
    matches = any_of(wish_words.CANCEL, marks.languages).finditer(marks.folded)
    return any(not overlaps(match.span(), apart) for match in matches)


def _says_off(marks: TimeMarks) -> bool:
    """Whether a sentence refuses an appointment that it speaks of as agreed."""
    for start, end in sentences(marks):
        agreed = any_of(wish_words.AGREED, marks.languages).search(marks.folded[start:end])
        refusals = words_in(marks, (start, end), wish_words.NEGATION, wish_words.NOT_NEGATION)
        if agreed is not None and refusals:
            return True
    return False


def changed_wish(marks: TimeMarks, change: str, now: datetime, beside: TimeMarks | None) -> Wish:
    """What was agreed and what is wished for in its place, as far as it is said.

    `beside` is read for the time that was agreed where the words themselves do not say it: the
    subject, or the mail that is answered.
    """
    old_day, new_day = _old_and_new(marks, now)
    clocks = _clocks(marks)
    elsewhere = [] if beside is None else _clocks(beside)
    if old_day is None and beside is not None:
        old_day = _first_day(beside, now)
    only_new = len(clocks) == 1 and new_day is not None and _is_behind_new(marks, new_day, now)
    old_clock = next(iter(elsewhere if only_new else [*clocks, *elsewhere]), None)
    old_at = None if old_clock is None else as_time(old_clock)
    old = None if old_day is None else (old_day, old_at)
    if change == "cancel":
        return Wish(change=change, old=old)

    new_at = as_time(clocks[-1]) if only_new else None
    if len(clocks) > 1:
        new_at = as_time(clocks[1])
    if _SAME.search(marks.folded) or (new_at is None and old is not None):
        new_at = new_at or old_at
    week = the_week(marks.days)
    if new_day is None and week is not None and old_day is not None:
        new_day = week[0] + timedelta(days=old_day.weekday())
    if new_day is None:
        return Wish(change=change, old=old)
    return Wish(new_day, new_at, change=change, old=old)


def _is_behind_new(marks: TimeMarks, new_day: date, now: datetime) -> bool:
    """Whether the time stands behind the new day: `from Monday to Tuesday at ten`."""
    clock = next(spot for spot in marks.times if spot.at is not None)
    spots = _ends_apart(marks)
    before = [spot for spot in spots if spot.end <= clock.start]
    return bool(before) and len(spots) > 1 and _day_of(before[-1], marks, now) == new_day


def _ends_apart(marks: TimeMarks) -> list[DaySpot]:
    """The days; `from Wednesday to Thursday` are two here."""
    spots: list[DaySpot] = []
    for spot in marks.days:
        spots.append(spot._replace(to_weekday=None))
        if spot.to_weekday is not None:
            spots.append(spot._replace(weekday=spot.to_weekday, to_weekday=None))
    return spots


def _clocks(marks: TimeMarks) -> list[int]:
    return [spot.at for spot in marks.times if spot.at is not None]


def _old_and_new(marks: TimeMarks, now: datetime) -> tuple[date | None, date | None]:
    """The day that was agreed and the one that is wished for; the only one is the agreed one,
    unless it is moved to that day."""
    spots = _ends_apart(marks)
    days = [(spot, day) for spot in spots if (day := _day_of(spot, marks, now)) is not None]
    if not days:
        return None, None
    old = days[0][1]
    others = [day for _, day in days if day != old]
    if others:
        return old, others[0]
    spot, day = days[0]
    if _TO.search(marks.folded[max(0, spot.start - 14) : spot.start]):
        return None, day
    return day, None


def _first_day(marks: TimeMarks, now: datetime) -> date | None:
    days = (_day_of(spot, marks, now) for spot in marks.days)
    return next((day for day in days if day is not None), None)


def _day_of(spot: DaySpot, marks: TimeMarks, now: datetime) -> date | None:
    if spot.kind not in ("day", "weekday"):
        return None
    if spot.weekday is None:
        return spot.days[0][0]
    resolved = WishedDays(now.date(), None)
    return resolved.weekday(spot.weekday)
