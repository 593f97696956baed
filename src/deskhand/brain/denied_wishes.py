"""What a message says shall not be done: no wish may be read from it."""

import re

from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import turn_cues

_CLAUSE_END = re.compile(r"[,.;!?\n]|$|\b(?:but|just|ale|jen|sondern|nur|sino|solo)\b")


def without_denied(text: str) -> str:
    """The text without the clauses that say what shall not be done: "leave it, don't cancel"."""
    reading = FoldedText(text)
    kept: list[str] = []
    place = 0
    for start, end in turn_cues().spans("denied", reading.folded):
        if start < place:
            continue
        kept.append(text[place : reading.origin(start)])
        closing = _CLAUSE_END.search(reading.folded, end)
        place = reading.origin(closing.start() if closing is not None else end)
    return "".join((*kept, text[place:])).strip(" ,;") if kept else text
