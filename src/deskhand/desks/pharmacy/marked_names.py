"""Text with one and the same word for every name of a product of ours."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import re2

from .catalogue import aliases, sample_products
from .forms import with_forms_apart
from .word_forms import forms_of, words_in

NAME = "NAME"
"""It stands for a name; the rest of a plain text is in small letters."""
_GAP = r"\W{1,2}"
_SIGNS = ".,;:!?¿¡()\"'„“>"


def with_marked_names(plain: str) -> str:
    """The text with one word for every name of a product of ours: Allergodil is no word of
    health."""
    apart = with_forms_apart(plain, _names())
    marked = str(_long_names().sub(f" {NAME} ", apart))
    return " ".join(_marked(word) for word in marked.split())


def with_these_marked(plain: str, names: Iterable[str]) -> str:
    """The text with the same word for every one of the names as they were typed, which may be no
    product's, and for every name of ours."""
    for name in names:
        spelled = _GAP.join(word.plain for word in words_in(name))
        if spelled:
            plain = re.sub(rf"\b{spelled}\b", NAME, plain)
    return with_marked_names(plain)


def _marked(word: str) -> str:
    return word.replace(word.strip(_SIGNS), NAME) if _is_name(word) else word


@cache
def _long_names() -> Any:
    """A pattern of the names of several words: `Nurofen pro děti` is no child of somebody's."""
    spellings = [product.brand for product in sample_products()] + list(aliases())
    names = {_plain_words(spelling) for spelling in spellings}
    several = [words for words in names if len(words) > 1]
    longest_first = sorted(several, key=len, reverse=True)
    patterns = [rf"{first}\w{{0,3}}\W{{1,2}}{' '.join(rest)}" for first, *rest in longest_first]
    return re2.compile(rf"\b(?:{'|'.join(patterns)})\b")


def _plain_words(spelling: str) -> tuple[str, ...]:
    return tuple(word.plain for word in words_in(spelling))


@cache
def _names() -> frozenset[str]:
    """The first words of our names in every regular form; short ones are ordinary words as well."""
    spellings = [
        spelling
        for product in sample_products()
        for spelling in (product.brand, product.substance, product.substance_cs)
    ]
    firsts = {words_in(spelling)[0].plain for spelling in spellings}
    return frozenset(form for first in firsts if len(first) > 4 for form in forms_of(first))


def _is_name(word: str) -> bool:
    return word.strip(_SIGNS) in _names()
