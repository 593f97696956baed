"""What somebody does beside the time he wishes for: `between ten and noon, then I am away`."""

from collections.abc import Iterator

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import DAY, TimeSpot
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, sentences, words_in

_CLAUSE = compiled(r"^[, ]*[^.,;!?\n]*")
_OPENS = compiled(
    r"(?:^|[.,;:!?\n(]|\b(?:a|and|und|y|because|since|denn|weil|protoze|porque|que)) ?$"
)


def busy_besides(marks: TimeMarks) -> list[Place]:
    """The clauses that only say why a wished time ends when it does, or begins; they limit
    nothing more.

    Not so behind a time that is refused, nor where somebody has time then.
    """
    later = _clauses(marks, wish_words.THEN)
    sooner = _clauses(marks, wish_words.BEFORE_THAT)
    spots = [place for place in later if _follows_an_end(marks, place[0])]
    return [*spots, *(place for place in sooner if _follows_a_beginning(marks, place[0]))]


def _clauses(marks: TimeMarks, table: dict[str, str]) -> Iterator[Place]:
    """Clauses that tell what somebody does after or before a time, and name no other."""
    for match in any_of(table, marks.languages).finditer(marks.folded):
        start, end = match.span()
        clause = str(_CLAUSE.search(marks.folded[end:]).group())
        tells = _tells(marks, clause)
        named = any(start <= mark.start < end + len(clause) for mark in marks.marks)
        if tells and not named and _OPENS.search(marks.folded[:start]):
            yield start, end + len(clause)


def _tells(marks: TimeMarks, clause: str) -> bool:
    if any_of(wish_words.UNAVAILABLE, marks.languages).search(clause) is not None:
        return True
    is_busy = any_of(wish_words.BUSY, marks.languages).search(clause) is not None
    return is_busy and not _leaves_time(marks, clause)


def _leaves_time(marks: TimeMarks, clause: str) -> bool:
    tables = (wish_words.OFFERING, wish_words.IDLE, wish_words.NEGATION)
    return any(any_of(table, marks.languages).search(clause) for table in tables)


def _follows_an_end(marks: TimeMarks, place: int) -> bool:
    """Whether the time before a place ends, and nothing is refused from its sentence on."""
    before = [spot for spot in marks.times if spot.end <= place]
    if not before or not _ends(before[-1]):
        return False
    return not any(_refusals(marks, before[-1].start, place))


def _follows_a_beginning(marks: TimeMarks, place: int) -> bool:
    """Whether the time before a place begins, or all before it is refused."""
    before = [spot for spot in marks.times if spot.end <= place]
    if not before:
        return False
    refused = any(_refusals(marks, before[-1].start, before[-1].end))
    begins = before[-1].at is not None or before[-1].first > 0
    return begins != refused


def _ends(spot: TimeSpot) -> bool:
    return spot.at is not None or spot.last < DAY


def _refusals(marks: TimeMarks, time: int, place: int) -> Iterator[Place]:
    for start, end in sentences(marks):
        if time < end and start < place:
            yield from words_in(marks, (start, end), wish_words.NEGATION, wish_words.NOT_NEGATION)
