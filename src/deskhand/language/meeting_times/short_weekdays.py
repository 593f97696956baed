"""Weekdays in two or three letters, where nothing else can be meant: `Mo oder Di`, `po-pá`."""

from collections.abc import Iterator
from typing import NamedTuple

from deskhand.language.meeting_times.day_words import WEEKDAY
from deskhand.language.meeting_times.meeting_phrases import compiled
from deskhand.language.slots.folded_text import FoldedText

_SHORT: dict[str, str] = {
    "en": "mon tue|tues wed thu|thur|thurs fri sat sun",
    "cs": "po ut st ct pa so ne",
    "de": "mo di mi do fr sa so",
    "es": "lun mar mie jue vie sab dom",
}
_WEAK = frozenset({"so", "ne", "sat", "sun", "mar", "dom"})
"""Words of their own: they mean days only in a list with others."""
_FIRM: dict[str, str] = {
    "en": "mon tue tues wed thu thur thurs fri",
    "cs": "ut ct pa",
    "de": "mo di mi fr",
    "es": "lun mie jue vie",
}
_JOINT = compiled(
    r"^\.?(?: ?[,/&+-] ?| (?:or|and|to|nebo|anebo|ci|a|i|az|do|oder|und|bis|o|u|y) )"
    r"(?:(?:on|v|ve|am|el) )?$"
)
_TIMES_FOLLOW = compiled(
    r"^\.?,? (?:[0-9]|(?:this|next|at|after|before|from|between|v|ve|od|po|do|mezi|pristi|tento|"
    r"dop\w*|odp\w*|rano|am|ab|um|von|vor|nach|zwischen|vorm\w*|nachm\w*|fruh|nachste\w*|kommende\w*|"
    r"que|proximo|por|a|de|entre)\b)"
)


class ShortWeekday(NamedTuple):
    """A place and the day of the week, Monday being 0."""

    start: int
    end: int
    weekday: int


class _Token(NamedTuple):
    start: int
    end: int
    weekday: int
    written: str
    is_short: bool


def short_weekdays(reading: FoldedText, languages: tuple[str, ...]) -> Iterator[ShortWeekday]:
    """Short forms in a list of days, and those before a time."""
    for language in languages:
        run: list[_Token] = []
        for token in _tokens(reading.folded, language):
            if run and not _JOINT.search(reading.folded[run[-1].end : token.start]):
                yield from _days(run, reading, language)
                run = []
            run.append(token)
        yield from _days(run, reading, language)


def bracketed_weekdays(folded: str, languages: tuple[str, ...]) -> Iterator[ShortWeekday]:
    """Short forms alone in brackets, with the closing one: `tomorrow (Thu)`."""
    for language in languages:
        for number, form in enumerate(_SHORT[language].split()):
            for match in compiled(rf"\((?:{form})\.?\)").finditer(folded):
                yield ShortWeekday(match.start() + 1, match.end(), number)


def _tokens(folded: str, language: str) -> list[_Token]:
    tokens: list[_Token] = []
    for is_short, table in ((True, _SHORT), (False, WEEKDAY)):
        for number, form in enumerate(table[language].split()):
            for match in compiled(rf"\b(?:{form})\b").finditer(folded):
                if is_short or len(match.group()) > 4:
                    place = match.start(), match.end()
                    tokens.append(_Token(*place, number, match.group(), is_short))
    return sorted(tokens)


def _days(run: list[_Token], reading: FoldedText, language: str) -> Iterator[ShortWeekday]:
    is_list = len({token.weekday for token in run}) > 1
    listed = is_list and any(token.written not in _WEAK for token in run)
    for token in run:
        if token.is_short and (listed or _stands_alone(token, reading, language)):
            yield ShortWeekday(token.start, token.end, token.weekday)


def _stands_alone(token: _Token, reading: FoldedText, language: str) -> bool:
    if token.written not in _FIRM[language].split():
        return False
    is_capital = reading.given[reading.origin(token.start)].isupper()
    return is_capital and (
        language == "en" or _TIMES_FOLLOW.search(reading.folded[token.end :]) is not None
    )
