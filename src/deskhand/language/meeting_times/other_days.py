"""Where somebody says that no other day suits than those he names: `ein anderer Tag geht nicht`."""

from deskhand.language.meeting_times import idle_words, wish_words
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.listed_pieces import joined_pieces, marks_in
from deskhand.language.meeting_times.meeting_phrases import any_of
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, sentences, words_in


def others_refused(marks: TimeMarks) -> list[Place]:
    """The parts of the text that refuse the days which it does not name."""
    parts: list[Place] = []
    for sentence in sentences(marks):
        parts += [part for part in joined_pieces(marks, sentence) if refuses_others(marks, part)]
    return parts


def refuses_others(marks: TimeMarks, part: Place) -> bool:
    """Whether a part refuses all other days; it names none, but may name their week."""
    held = marks_in(marks, part)
    if any(not isinstance(mark, DaySpot) or mark.kind != "week" for mark in held):
        return False
    others = any_of(idle_words.OTHER_DAYS, marks.languages)
    if others.search(marks.folded[part[0] : part[1]]) is None:
        return False
    return bool(words_in(marks, part, wish_words.NEGATION, wish_words.NOT_NEGATION))
