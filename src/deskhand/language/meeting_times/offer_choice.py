"""Which of the times that were offered somebody takes."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from deskhand.language.meeting_times import meeting_phrases, wish_words
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled, spoken
from deskhand.language.meeting_times.meeting_wish import read_wish
from deskhand.language.meeting_times.time_marks import pieces, read_marks, sentences
from deskhand.scheduling.wishes import Window, Wish


def choose_offer(
    offered: Sequence[datetime], text: str, language: str | None, now: datetime
) -> datetime | None:
    """The offered time that the words mean; None where they mean none, several or another."""
    if not offered:
        return None
    wish = read_wish(text, language, now)
    if wish.says_something or wish.person:
        fitting = [moment for moment in offered if _fits(moment, wish)]
        return fitting[0] if len(fitting) == 1 and not wish.person else None
    places = _places(text, language, now)
    place = next(iter(places)) if len(places) == 1 else None
    return offered[place] if place is not None and place < len(offered) else None


def _fits(moment: datetime, wish: Wish) -> bool:
    return any(_meets(moment, window) for window in wish.stretches)


def _meets(moment: datetime, window: Window) -> bool:
    clock = moment.time()
    if window.at is not None and clock != window.at:
        return False
    early = window.after is not None and clock < window.after
    late = window.before is not None and clock >= window.before
    return window.holds_day(moment.date()) and not early and not late


def _places(text: str, language: str | None, now: datetime) -> set[int]:
    """Which of three is named by its place: `the second one`; the last is the third."""
    places: set[int] = set()
    languages = spoken(language)
    for folded in _welcome(text, language, now):
        for tongue in languages:
            for place, ordinal in enumerate(meeting_phrases.ORDINALS[tongue].split("/")):
                noun = meeting_phrases.OFFER_NOUN[tongue]
                named = rf"\b{ordinal} (?:{noun})\b|\b(?:{noun}) {ordinal}\b"
                alone = meeting_phrases.ALONE[tongue].replace("{o}", ordinal)
                if compiled(named).search(folded) or compiled(alone).search(folded):
                    places.add(place)
    return places


def _welcome(text: str, language: str | None, now: datetime) -> Iterator[str]:
    """The folded sentences that refuse nothing; one with `but` is as many as its parts."""
    languages = spoken(language)
    marks = read_marks(text, language, languages, now)
    refusal = any_of(wish_words.NEGATION, languages)
    for start, end in sentences(marks):
        if refusal.search(marks.folded[start:end]) is None:
            yield marks.folded[start:end].strip()
            continue
        for first, last in pieces(marks, (start, end)):
            if refusal.search(marks.folded[first:last]) is None:
                yield marks.folded[first:last].strip()
