"""What a sentence says about times: which days with which hours, wished for or refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deskhand.language.meeting_times import hours_of_day, idle_words, wish_words
from deskhand.language.meeting_times.clock_times import TimeSpot
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.hours_of_day import HoursOfDay
from deskhand.language.meeting_times.meeting_phrases import any_of
from deskhand.language.meeting_times.sentence_parts import Marks, Part, joins, parts_of
from deskhand.language.meeting_times.time_marks import (
    Place,
    TimeMarks,
    is_bare,
    words_in,
)

_REACH = 25
"""How far from hours it is looked for `on both days`, in characters."""


@dataclass(slots=True)
class Group:
    """Days, and the hours that belong to them; no days where the hours count for all."""

    days: list[DaySpot] = field(default_factory=list[DaySpot])
    hours: HoursOfDay | None = None
    refused: bool = False
    scope: bool = False
    """Whether the days are only where the refusal counts."""
    stated: bool = False
    """Whether it is only told: neither asked for nor refused."""
    places: list[Place] = field(default_factory=list[Place])

    @property
    def contradicts(self) -> bool:
        """Whether the hours leave nothing together."""
        return self.hours is not None and not self.hours


def groups_of(
    marks: TimeMarks, sentence: Place, unclear: list[Place], used: list[Place]
) -> list[Group]:
    """What a sentence wishes for and refuses, in order.

    Words that refuse something which is not there, or which depends on a condition, are added to
    `unclear`; those that were understood to `used`.
    """
    parts = list(parts_of(marks, sentence, unclear, used))
    for part in parts:
        part.bounds = part.bounds and any(isinstance(mark, DaySpot) for mark in part.marks)
    closed = [part for part in parts if part.refused or part.stated or part.bounds]
    open_parts = [part for part in parts if part not in closed]
    wished: Marks = [mark for part in open_parts for mark in part.marks]
    used += _limiting_words(marks, sentence)
    groups = _with_shared_hours(_paired(wished, marks)) if wished else []
    if not any(group.days for group in groups):
        _take_day(groups, parts, marks)
    for part in parts:
        if part.bounds:
            groups += _bounds(part, marks)
        if part.refused:
            groups += _refusals(part, marks)
        elif part.stated:
            groups += _statements(part, marks)
    return groups


def _take_day(groups: Sequence[Group], parts: Sequence[Part], marks: TimeMarks) -> None:
    """Hours without a day are on the day whose other hours are told of before them: `Friday
    morning I teach, but in the afternoon I could`."""
    stated = [group for part in parts if part.stated for group in _paired(part.marks, marks)]
    if len(stated) != 1 or stated[0].hours is None or len(stated[0].days) != 1:
        return
    for group in groups:
        if group.hours and not hours_of_day.both(group.hours, stated[0].hours):
            group.days = list(stated[0].days)


def _bounds(part: Part, marks: TimeMarks) -> list[Group]:
    """What lies behind the time by which meetings on certain days must be over."""
    groups = [group for group in _paired(part.marks, marks) if group.days]
    for group in groups:
        group.refused = True
        group.hours = hours_of_day.without(hours_of_day.WHOLE, group.hours or frozenset())
    return groups


def _statements(part: Part, marks: TimeMarks) -> list[Group]:
    groups = _paired(part.marks, marks)
    for group in groups:
        group.stated = True
        group.places = [(mark.start, mark.end) for mark in part.marks]
    return groups


def _limiting_words(marks: TimeMarks, sentence: Place) -> list[Place]:
    """Words like `only` that stand before a time."""
    limiting: list[Place] = []
    limits = any_of(wish_words.ONLY, marks.languages)
    for mark in marks.times:
        begins = limits.search(marks.folded[mark.start : mark.end])
        if sentence[0] <= mark.start < sentence[1] and begins is not None:
            limiting.append((mark.start, mark.end))
    for place in words_in(marks, sentence, wish_words.ONLY):
        behind = [mark for mark in marks.marks if place[1] <= mark.start < sentence[1]]
        if behind and is_bare(marks, (place[1], behind[0].start)):
            limiting.append(place)
    return limiting


# --- days and their hours


def _paired(held: Marks, marks: TimeMarks) -> list[Group]:
    """Days with the hours that stand beside them, else with those that follow."""
    groups: list[Group] = []
    for run in _runs(_without_weeks(held), marks):
        if isinstance(run[0], DaySpot):
            open_group = groups[-1] if groups else None
            if open_group is None or open_group.days:
                groups.append(Group())
            groups[-1].days = [mark for mark in run if isinstance(mark, DaySpot)]
            continue
        times = [mark for mark in run if isinstance(mark, TimeSpot)]
        hours = _joined_hours(times, marks)
        last = groups[-1] if groups else None
        if last is not None and _counts_for_all(times, marks):
            for group in groups:
                group.hours = hours_of_day.both(group.hours or hours_of_day.WHOLE, hours)
            continue
        takes = last is not None and last.hours is None and not _leads(run, held, marks)
        if last is not None and takes:
            last.hours = hours
        elif last is not None and last.days and not _leads(run, held, marks):
            last.hours = hours_of_day.both(last.hours or hours_of_day.WHOLE, hours)
        else:
            groups.append(Group(hours=hours))
    return groups


def _counts_for_all(times: Sequence[TimeSpot], marks: TimeMarks) -> bool:
    """Whether hours count for every day before them: `on both days`, and whoever has to leave."""
    if all(spot.leaves for spot in times):
        return True
    near = marks.folded[max(0, times[0].start - _REACH) : times[-1].end + _REACH]
    return any_of(idle_words.EACH, marks.languages).search(near) is not None


def _without_weeks(held: Marks) -> Marks:
    """A week beside one of its weekdays only says which is meant, and `that day` beside the day
    says nothing more."""
    first = next((mark for mark in held if isinstance(mark, DaySpot)), None)
    held = [
        mark
        for mark in held
        if mark is first or not isinstance(mark, DaySpot) or not mark.points_back
    ]
    weekdays = any(isinstance(mark, DaySpot) and mark.weekday is not None for mark in held)
    weeks = [mark for mark in held if isinstance(mark, DaySpot) and mark.kind == "week"]
    return [mark for mark in held if not weekdays or mark not in weeks]


def _runs(held: Marks, marks: TimeMarks) -> Iterator[Marks]:
    """Marks of one kind that follow each other; times that belong to the next day stand apart."""
    run: Marks = []
    for mark in sorted(held, key=lambda mark: mark.start):
        is_time = isinstance(mark, TimeSpot)
        apart = is_time and bool(run) and not is_bare(marks, (run[-1].end, mark.start))
        if run and (type(run[-1]) is not type(mark) or apart or _begins(mark, held, marks)):
            yield run
            run = []
        run.append(mark)
    if run:
        yield run


def _begins(mark: DaySpot | TimeSpot, held: Marks, marks: TimeMarks) -> bool:
    return isinstance(mark, TimeSpot) and _leads([mark], held, marks)


def _leads(run: Marks, held: Marks, marks: TimeMarks) -> bool:
    """Whether hours belong to the day behind them: `or any time on Wednesday`."""
    before = [mark for mark in held if mark.end <= run[0].start]
    behind = [mark for mark in held if mark.start >= run[-1].end]
    if not before or not behind or not any(isinstance(mark, DaySpot) for mark in before):
        return not before
    if not is_bare(marks, (run[-1].end, behind[0].start)) or _joins_or_comma(
        marks, run[-1].end, behind[0].start
    ):
        return False
    return _joins_or_comma(marks, before[-1].end, run[0].start)


def _joins_or_comma(marks: TimeMarks, start: int, end: int) -> bool:
    return "," in marks.folded[start:end] or joins(marks, (start, end))


def _joined_hours(times: Sequence[TimeSpot], marks: TimeMarks) -> HoursOfDay:
    """`10 or 15` is either, `after 10 and before 3` or `in the morning at 10` is both."""
    hours = hours_of_day.of_spots(times[:1])
    for place, (left, right) in enumerate(pairwise(times)):
        after = hours_of_day.of_spots([right])
        bounds = left.at is None and right.at is None and (left.first == 0) != (right.first == 0)
        overlap = hours_of_day.both(hours, after)
        either = _listed(times[place:], marks) and not (bounds and overlap)
        either = either and not (left.leaves or right.leaves)
        hours = hours | after if either else overlap
    return hours


def _listed(times: Sequence[TimeSpot], marks: TimeMarks) -> bool:
    """Whether the first two are of a list: `or` stands between them, or later behind a comma."""
    gaps = [(left.end, right.start) for left, right in pairwise(times)]
    if joins(marks, gaps[0]):
        return True
    return "," in marks.folded[slice(*gaps[0])] and any(joins(marks, gap) for gap in gaps)


def _with_shared_hours(groups: list[Group]) -> list[Group]:
    """Days of a sentence without hours of their own take those of the next days, or of those
    before: less may be offered than suits, never more."""
    following: HoursOfDay | None = None
    for group in reversed(groups):
        if group.hours is not None:
            following = group.hours
        elif group.days:
            group.hours = following
    earlier: HoursOfDay | None = None
    for group in groups:
        if group.hours is not None and group.days:
            earlier = group.hours
        elif group.days and earlier is not None:
            group.hours = earlier
    return groups


def _refusals(part: Part, marks: TimeMarks) -> list[Group]:
    groups = _paired(part.marks, marks)
    for group in groups:
        group.refused = True
        if part.scope and not group.days:
            group.days, group.scope = list(part.scope), True
    return [lone for group in groups for lone in _refused_apart(group)]


def _refused_apart(group: Group) -> list[Any]:
    """Of several days before refused hours, all but the last are refused whole."""
    if group.hours is None or len(group.days) < 2 or group.scope:
        return [group]
    last = Group(group.days[-1:], group.hours, refused=True)
    return [Group(group.days[:-1], None, refused=True), last]
