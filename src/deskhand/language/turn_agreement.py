"""Whether a turn says yes or no to what was asked."""

import re

from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import turn_cues

_FEW_WORDS = 5
_STEM = 4
"""Letters by which two forms of a word are known."""
_WISHES = ("repeat", "why", "person")
"""Cues of turns that want something else than to answer."""


def agreement(folded: str, prompt: str, *, is_likely_answer: bool) -> bool | None:
    """Whether a folded text agrees; None where it says neither yes nor no.

    A short text without a word for either agrees where it is likely an answer, unless it denies
    something.
    """
    cues = turn_cues()
    if any(cues.is_all(cue, folded) for cue in _WISHES):
        return None
    refuses = cues.starts("refuse", folded)
    agrees = cues.starts("agree", folded) or (not refuses and _echoes(folded, prompt))
    if agrees != refuses:
        return agrees
    is_short = len(folded.split()) <= _FEW_WORDS
    if agrees or not is_short or not is_likely_answer:
        return None
    return not cues.has("negation", folded)


def begins_with_yes_or_no(folded: str) -> bool:
    cues = turn_cues()
    return cues.first("agree", folded) != cues.first("refuse", folded)


def _echoes(folded: str, prompt: str) -> bool:
    """Whether a short answer says again what was to be done: "cancel it" to "shall I cancel
    it?"."""
    stems = {word[:_STEM] for word in re.findall(r"\w{5,}", FoldedText(prompt).folded)}
    words = re.findall(r"\w+", folded)
    if len(words) > _FEW_WORDS or turn_cues().has("negation", folded):
        return False
    return any(word[:_STEM] in stems for word in words)
