"""What fixes the day and is over at a time: `the course on Friday ends at noon, and afterwards`."""

from dataclasses import replace

from deskhand.language.meeting_times import wish_words
from deskhand.language.meeting_times.clock_times import DAY, TimeSpot
from deskhand.language.meeting_times.day_spot import DaySpot
from deskhand.language.meeting_times.meeting_phrases import any_of
from deskhand.language.meeting_times.time_marks import Place, TimeMarks, overlaps, sentences

_REACH = 30
_ENDS_BEFORE: dict[str, str] = {
    "en": r"\b(?:ends?|ending|finish(?:es|ing)?|closes?|closing|"
    r"(?:is|be|being|we're|i'm) (?:over|done|finished)|"
    r"concludes?|(?:runs?|lasts?|goes(?: on)?)) (?:(?:at|around|about|by) )?$",
    "cs": r"\b(?:s?konci(?:m|me)?|(?:po)?trva|s?koncit|potrva) (?:nam |mi )?"
    r"(?:ve? |kolem |okolo |asi )?$",
    "de": r"\b(?:endet|dauert|geht|schliess?t|(?:ist|bin ich|sind wir) (?:um )?) ?(?:um |gegen )?$",
    "es": r"\b(?:termina(?:mos|n)?|acaba(?:mos|n)?|finaliza|cierra|dura|termino|acabo) "
    r"(?:a |al |hacia |sobre )?$",
}
"""Before the time at which something is over."""
_ENDS_BEHIND: dict[str, str] = {
    "en": r"^ (?:is (?:over|finished))\b",
    "cs": r"^ (?:s?konci(?:m|me)?)\b",
    "de": r"^ (?:endet|schliess?t|aufhort|aus ist|geht|dauert|"
    r"(?:zu ende|vorbei|fertig)(?: ist| geht| bin| sind)?)\b",
    "es": r"^ (?:termina|acaba|cierra)\b",
}
_OVER: dict[str, str] = {"en": "~", "cs": r"\bkonci(?:m|me)\b", "de": "~", "es": "~"}
"""In words that say when somebody is done: with what he does, or with us."""
_UNTIL: dict[str, str] = {
    "en": r"^(?:until|till|up to)\b",
    "cs": r"^(?:az )?do\b",
    "de": r"^bis\b",
    "es": r"^hasta\b",
}
AFTERWARDS: dict[str, str] = {
    "en": r"\b(?:(?:straight |right )?afterwards?|(?:right |straight )?after (?:that|it)|"
    r"thereafter)\b",
    "cs": r"\b(?:(?:hned )?(?:pak|potom|pote)|po nem)\b",
    "de": r"\b(?:(?:gleich |direkt )?(?:danach|anschlies+end|hinterher|nachher)|im anschluss)\b",
    "es": r"\b(?:justo )?(?:despues|luego|a continuacion)(?:[,.;!?]| (?:por|a)\b|"
    r" (?:ya )?(?:puedo|podemos|podria(?:mos)?)\b|$)",
}
"""After what was named before."""


def with_events(marks: TimeMarks) -> TimeMarks:
    """The marks where the end of an event is the time from which on a meeting suits.

    Only where one event is told of with its day and its end, and something else in the text asks
    for the time after it, or for `that afternoon`.
    """
    places = list(sentences(marks))
    events = [(place, spot) for place in places if (spot := _end_in(marks, place)) is not None]
    if len(events) != 1:
        return marks
    [(place, end)] = events
    elsewhere = [day for day in marks.days if not place[0] <= day.start < place[1]]
    if any(not day.points_back for day in elsewhere):
        return marks
    after = _afterwards(marks, end)
    if not after and not elsewhere:
        return marks
    from_then = end.last if end.at is None else end.at
    begins = TimeSpot(end.start, end.end, None, from_then, DAY)
    told_with = [spot for spot in marks.times if place[0] <= spot.start < end.start]
    others = [spot for spot in marks.times if spot not in told_with and spot is not end]
    times = tuple(sorted([*others, begins]))
    after += [(spot.start, spot.end) for spot in told_with]
    return replace(
        marks, times=times, harmless=(*marks.harmless, *after), events=(*marks.events, place)
    )


def _end_in(marks: TimeMarks, sentence: Place) -> TimeSpot | None:
    """The time at which something is over that a sentence tells of together with its day."""
    times = [time for time in marks.times if sentence[0] <= time.start < sentence[1]]
    days = [day for day in marks.days if sentence[0] <= day.start < sentence[1]]
    days = [day for day in days if day.kind != "week"] or days
    if not times or len(days) != 1 or not _is_single(days[0]):
        return None
    *others, end = times
    parted = all(time.part and time.first < end.last <= time.last for time in others)
    return end if parted and _is_end(marks, end) and _is_told(marks, sentence, end) else None


def _is_end(marks: TimeMarks, end: TimeSpot) -> bool:
    before = marks.folded[max(0, end.start - _REACH) : end.start]
    behind = marks.folded[end.end : end.end + _REACH]
    if end.leaves:
        said = marks.folded[end.start : end.end]
        return any_of(_OVER, marks.languages).search(said) is not None
    if end.at is None and not 0 < end.last < DAY:
        return False
    if any_of(_ENDS_BEFORE, marks.languages).search(before):
        return True
    ends = any_of(_ENDS_BEHIND, marks.languages).search(behind) is not None
    return ends or _is_until(marks, end)


def _is_told(marks: TimeMarks, sentence: Place, end: TimeSpot) -> bool:
    """Whether a sentence only tells of something up to the time after it."""
    said = marks.folded[sentence[0] : sentence[1]]
    after = any_of(AFTERWARDS, marks.languages).search(said, end.end - sentence[0])
    before = said if after is None else said[: after.start()]
    ends_by_verb = after is None and not _is_until(marks, end)
    tables = (wish_words.NEGATION,) if ends_by_verb else (wish_words.NEGATION, wish_words.OFFERING)
    return not any(any_of(table, marks.languages).search(before) for table in tables)


def _is_until(marks: TimeMarks, end: TimeSpot) -> bool:
    if end.at is not None:
        return False
    return any_of(_UNTIL, marks.languages).search(marks.folded[end.start :]) is not None


def _is_single(day: DaySpot) -> bool:
    return day.kind in ("day", "weekday") and day.to_weekday is None and not day.limit


def _afterwards(marks: TimeMarks, end: TimeSpot) -> list[Place]:
    """Words for the time after something, with which somebody asks or offers."""
    spots: list[Place] = []
    for start, last in sentences(marks):
        for match in any_of(AFTERWARDS, marks.languages).finditer(marks.folded[:last], start):
            begin = match.start() if start <= end.start < last else start
            asks = any_of(wish_words.OFFERING, marks.languages).search(marks.folded[begin:last])
            tells = any_of(wish_words.BUSY, marks.languages).search(
                marks.folded[match.end() : last]
            )
            place = (match.start(), match.end())
            is_later = match.start() >= end.end
            if is_later and asks and not tells and not overlaps(place, marks.marked):
                spots.append(place)
    return spots
