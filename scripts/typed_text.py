"""Texts as people type them in a hurry."""

import random
import unicodedata

_PLAIN, _LOWER = 0.06, 0.06


def without_accents(text: str) -> str:
    """As it is typed on a keyboard without them."""
    apart = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def hurried(text: str, chance: random.Random) -> str:
    """Now and then without accents or in small letters."""
    drawn = chance.random()
    if drawn < _PLAIN:
        return without_accents(text)
    if drawn < _PLAIN + _LOWER:
        return text.lower()
    return text
