"""Words by which people say yes and no, take something back and shrug: those of `turns.yaml`."""

import re
from functools import cache
from pathlib import Path

from deskhand.config.yaml import read_yaml
from deskhand.language.turn_number_patterns import NO_BEFORE

_FILE = Path(__file__).with_name("turns.yaml")
_LEAD = (
    r"(?:(?:hi|hello|hey|hola|hallo|ahoj|dobry den|guten tag|buenas|well|so|ok|okay|and|but|a|"
    r"ale|und|"
    r"aber|y|pero|oh|ah|um|hm|hmm|ehm|no|tak|also|pues|please|prosim|bitte|por favor|sorry|"
    r"promin\w*|entschuldig\w*|perdon\w*|thanks|diky|danke|gracias|eh|ach|jo)[ ,.!:;-]+)*"
)
"""What may stand before the words that count."""
_TAIL = (
    r"(?:[ ,.!?:;-]*(?:please|pls|prosim|bitte|por favor|thanks|thank you|diky|dekuji|danke|"
    r"gracias|"
    r"sorry|promin\w*|entschuldig\w*|perdon\w*|then|now|again|again please|znovu|jeste|nochmal|"
    r"then please|exactly|actually|vlastne|presne|genau|eigentlich|exactamente|though|denn|tak|"
    r"you|me|it|that|this|to|das|es|eso|esto|my friend|mate))*[ ,.!?:;…'\")(-]*"
)
"""And what after them, where nothing else is said."""
_GAP = r"[ ,.!:;-]+"
"""Between cues that are said one after the other: "ja, gerne"."""
_LONGEST_CUES = 80
"""Letters of a text that may say nothing else than a few cues."""


class Cues:
    """Finds cues in a folded text."""

    def __init__(self, patterns: dict[str, list[str]]) -> None:
        joined = {kind: "|".join(map(_pattern, lists)) for kind, lists in patterns.items()}
        self._anywhere = {
            kind: re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")
            for kind, pattern in joined.items()
        }
        self._whole = {
            kind: re.compile(
                rf"[\s¿¡.…'\"(-]*{_LEAD}(?:{pattern})(?:{_GAP}(?:{pattern})){{0,3}}{_TAIL}"
            )
            for kind, pattern in joined.items()
        }
        self._start = {
            kind: re.compile(rf"[\s¿¡.…'\"(-]*{_LEAD}(?:{pattern})(?![\w-])")
            for kind, pattern in joined.items()
        }

    def has(self, kind: str, folded: str) -> bool:
        """Whether a cue stands anywhere."""
        return self._anywhere[kind].search(folded) is not None

    def is_all(self, kind: str, folded: str) -> bool:
        """Whether the text says nothing else."""
        return len(folded) <= _LONGEST_CUES and self._whole[kind].fullmatch(folded) is not None

    def starts(self, kind: str, folded: str) -> bool:
        """Whether the text, or a sentence of it, begins with a cue."""
        return any(self._start[kind].match(part) for part in _SENTENCE.split(folded))

    def first(self, kind: str, folded: str) -> bool:
        """Whether the text begins with a cue."""
        return self._start[kind].match(folded) is not None

    def spans(self, kind: str, folded: str) -> list[tuple[int, int]]:
        """The places of the cues."""
        return [match.span() for match in self._anywhere[kind].finditer(folded)]


_SENTENCE = re.compile(r"(?<=[.!?;…])\s+|\n+|\s+[-–—]\s+")


@cache
def turn_cues() -> Cues:
    """The cues that come with the package, of all languages together."""
    patterns: dict[str, list[str]] = {}
    for kind, by_language in read_yaml(_FILE).data.items():
        patterns[kind] = [pattern for written in by_language.values() for pattern in written]
    return Cues(patterns)


def _pattern(written: str) -> str:
    """`~` stands for up to three words."""
    words = written.replace(" ~ ", r"[\s,]+(?:[^\s,.!?]+[\s,]+){0,3}")
    words = words.replace(" ~", r"(?:[\s,]+[^\s,.!?]+){0,3}").replace("~", r"(?:\s+\S+){0,3}")
    return words.replace(" ", r"[\s,]+")


def puts_in_place(between: str, after: str, cues: Cues) -> bool:
    """Whether folded words between two values, or after them, put the second in the place of the
    first."""
    if NO_BEFORE.search(between):
        return True
    return cues.has("correct", between) or cues.has("correct", after)
