"""Which of the times that were offered somebody takes."""

from collections.abc import Sequence
from datetime import datetime

from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.meeting_phrases import compiled, spoken
from deskhand.language.meeting_times.meeting_wish import read_wish, welcome
from deskhand.language.slots.folded_text import fold
from deskhand.scheduling.slots import Wish


def choose_offer(
    offered: Sequence[datetime], text: str, language: str | None, now: datetime
) -> datetime | None:
    """The offered time that the words mean; None where they mean none, several or another."""
    if not offered:
        return None
    wish = read_wish(text, language, now)
    if wish.says_something:
        fitting = [moment for moment in offered if _fits(moment, wish)]
        return fitting[0] if len(fitting) == 1 else None
    places = _places(text, spoken(language))
    place = next(iter(places)) if len(places) == 1 else None
    return offered[place] if place is not None and place < len(offered) else None


def _fits(moment: datetime, wish: Wish) -> bool:
    clock = moment.time()
    if wish.at is not None and clock != wish.at:
        return False
    early = wish.after is not None and clock < wish.after
    late = wish.before is not None and clock >= wish.before
    return wish.days_off(moment.date()) == 0 and not early and not late


def _places(text: str, languages: tuple[str, ...]) -> set[int]:
    """Which of three is named by its place: `the second one`; the last is the third."""
    places: set[int] = set()
    for sentence in welcome(text, languages):
        folded = fold(sentence).strip()
        for language in languages:
            for place, ordinal in enumerate(meeting_phrases.ORDINALS[language].split("/")):
                noun = meeting_phrases.OFFER_NOUN[language]
                named = rf"\b{ordinal} (?:{noun})\b|\b(?:{noun}) {ordinal}\b"
                alone = meeting_phrases.ALONE[language].replace("{o}", ordinal)
                if compiled(named).search(folded) or compiled(alone).search(folded):
                    places.add(place)
    return places
