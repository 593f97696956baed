"""How many asks a message says that it has.

    announced_asks("Two things: what does it cost? And paint it green.")  # 2

Whoever says "two things" has two, also where one of them is put so that nobody would see it.
"""

import re

from deskhand.language.slots.folded_text import fold

_NUMBERS = {
    2: "2|two|a couple of|dva|dve|zwei|dos|deux|dwa|dwie",
    3: "3|three|tri|drei|tres|trois|trzy",
    4: "4|four|ctyri|vier|cuatro|quatre|cztery",
    5: "5|five|pet|funf|cinco|cinq|piec",
}
_ADJECTIVES = r"(?:\w+ ){0,2}?"
_ASKS = (
    r"(?:questions?|queries|things|dotazy|otazky|veci|fragen|dinge|sachen|punkte|preguntas|dudas"
    r"|consultas|cosas|choses|pytania|rzeczy|sprawy)"
)
_NO_ASKS = r"(?! (?:went|are (?:wrong|missing)|fehlen|chybi|faltan|wrong|i like|that i like))"
_ANNOUNCED = {
    number: re.compile(rf"\b(?:{words}) {_ADJECTIVES}{_ASKS}\b{_NO_ASKS}")
    for number, words in _NUMBERS.items()
}


def announced_asks(text: str) -> int:
    """The number of asks that a message announces; 0 where it announces none."""
    folded = " ".join(fold(text).split())
    announced = [number for number, pattern in _ANNOUNCED.items() if pattern.search(folded)]
    return max(announced, default=0)
