"""Whether words say that something is so, or that it is not."""

import re
from functools import lru_cache
from itertools import pairwise

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import WordList, pattern_of, phrases_of, words_of, words_of_each

_WORD = re.compile(r"[a-z]+")
_CZECH_NEGATED = re.compile(
    r"ne(?!j|bo|ch|ko|kd|kt|de[lr]|me[ct]|moc|rv|gat|tto|utr|on|pal|ur|ust|hod|prod)\w{2,}"
)
"""A verb or an adjective that Czech turns around by its first syllable."""
_AMBIGUOUS = frozenset(("ni", "ne", "pas", "non", "nie", "ani"))
"""Negations of one language that are words of another: Polish `nie` is no German one."""
_SOLD_OUT = re.compile(r"\b(?:sold out|out of stock|en rupture)\b")
_CONTRACTED = re.compile(r"n't\b|\bcannot\b|\bn'")


@lru_cache(maxsize=8192)
def is_negative(text: str, language: str | None = None) -> bool:
    """Whether a clause denies; what is only said with a negation (`do not hesitate`) does not.

    Czech and Slovak turn a verb around by its first syllable; in a text that is surely in another
    language such words are left alone.
    """
    folded = phrases_of("idiom").sub(" ", _SOLD_OUT.sub("soldout", fold(text)))
    if _CONTRACTED.search(folded):
        return True
    negations, own = words_of("negation"), _of_language(language)
    words = _WORD.findall(folded)
    if any(word in negations and (word not in _AMBIGUOUS or word in own) for word in words):
        return True
    by_syllable = language in (None, "cs", "sk")
    return by_syllable and any(_CZECH_NEGATED.fullmatch(word) for word in words)


def _of_language(language: str | None) -> WordList:
    by_language = words_of_each("negation")
    return by_language.get(language or "") or words_of("negation")


def is_conditional(text: str) -> bool:
    """Whether a negation in the clause may belong to a condition: `unless it is cancelled`."""
    return pattern_of("condition").search(fold(text)) is not None


def denies_only_if(text: str) -> bool:
    """Whether a clause denies only in its condition: `it is extended if it is not cancelled`."""
    condition = pattern_of("condition").search(fold(text))
    if condition is None or not fold(text)[: condition.start()].strip():
        return False
    return not is_negative(fold(text)[: condition.start()])


@lru_cache(maxsize=4096)
def without_words(text: str) -> tuple[str, ...]:
    """The words behind each `without`; `plus VAT` is without VAT."""
    words = _WORD.findall(fold(text))
    without, plus, taxes = words_of("without"), words_of("plus"), words_of("taxes")
    return tuple(
        later
        for word, later in pairwise(words)
        if word in without or (word in plus and later in taxes)
    )


def leading_answer(sentence: str) -> tuple[bool | None, int]:
    """Whether a sentence begins with a yes or a no, and where the rest begins; None for neither."""
    folded = fold(sentence)
    for is_yes, section in ((True, "yes"), (False, "no")):
        match = phrases_of(section).match(folded.lstrip())
        if match is None:
            continue
        start = len(folded) - len(folded.lstrip()) + match.end()
        rest = folded[start:]
        if re.match(r"\s*[,.!;:–—-]|\s*$", rest) or (is_yes and re.match(r"\s", rest)):
            return is_yes, start
    return None, 0
