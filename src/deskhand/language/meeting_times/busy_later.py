"""What somebody does after the time he wishes for: `between ten and noon, then I am away`."""

from collections.abc import Iterator

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import DAY, TimeSpot
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, sentences, words_in

_CLAUSE = compiled(r"^[, ]*[^.,;!?\n]*")
_OPENS = compiled(r"(?:^|[.,;:!?\n(]|\b(?:a|and|und|y)) ?$")


def busy_later(marks: TimeMarks) -> list[Place]:
    """The words that only say why a wished time ends when it does; they limit nothing more.

    Not so behind a time that is refused, nor where somebody has time later.
    """
    spots: list[Place] = []
    for match in any_of(wish_words.THEN, marks.languages).finditer(marks.folded):
        start, end = match.span()
        clause = str(_CLAUSE.search(marks.folded[end:]).group())
        tells = any_of(wish_words.BUSY, marks.languages).search(clause) is not None
        if not tells or not _OPENS.search(marks.folded[:start]) or _leaves_time(marks, clause):
            continue
        named = any(start <= mark.start < end + len(clause) for mark in marks.marks)
        if not named and _follows_an_end(marks, start):
            spots.append((start, end))
    return spots


def _leaves_time(marks: TimeMarks, clause: str) -> bool:
    tables = (wish_words.OFFERING, wish_words.IDLE, wish_words.NEGATION)
    return any(any_of(table, marks.languages).search(clause) for table in tables)


def _follows_an_end(marks: TimeMarks, place: int) -> bool:
    """Whether the time before a place ends, and nothing is refused from its sentence on."""
    before = [spot for spot in marks.times if spot.end <= place]
    if not before or not _ends(before[-1]):
        return False
    return not any(_refusals(marks, before[-1].start, place))


def _ends(spot: TimeSpot) -> bool:
    return spot.at is not None or spot.last < DAY


def _refusals(marks: TimeMarks, time: int, place: int) -> Iterator[Place]:
    for start, end in sentences(marks):
        if time < end and start < place:
            yield from words_in(marks, (start, end), wish_words.NEGATION, wish_words.NOT_NEGATION)
