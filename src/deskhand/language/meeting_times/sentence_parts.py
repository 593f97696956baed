"""What the parts of a sentence do with the times in them: wish for them, refuse them, or merely
tell of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deskhand.language.meeting_times import idle_words, wish_words
from deskhand.language.meeting_times.busy_later import busy_besides
from deskhand.language.meeting_times.clock_times import TimeSpot
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.listed_pieces import (
    joined_pieces,
    marks_in,
    may_share_its_verb,
)
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.meeting_times.time_marks import (
    Place,
    TimeMarks,
    is_bare,
    overlaps,
    sentences,
    words_in,
)

Marks = list[DaySpot | TimeSpot]
_FEW_WORDS = 8
_HENCE = {language: rf"\b(?:{words})\b" for language, words in wish_words.HENCE.items()}


@dataclass(slots=True)
class Part:
    """Marks that are wished for or refused together."""

    marks: Marks
    refused: bool
    scope: Sequence[DaySpot] = ()
    stated: bool = False
    bounds: bool = False
    """Whether it only says by when a meeting on its days must be over."""


def parts_of(
    marks: TimeMarks, sentence: Place, unclear: list[Place], used: list[Place]
) -> Iterator[Part]:
    """The parts with days or times, in order.

    Words that refuse something which is not there, or which depends on a condition, are added to
    `unclear`; those that were understood to `used`.
    """
    before: Part | None = None
    last: Place | None = None
    reasons = busy_besides(marks)
    for piece in joined_pieces(marks, sentence):
        refusals = _refusals_in(marks, piece)
        if _refuses_others(marks, piece) or overlaps(piece, reasons):
            used.append(piece)
            continue
        exceptions = _exceptions_in(marks, piece)
        if not marks_in(marks, piece):
            unclear += [place for place in refusals if _near_times(marks, sentence)]
            unclear += exceptions
            continue
        unclear += _conditional(marks, sentence, refusals) + _long_over(marks, piece, refusals)
        used += [*exceptions, *refusals]
        made = list(_parts_of_piece(marks, sentence, piece, before, unclear))
        is_told = bool(made) and (made[-1].refused or made[-1].stated)
        if is_told and last is not None and may_share_its_verb(marks, last, piece):
            unclear.append(last)
        last = piece
        before = made[-1] if made else before
        yield from made


def others_refused(marks: TimeMarks) -> list[Place]:
    """The parts of the text that refuse the days which it does not name: `ein anderer Tag geht
    nicht`."""
    parts: list[Place] = []
    for sentence in sentences(marks):
        parts += [part for part in joined_pieces(marks, sentence) if _refuses_others(marks, part)]
    return parts


def _refuses_others(marks: TimeMarks, part: Place) -> bool:
    """Whether a part refuses all other days; it names none, but may name their week."""
    held = marks_in(marks, part)
    if any(not isinstance(mark, DaySpot) or mark.kind != "week" for mark in held):
        return False
    others = any_of(idle_words.OTHER_DAYS, marks.languages)
    if others.search(marks.folded[part[0] : part[1]]) is None:
        return False
    return bool(words_in(marks, part, wish_words.NEGATION, wish_words.NOT_NEGATION))


def _parts_of_piece(
    marks: TimeMarks, sentence: Place, piece: Place, before: Part | None, unclear: list[Place]
) -> Iterator[Part]:
    """What is wished for, refused or told; when somebody leaves is never refused."""
    held = marks_in(marks, piece)
    refusals, exceptions = _refusals_in(marks, piece), _exceptions_in(marks, piece)
    if not exceptions and not refusals:
        yield _offered_or_told(marks, sentence, piece, before, unclear)
        return
    leaving: Marks = [mark for mark in held if isinstance(mark, TimeSpot) and mark.leaves]
    held = [mark for mark in held if mark not in leaving]
    if held and exceptions and refusals:
        yield from _refused_but(held, refusals, exceptions, unclear)
    elif held and exceptions:
        yield from _excepted(held, exceptions[0], marks, unclear)
    elif held:
        yield from _negated(held, refusals, marks, unclear)
    if leaving:
        yield Part(leaving, refused=False)


def _is_the_only(marks: TimeMarks, sentence: Place) -> bool:
    """Whether a sentence says that no other day suits than the one that it names."""
    parts = joined_pieces(marks, sentence)
    named = [mark for mark in marks_in(marks, sentence) if isinstance(mark, DaySpot)]
    return len(named) == 1 and any(_refuses_others(marks, part) for part in parts)


def _exceptions_in(marks: TimeMarks, piece: Place) -> list[Place]:
    """The words of a part that except something."""
    return words_in(marks, piece, wish_words.EXCEPTION, wish_words.NOT_EXCEPTION)


def _long_over(marks: TimeMarks, piece: Place, refusals: Sequence[Place]) -> list[Place]:
    """Days that are over beside a refusal: `not in the last week` does not speak of them."""
    if not refusals:
        return []
    past = [mark for mark in marks_in(marks, piece) if getattr(mark, "kind", "") == "past"]
    return [(mark.start, mark.end) for mark in past]


def _refusals_in(marks: TimeMarks, piece: Place) -> list[Place]:
    """The words of a part that refuse."""
    if _is_free(marks, piece):
        return []
    return words_in(marks, piece, wish_words.NEGATION, wish_words.NOT_NEGATION)


def _is_free(marks: TimeMarks, piece: Place) -> bool:
    said = marks.folded[piece[0] : piece[1]]
    return any_of(wish_words.NOTHING_PLANNED, marks.languages).search(said) is not None


def _offered_or_told(
    marks: TimeMarks, sentence: Place, piece: Place, before: Part | None, unclear: list[Place]
) -> Part:
    """A part that refuses nothing of its own; it may go on with a list of what is refused."""
    held = marks_in(marks, piece)
    if before is None or not _is_list(before, held) or not is_bare(marks, piece):
        is_offer = _is_free(marks, piece) or _offers(marks, sentence, piece, before)
        is_offer = is_offer or sentence in marks.events or _is_the_only(marks, sentence)
        times = [mark for mark in held if isinstance(mark, TimeSpot)]
        bounds = not is_offer and bool(times) and all(mark.leaves for mark in times)
        return Part(held, refused=False, stated=not is_offer and not bounds, bounds=bounds)
    in_brackets = marks.folded[: piece[0]].endswith("(")
    if not in_brackets and not joins(marks, piece):
        unclear.append(piece)
    return Part(held, refused=True)


def _conditional(marks: TimeMarks, sentence: Place, refusals: Sequence[Place]) -> list[Place]:
    """A refusal that depends on something: `if Thursday does not work`."""
    conditions = words_in(marks, sentence, wish_words.CONDITION)
    return [*conditions, *refusals] if conditions and refusals else []


def _offers(marks: TimeMarks, sentence: Place, piece: Place, before: Part | None) -> bool:
    """Whether a part of a sentence asks or offers, by a word that does so.

    Times alone go on with what was said before them; a few words as in a subject ask if they
    name a meeting.
    """
    if any_of(wish_words.OFFERING, marks.languages).search(marks.folded[piece[0] : piece[1]]):
        return True
    if is_bare(marks, piece):
        follows = any_of(_HENCE, marks.languages).search(marks.folded[piece[0] : piece[1]])
        return before is None or not before.stated or follows is not None
    said = marks.folded[sentence[0] : sentence[1]]
    names = any_of(wish_words.MEETING, marks.languages).search(said)
    return names is not None and len(said.split()) <= _FEW_WORDS


def _is_list(before: Part, held: Marks) -> bool:
    """Whether marks may go on with a list of refused ones: days after days, times after times."""
    kinds = {type(mark) for mark in [*before.marks[-1:], *held]}
    wide = [mark for mark in held if isinstance(mark, DaySpot) and mark.kind in ("week", "stretch")]
    leaves = any(isinstance(mark, TimeSpot) and mark.leaves for mark in held)
    return before.refused and len(kinds) == 1 and not wide and not leaves


def _near_times(marks: TimeMarks, sentence: Place) -> bool:
    return any(sentence[0] <= mark.start < sentence[1] for mark in marks.marks)


def joins(marks: TimeMarks, piece: Place) -> bool:
    joins = "|".join(wish_words.JOIN[language] for language in marks.languages)
    seen = marks.folded[piece[0] : piece[1]]
    return compiled(rf"\b(?:{joins})\b").search(seen) is not None


def _excepted(
    held: Marks, exception: Place, marks: TimeMarks, unclear: list[Place]
) -> Iterator[Part]:
    """What stands behind `except` is refused, or what stands before it where nothing follows."""
    before = [mark for mark in held if mark.start < exception[0]]
    behind = [mark for mark in held if mark.start >= exception[1]]
    if not behind:
        yield Part(before, refused=True)
        return
    weeks: Marks = [mark for mark in behind if isinstance(mark, DaySpot) and mark.kind == "week"]
    refused = [mark for mark in behind if mark not in weeks or len(behind) == 1]
    rest = [mark for mark in weeks if mark not in refused]
    limits = [mark for mark in refused if isinstance(mark, TimeSpot) and not mark.part]
    if len(limits) < len(refused):  # `außer Freitag ab 14 Uhr` may be meant both ways
        unclear += [(mark.start, mark.end) for mark in limits]
    if before or rest:
        yield Part([*before, *rest], refused=False)
    yield Part(refused, refused=True)


def _refused_but(
    held: Marks, refusals: Sequence[Place], exceptions: Sequence[Place], unclear: list[Place]
) -> Iterator[Part]:
    """`Next week is bad except Thursday` wishes for what stands behind `except`."""
    last = max(end for _, end in refusals)
    behind = [mark for mark in held if mark.start >= exceptions[-1][1]]
    if len(exceptions) > 1 or exceptions[0][0] < last or not behind:
        unclear += [(mark.start, mark.end) for mark in held]
    else:
        yield Part(behind, refused=False)


def _offers_within(held: Marks, marks: TimeMarks) -> list[Place]:
    """Words between refused times that offer one: `I cannot on Monday and could on Tuesday`."""
    between = (held[0].end, held[-1].start)
    if between[0] >= between[1]:
        return []
    offers = words_in(marks, between, wish_words.OFFERING, wish_words.NEGATION)
    return [*offers, *words_in(marks, between, wish_words.ONLY)]


def _told_apart(held: Marks, refusals: Sequence[Place], marks: TimeMarks) -> list[Place]:
    """Times with a verb of their own: `I cannot on Monday and on Friday we close at one`."""
    places: list[Place] = []
    for before, mark in pairwise(held):
        gap = (before.end, mark.start)
        is_time = isinstance(mark, TimeSpot) and mark.at is not None
        if is_time and not is_bare(marks, gap) and not overlaps(gap, refusals):
            places.append((mark.start, mark.end))
    return places


def _negated(
    held: Marks, refusals: Sequence[Place], marks: TimeMarks, unclear: list[Place]
) -> Iterator[Part]:
    """`Tuesday not before noon` refuses what follows; `Mondays don't work` all of it."""
    first = refusals[0]
    if compiled(wish_words.BOTH_REFUSED).search(marks.folded[first[0] : first[1]]):
        yield Part(held, refused=True)
        return
    behind = [mark for mark in held if mark.start >= first[1]]
    before = [mark for mark in held if mark.start < first[0]]
    if not (behind and before and is_bare(marks, (first[1], behind[0].start))):
        unclear += _offers_within(held, marks)
        unclear += _told_apart(held, refusals, marks)
        yield Part(held, refused=True)
        return
    limits_days = not any(isinstance(mark, DaySpot) for mark in behind)
    scope = [mark for mark in before if isinstance(mark, DaySpot)]
    if limits_days and scope:
        others: Marks = [mark for mark in before if isinstance(mark, TimeSpot)]
        if others:
            yield Part(others, refused=False)
        yield Part(behind, refused=True, scope=scope)
        return
    yield Part(before, refused=False)
    yield Part(behind, refused=True)
