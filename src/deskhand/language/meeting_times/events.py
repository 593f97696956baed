"""What fixes the day and is over at a time: `the course on Friday ends at noon, and afterwards`."""

from dataclasses import replace

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import DAY, TimeSpot
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.meeting_phrases import any_of
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, overlaps, sentences

_REACH = 30
_ENDS_BEFORE: dict[str, str] = {
    "en": r"\b(?:ends?|ending|finish(?:es|ing)?|(?:is|be|being|we're|i'm) (?:over|done|finished)|"
    r"concludes?|(?:runs?|lasts?|goes(?: on)?)) (?:(?:at|around|about|by) )?$",
    "cs": r"\b(?:s?konci(?:m|me)?|(?:po)?trva|s?koncit|potrva) (?:nam |mi )?"
    r"(?:ve? |kolem |okolo |asi )?$",
    "de": r"\b(?:endet|dauert|geht|schliest|(?:ist|bin ich|sind wir) (?:um )?) ?(?:um |gegen )?$",
    "es": r"\b(?:termina(?:mos|n)?|acaba(?:mos|n)?|finaliza|dura|termino|acabo) "
    r"(?:a |al |hacia |sobre )?$",
}
"""Before the time at which something is over."""
_ENDS_BEHIND: dict[str, str] = {
    "en": r"^ (?:is (?:over|finished))\b",
    "cs": r"^ (?:s?konci(?:m|me)?)\b",
    "de": r"^ (?:endet|aufhort|aus ist|geht|dauert|(?:zu ende|vorbei|fertig)(?: ist| geht| bin| "
    r"sind)?)\b",
    "es": r"^ (?:termina|acaba)\b",
}
AFTERWARDS: dict[str, str] = {
    "en": r"\b(?:(?:straight |right )?afterwards?|(?:right |straight )?after (?:that|it)|"
    r"thereafter)\b",
    "cs": r"\b(?:(?:hned )?(?:pak|potom|pote)|po nem)\b",
    "de": r"\b(?:(?:gleich |direkt )?(?:danach|anschlies+end|hinterher|nachher)|im anschluss)\b",
    "es": r"\b(?:justo )?(?:despues|luego|a continuacion)(?:[,.;!?]| (?:por|a)\b|$)",
}
"""After what was named before."""


def with_events(marks: TimeMarks) -> TimeMarks:
    """The marks where the end of an event is the time from which on a meeting suits.

    Only where one event is told of with its day and its end, and something else in the text asks
    for the time after it, or for `that afternoon`.
    """
    places = list(sentences(marks))
    told = [(place, spot) for place in places if (spot := _end_in(marks, place)) is not None]
    if len(told) != 1:
        return marks
    [(place, end)] = told
    elsewhere = [day for day in marks.days if not place[0] <= day.start < place[1]]
    if any(not day.points_back for day in elsewhere):
        return marks
    after = [spot for spot in _afterwards(marks) if spot[0] >= end.end]
    if not after and not elsewhere:
        return marks
    from_then = end.last if end.at is None else end.at
    begins = TimeSpot(end.start, end.end, None, from_then, DAY)
    times = tuple(begins if spot is end else spot for spot in marks.times)
    return replace(
        marks, times=times, harmless=(*marks.harmless, *after), events=(*marks.events, place)
    )


def _end_in(marks: TimeMarks, sentence: Place) -> TimeSpot | None:
    """The time at which something is over that a sentence tells of together with its day."""
    if any_of(wish_words.NEGATION, marks.languages).search(marks.folded[slice(*sentence)]):
        return None
    times = [time for time in marks.times if sentence[0] <= time.start < sentence[1]]
    days = [day for day in marks.days if sentence[0] <= day.start < sentence[1]]
    if len(times) != 1 or len(days) != 1 or not _is_single(days[0]):
        return None
    [end] = times
    before = marks.folded[max(0, end.start - _REACH) : end.start]
    behind = marks.folded[end.end : end.end + _REACH]
    ends = any_of(_ENDS_BEFORE, marks.languages).search(before)
    ends = ends or any_of(_ENDS_BEHIND, marks.languages).search(behind)
    is_end = end.at is not None or 0 < end.last < DAY
    return end if ends and is_end and not end.leaves else None


def _is_single(day: DaySpot) -> bool:
    return day.kind in ("day", "weekday") and day.to_weekday is None and not day.limit


def _afterwards(marks: TimeMarks) -> list[Place]:
    """Words for the time after something, in a sentence that asks or offers."""
    spots: list[Place] = []
    for start, end in sentences(marks):
        said = marks.folded[start:end]
        if any_of(wish_words.OFFERING, marks.languages).search(said) is None:
            continue
        for match in any_of(AFTERWARDS, marks.languages).finditer(said):
            place = (start + match.start(), start + match.end())
            if not overlaps(place, marks.marked):
                spots.append(place)
    return spots
