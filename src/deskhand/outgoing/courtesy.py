"""Clauses that only say how somebody feels: thanks, regret, congratulations, `what a nice idea`.

Such a clause claims nothing as long as nothing of goods, terms, deeds or dates stands in it.
`We are glad that your chair is still under warranty` claims something, and so does `sorry that it
cannot be returned`.
"""

import re

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import pattern_of, phrases_of, words_of
from deskhand.outgoing.content_words import carries_meaning, stands_among, words_in
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.polarity import is_negative
from deskhand.outgoing.stated_values import values_in

_MOST = 6
"""Words behind a feeling that has no clause of its own, at most."""
_MOST_NAMES, _MOST_SIGNED = 4, 6
"""Words of an address and of the line with which a message ends, at most."""
_TITLED = 2
"""Words of a title and whom it belongs to: `paní učitelko`."""
_ADDRESS_END = re.compile(r"[,:!]\s+(?=\S)")
_SIGNATURE = re.compile(r"(?<=[.!?\n])[^.!?\n]*$")


def only_feels(clause: str, grounds: Grounds, language: str | None) -> bool:
    """Whether a clause says how somebody feels about what the customer wrote, and nothing else."""
    folded = fold(clause).strip(" .!¡¿*")
    feeling = phrases_of("feeling").match(folded)
    if feeling is None or values_in(clause):
        return False
    behind = folded[feeling.end() :].strip(" .!")
    if _states_terms(folded) or _has_new_name(clause, grounds, language):
        return False
    if not behind:
        return True
    return _is_about_customer(behind, grounds) if _is_clause(behind) else _is_short(behind)


def _states_terms(folded: str) -> bool:
    """Whether a word of terms, deeds or the company's own goods stands in it."""
    return any(word.folded in words_of("terms") for word in words_in(folded))


def _has_new_name(clause: str, grounds: Grounds, language: str | None) -> bool:
    """Whether it names something that neither the customer nor a source does. In German every
    noun has a capital."""
    if language == "de":
        return False
    named = [word for word in words_in(clause) if word.is_capital and not word.is_first]
    familiar = [*grounds.message_words, *words_of("capital").whole]
    return any(
        carries_meaning(word.folded) and not stands_among(word.folded, familiar) for word in named
    )


def _is_clause(behind: str) -> bool:
    return pattern_of("subordinate").search(behind) is not None


def _is_short(behind: str) -> bool:
    return len(words_in(behind)) <= _MOST


def _is_about_customer(behind: str, grounds: Grounds) -> bool:
    """Whether a feeling's own clause speaks of the customer alone: nothing that was asked, nothing
    that a source says and nothing denied."""
    if is_negative(behind) or pattern_of("company").search(behind) is not None:
        return False
    if pattern_of("customer").search(behind) is None:
        return False
    asked = [word.folded for question in grounds.questions for word in words_in(question)]
    if not any(question.rstrip().endswith("?") for question in grounds.questions):
        asked = []
    for word in words_in(behind):
        if not carries_meaning(word.folded):
            continue
        if stands_among(word.folded, asked):
            return False
        is_told = stands_among(word.folded, grounds.message_words)
        if not is_told and stands_among(word.folded, grounds.quoted_words):
            return False
    return True


# --- whom it speaks to


def address_length(text: str, grounds: Grounds) -> int:
    """How long the name is that a sentence begins with to address the customer: `Hello Hana, `."""
    greeting = phrases_of("greeting").match(fold(text))
    start = 0 if greeting is None else greeting.end()
    comma = _ADDRESS_END.search(text)
    if comma is None or not is_address(text[start : comma.start()], grounds):
        return 0
    return comma.end()


def is_address(clause: str, grounds: Grounds) -> bool:
    """Whether a clause is nothing but the name with which the customer signed, and a title."""
    words = words_in(clause.strip(" .!,"))
    if not words or len(words) > _MOST_NAMES or any(map(str.isdigit, clause)):
        return False
    named = [word for word in words if word.folded not in words_of("titles")]
    if len(words) == _TITLED and len(named) == 1 and named[0] == words[1]:
        return stands_among(named[0].folded, grounds.message_words)
    names = _signed_names(grounds)
    return bool(named) and all(
        word.is_capital and stands_among(word.folded, names) for word in named
    )


def _signed_names(grounds: Grounds) -> list[str]:
    """The names at the end of the message, behind its last sentence, that no source speaks of."""
    written = grounds.message.rstrip(" .!")
    signed = _SIGNATURE.search(written)
    names = [] if signed is None else list(words_in(signed.group()))
    if len(names) > _MOST_SIGNED:
        return []
    return [
        word.folded
        for word in names
        if word.is_capital and not stands_among(word.folded, grounds.quoted_words)
    ]
