"""What a message asks for: which product, where, and how many."""

import re
from typing import Any, NamedTuple

from deskhand import mail
from deskhand.language.identify import identify

from .catalogue import Pharmacy, sample_pharmacies, sample_products
from .product_search import index_of
from .word_forms import Word, fold, words_in
from .wording import Language

NUMBER = re.compile(r"\bR-[A-Z2-7]{8}\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\b([1-9])\s*(?:x\b|×|ks\b|kus\w*|balen\w*|krabic\w*|packs?\b|boxes|box\b|packages?\b)"
)
_LONGEST_PLACE = 3
_ASKING_WORDS = """
    mate maji sehnat sezenu seženu koupit lek leku pripravek dostupny dostupna dostupne
    skladem have buy get stock medicine drug called reserve rezervovat rezervaci need
    potrebuji potrebuju shanim hledam of na
"""
_BEFORE_A_NAME = frozenset(_ASKING_WORDS.split())
"""Words that the name of a product may follow."""
_FILLING_WORDS = """
    any the this that some it my a an prosim nejaky ten tento u v na muj
"""
_NO_NAMES = frozenset(_FILLING_WORDS.split())


class Request(NamedTuple):
    """What was asked for, as far as the text says."""

    query: str
    """Names with strength and form as they were typed, `, ` between several; empty when there is
    none."""
    place: str
    """A pharmacy's id where one is meant, a town, or empty."""
    packs: int
    reservation: str
    """A reservation's number, or empty."""
    language: Language


def read(subject: str, text: str) -> Request:
    """The body first: a subject counts where the body names no product."""
    own = own_words(text)
    query = _names(own) or _names(subject) or _guess(own) or _guess(subject)
    quantity = _QUANTITY.search(fold(own))
    return Request(
        query=query,
        place=place_in(own) or place_in(subject),
        packs=int(quantity[1]) if quantity else 1,
        reservation=reservation_number(f"{subject}\n{own}"),
        language=language_of(own, subject),
    )


def reservation_number(text: str) -> str:
    """The first number of a reservation in a text, in capitals; empty where there is none."""
    number = NUMBER.search(text)
    return number[0].upper() if number else ""


def own_words(text: str) -> str:
    """Without quotations and signatures."""
    return mail.visible_reply(text) or text


def language_of(text: str, subject: str = "") -> Language:
    """Czech or English; what looks Slovak or Polish is Czech without its accents."""
    language = identify(f"{text}\n{subject}", ("cs", "en"))
    return "cs" if language.code == "cs" else "en"


def place_in(text: str, pharmacies: tuple[Pharmacy, ...] | None = None) -> str:
    """The pharmacy's id where the text names just one, else the town, else nothing."""
    if pharmacies is None:
        pharmacies = sample_pharmacies()
    words = [word.plain for word in words_in(text)]
    said = {
        " ".join(words[at : at + length])
        for length in range(1, _LONGEST_PLACE + 1)
        for at in range(len(words))
    }
    hits = {pharmacy.id: _times_named(pharmacy, said) for pharmacy in pharmacies}
    most = max(hits.values(), default=0)
    best = [pharmacy for pharmacy in pharmacies if hits[pharmacy.id] == most and most]
    if len(best) == 1:
        return best[0].id
    towns = {pharmacy.city.rstrip(" 0123456789") for pharmacy in best}
    return towns.pop() if len(towns) == 1 else ""


def _times_named(pharmacy: Pharmacy, said: set[str]) -> int:
    """How many of a pharmacy's names are among what was said."""
    names = map(_plain, (pharmacy.name, *pharmacy.places.split(";")))
    return sum(name in said for name in names)


def called(place: str) -> str:
    """A place as a customer knows it."""
    for pharmacy in sample_pharmacies():
        if pharmacy.id == place:
            return f"{pharmacy.name}, {pharmacy.city}"
    return place


def _names(text: str) -> str:
    return ", ".join(mention.written for mention in index_of(sample_products()).mentions(text))


def _guess(text: str) -> str:
    """A word that stands where a product's name would, perhaps of nothing that we sell."""
    words = words_in(text)
    for at, word in enumerate(words[:-1]):
        following = words[at + 1]
        if word.plain in _BEFORE_A_NAME and _may_be_a_name(following):
            behind = words[at + 2 : at + 4]
            strength = [
                word.written
                for word in behind
                if word.is_number or word.plain in ("mg", "g", "ml", "mcg")
            ]
            return " ".join([following.written, *strength])
    return ""


def _may_be_a_name(word: Word) -> bool:
    return (
        len(word.plain) >= 4
        and word.written[:1].isupper()
        and not word.is_number
        and word.plain not in _NO_NAMES
    )


def _plain(text: str) -> str:
    return " ".join(word.plain for word in words_in(text))


def as_output(request: Request) -> dict[str, Any]:
    """With what a reservation is looked for by: its number where there is one."""
    return {**request._asdict(), "about": request.reservation or request.query}
