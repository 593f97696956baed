"""Tells a holding reply from an answer: it only says that somebody will answer later."""

import re

import re2

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.commitments import actions_in
from deskhand.outgoing.sentences import sentences

MOST_WORDS = 60
"""A longer reply says more than that somebody will answer."""
_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_QUOTED_OR_LISTED = re.compile(rf"(?:^|[{_ENDS}])[^\S{_ENDS}]*(?:>|[-*] )")
"""A line that begins so."""
_SOMEBODY_ANSWERS = re2.compile(
    r"\b(?:colleague|somebody|someone|team|agent|specialist)s?\b.*"
    r"\b(?:answer|reply|respond|get back|in touch|contact|come back)"
    r"|\bkoleg\w*\b.*\b(?:odpovi|odepis|ozv|zavola)|\bodpovi\w*\b.*\bkoleg"
    r"|\bkolleg\w*\b.*\b(?:antwort|meld|ruft)"
    r"|\bcompaner\w*\b.*\b(?:respond|contest|contact)"
    r"|\bcollegue\w*\b.*\b(?:repond|recontact|contact|rappell)"
)
"""A colleague will answer: in English, Czech, German, Spanish and French, over folded text."""


def is_holding_reply(text: str, language: str | None = None) -> bool:
    """Whether a reply owes the customer the answer: it promises one and gives none.

    Reads five languages and common wording. A reply that asks, quotes or lists something is none.
    """
    if "?" in text or len(text.split()) > MOST_WORDS:
        return False
    if _QUOTED_OR_LISTED.search(text):
        return False
    folded = [fold(text[start:end]) for start, end in sentences(text)]
    if any("contact" in actions_in(sentence, language) for sentence in folded):
        return True
    # no pattern reaches beyond a line, so all sentences are asked at once
    return _SOMEBODY_ANSWERS.search("\n".join(folded)) is not None
