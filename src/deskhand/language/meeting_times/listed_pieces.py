"""The parts of a sentence, where a list of days or times before a verb is one part: `Monday,
Wednesday and Friday I am away` refuses Monday as well."""

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import TimeSpot
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.hours_of_day import both, of_spots
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, is_bare, pieces

_COMMA = compiled(r"^[ ,]*$")
_BEST = (
    r"\b(?:preferably|ideally|best|nejlepe|idealne|nejradeji|am (?:liebsten|besten)|lieber|"
    r"ideal\w*|preferiblemente|mejor)[ ,:]*$"
)
_SINGLE = ("day", "weekday", "weekly")


def joined_pieces(marks: TimeMarks, sentence: Place) -> list[Place]:
    """The parts between commas, brackets and words like `but`; those of one list are joined."""
    joined: list[Place] = []
    for piece in pieces(marks, sentence):
        last = joined[-1] if joined else None
        if last is not None and _is_one_list(marks, last, piece):
            joined[-1] = (last[0], piece[1])
        else:
            joined.append(piece)
    return joined


def may_share_its_verb(marks: TimeMarks, left: Place, right: Place) -> bool:
    """Whether days with their hours may be told of by the verb behind the next ones: `Monday
    9-10, Tuesday 2-4 I teach`."""
    if not _stands_in_list(marks, left, right):
        return False
    return all(_shape(marks, piece) == {DaySpot, TimeSpot} for piece in (left, right))


def _is_one_list(marks: TimeMarks, left: Place, right: Place) -> bool:
    if not _stands_in_list(marks, left, right):
        return False
    first = marks_in(marks, right)[0]
    listed = [*marks_in(marks, left), first]
    if len({type(mark) for mark in listed}) > 1:
        return False
    return all(_is_single(mark) for mark in listed)


def _stands_in_list(marks: TimeMarks, left: Place, right: Place) -> bool:
    """Whether a part holds nothing but times, and the next one goes on with such after a comma."""
    held = marks_in(marks, right)
    if not marks_in(marks, left) or not held or not is_bare(marks, left):
        return False
    if not _COMMA.search(marks.folded[left[1] : right[0]]):
        return False
    if compiled(_BEST).search(marks.folded[: left[0]]):
        return False  # `preferably in the morning, in the afternoon I teach`
    if _only_then(marks, left, held[0]):
        return False  # `only from two, in the mornings we rehearse`
    alternatives = any_of(wish_words.OR, marks.languages).search(marks.folded[slice(*left)])
    return alternatives is None and is_bare(marks, (right[0], held[0].start))


def _only_then(marks: TimeMarks, left: Place, reason: DaySpot | TimeSpot) -> bool:
    """Whether hours are the only ones that suit, and the part of the day that is told of next is
    another: that is why."""
    hours = marks_in(marks, left)
    if any(isinstance(mark, DaySpot) for mark in hours) or isinstance(reason, DaySpot):
        return False
    said = marks.folded[left[0] : left[1]]
    if not reason.part or any_of(wish_words.ONLY, marks.languages).search(said) is None:
        return False
    times = [mark for mark in hours if isinstance(mark, TimeSpot)]
    return not both(of_spots(times), of_spots([reason]))


def _is_single(mark: DaySpot | TimeSpot) -> bool:
    if isinstance(mark, TimeSpot):
        return True
    return mark.kind in _SINGLE and not mark.limit


def _shape(marks: TimeMarks, piece: Place) -> set[type]:
    return {type(mark) for mark in marks_in(marks, piece)}


def marks_in(marks: TimeMarks, piece: Place) -> list[DaySpot | TimeSpot]:
    """The days and times that lie in a part of the text."""
    return [mark for mark in marks.marks if piece[0] <= mark.start and mark.end <= piece[1]]
