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
_BEFORE_A_NAME = {
    *(
        "mate",
        "maji",
        "sehnat",
        "sezenu",
        "seženu",
        "koupit",
        "lek",
        "leku",
        "pripravek",
        "dostupny",
        "dostupna",
        "dostupne",
    ),
    *(
        "skladem",
        "have",
        "buy",
        "get",
        "stock",
        "medicine",
        "drug",
        "called",
        "reserve",
        "rezervovat",
        "rezervaci",
        "need",
    ),
    *("potrebuji", "potrebuju", "shanim", "hledam", "of", "na"),
}
_NO_NAMES = {
    "any",
    "the",
    "this",
    "that",
    "some",
    "it",
    "my",
    "a",
    "an",
    "prosim",
    "nejaky",
    "ten",
    "tento",
    "u",
    "v",
    "na",
    "muj",
}


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
    number = NUMBER.search(f"{subject}\n{own}")
    quantity = _QUANTITY.search(fold(own))
    return Request(
        query=query,
        place=place_in(own) or place_in(subject),
        packs=int(quantity[1]) if quantity else 1,
        reservation=number[0].upper() if number else "",
        language=language_of(own, subject),
    )


def own_words(text: str) -> str:
    """Without quotations and signatures."""
    return mail.visible_reply(text) or text


def language_of(text: str, subject: str = "") -> Language:
    """Czech or English; what looks Slovak or Polish is Czech without its accents."""
    found = identify(f"{text}\n{subject}", ("cs", "en"))
    return "cs" if found.code == "cs" else "en"


def place_in(text: str, known: tuple[Pharmacy, ...] | None = None) -> str:
    """The pharmacy's id where the text names just one, else the town; empty where it names
    neither."""
    pharmacies = sample_pharmacies() if known is None else known
    words = [word.plain for word in words_in(text)]
    said = {
        " ".join(words[at : at + length])
        for length in range(1, _LONGEST_PLACE + 1)
        for at in range(len(words))
    }
    hits = {
        pharmacy.id: sum(
            place in said for place in map(_plain, (pharmacy.name, *pharmacy.places.split(";")))
        )
        for pharmacy in pharmacies
    }
    most = max(hits.values(), default=0)
    best = [pharmacy for pharmacy in pharmacies if hits[pharmacy.id] == most and most]
    if len(best) == 1:
        return best[0].id
    towns = {pharmacy.city.rstrip(" 0123456789") for pharmacy in best}
    return towns.pop() if len(towns) == 1 else ""


def called(place: str) -> str:
    """A place as a customer knows it."""
    return next(
        (f"{one.name}, {one.city}" for one in sample_pharmacies() if one.id == place), place
    )


def _names(text: str) -> str:
    return ", ".join(mention.written for mention in index_of(sample_products()).mentions(text))


def _guess(text: str) -> str:
    """A word that stands where a name would, with a strength or after `do you have`: nothing we
    sell, perhaps."""
    words = words_in(text)
    for at, word in enumerate(words[:-1]):
        following = words[at + 1]
        if word.plain in _BEFORE_A_NAME and _may_be_a_name(following):
            behind = words[at + 2 : at + 4]
            strength = [
                one.written
                for one in behind
                if one.is_number or one.plain in ("mg", "g", "ml", "mcg")
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
