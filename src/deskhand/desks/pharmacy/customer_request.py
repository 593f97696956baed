"""What a message asks for: which products, where, how many, and how surely each was read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from deskhand import mail
from deskhand.language.identify import identify

from .catalogue import Pharmacy, Product, sample_pharmacies, sample_products
from .numbers_in_words import counted_words, number_at
from .places import Places, place_words, places_in, unnamed_town
from .product_search import Choice, Lack, ProductIndex, index_of
from .shelf import MOST_PACKS
from .word_forms import fold, words_in
from .wording import Language

NUMBER = re.compile(r"\bR-[A-Z2-7]{8}\b", re.IGNORECASE)
_ANSWERED = re.compile(r"^\s*(?:re|aw|odp|sv|antw)\s*:", re.IGNORECASE)
_SPOKEN = ("cs", "sk", "en", "de", "es", "fr", "it", "pl")
_YES = re.compile(
    r"^\W*(?:ano|jo|jiste|presne|souhlas\w*|hej|yes|yep|sure|correct|right|exactly|ja|genau|richtig"
    r"|si|claro|correcto|ok|okay)\b"
)

_SHORT_TEXT = 8
"""So few words say little about their language."""
_CZECH_WORDS = """
    mate maji prosim dobry den dekuji dekuju diky je kde kolik skladem potrebuji potrebuju shanim
    mam jestli nebo rezervujte zdravim prosila prosil dobre dakujem mozete koupit sezenu stoji
"""
_CZECH = frozenset(_CZECH_WORDS.split())

ReadAs = Literal["exact", "confirmed", "default", "corrected"]


class AskedMedicine(NamedTuple):
    """One medicine that is asked for."""

    written: str
    """Its name as it was typed."""
    asked: str
    """As it was typed, with strength."""
    name: str
    """What the catalogue calls it; empty where it does not have it."""
    read: ReadAs
    lacks: Lack
    lacking: str
    """The strength, form or pack that the catalogue does not have."""
    products: tuple[str, ...]
    """Ids of the products that are meant; where something lacks, of the same name."""
    packs: int | None
    pack_size: int | None
    packs_unclear: bool = False
    """Whether packs are counted in words that were not understood."""

    @property
    def query(self) -> str:
        """What the catalogue is asked for."""
        return self.asked if not self.name else self.asked_exactly

    @property
    def asked_exactly(self) -> str:
        """The name as the catalogue has it, with the strength where just one is meant."""
        meant = [product for product in sample_products() if product.id in self.products]
        strengths = {product.strength for product in meant}
        forms = {product.brand for product in meant}
        name = forms.pop() if len(forms) == 1 else self.name
        strength = strengths.pop() if len(strengths) == 1 and not self.lacks else ""
        return f"{name} {strength}".strip()


class Request(NamedTuple):
    """What was asked for, as far as the text says."""

    items: tuple[AskedMedicine, ...]
    places: Places
    reservation: str
    """A reservation's number, or empty."""
    language: Language

    @property
    def query(self) -> str:
        """The names, `, ` between several; empty when there is none."""
        return ", ".join(item.query for item in self.items)

    @property
    def place(self) -> str:
        """A pharmacy's id where one is meant, a town, or empty."""
        return self.places.only_place

    @property
    def packs(self) -> int:
        counted = [item.packs for item in self.items if item.packs is not None]
        return counted[0] if counted else 1


def read(subject: str, text: str, people: Iterable[str] = ()) -> Request:
    """The body first: a subject adds what the body does not name, unless it is ours.

    `people` are names of persons, none of them a medicine's.
    """
    own = own_words(text)
    own_subject = "" if _ANSWERED.match(subject) else subject
    index = index_of(sample_products())
    choices = choices_in(index, own, people)
    choices += _of_subject(choices_in(index, own_subject, people), choices)
    places = places_in(own)
    if not (places.towns or places.not_served):
        places = places_in(own_subject)
    if not (places.towns or places.not_served):
        names = [choice.mention.written for choice in choices]
        unnamed = unnamed_town(own, [*names, *people])
        places = places._replace(not_served=(unnamed,) if unnamed else ())
    return Request(
        items=tuple(map(_item, choices)),
        places=places,
        reservation=reservation_number(f"{subject}\n{own}"),
        language=language_of(own, subject),
    )


def _of_subject(in_subject: Sequence[Choice], in_body: Sequence[Choice]) -> list[Choice]:
    """What a subject adds to the body: everything where the body names nothing, else medicines of
    ours that the body does not name."""
    if not in_body:
        return list(in_subject)
    named = {product for choice in in_body for product in choice.products}
    ours = [choice for choice in in_subject if choice.mention.name]
    return [choice for choice in ours if named.isdisjoint(choice.products)]


def choices_in(index: ProductIndex, text: str, people: Iterable[str] = ()) -> list[Choice]:
    """What the catalogue has for each medicine in a text."""
    persons = {word.plain for name in people for word in words_in(name)}
    others = (persons - index.brand_words) | place_words()
    german = identify(text, _SPOKEN).code == "de"
    mentions = index.mentions(text, others, nouns_are_capitalised=german)
    return [index.choose(mention) for mention in mentions]


def _item(choice: Choice) -> AskedMedicine:
    mention = choice.mention
    sizes = {product.pack for product in choice.products}
    read_as: ReadAs = "exact"
    if mention.read == "corrected":
        read_as = "corrected"
    pack_size = None
    if len(sizes) == 1 and not choice.lacks:
        pack_size = sizes.pop()
    packs = None if mention.packs is None else int(mention.packs)
    return AskedMedicine(
        written=mention.typed,
        asked=mention.said,
        name=mention.name,
        read=read_as,
        lacks=choice.lacks,
        lacking=choice.asked,
        products=tuple(product.id for product in choice.products),
        packs=packs,
        pack_size=pack_size,
        packs_unclear=mention.counts_unclear and mention.packs is None,
    )


def answered(earlier: Mapping[str, Any], text: str, people: Iterable[str] = ()) -> Request:
    """The earlier request with what an answer to our question adds to it."""
    before = [_item_again(item) for item in earlier["items"]]
    now = read("", text, people)
    places = now.places
    if not (places.towns or places.not_served):
        places = Places(*(tuple(names) for names in earlier["places"]))
    named = {item.name: item for item in now.items}
    items = [_again(item, named.pop(item.name, None), text) for item in before if item.name]
    kept = [item for item in items if not item.lacks]
    said_yes = _YES.match(fold(text)) is not None
    if now.items or (said_yes and kept):  # what was left open is not wanted any more
        items = kept
    every = (*items, *named.values())
    return now._replace(items=every, places=places, language=earlier["language"])


def _again(item: AskedMedicine, named: AskedMedicine | None, text: str) -> AskedMedicine:
    """An earlier item with what the answer says about it, which may name it once more."""
    completed = _completed(item, text)
    if named is None:
        return completed
    says_more = bool(item.lacks) or len(named.products) < len(item.products)
    chosen = named if says_more else completed
    packs = chosen.packs if named.packs is None else named.packs
    return chosen._replace(read=named.read, packs=packs if packs is not None else item.packs)


def _item_again(kept: Mapping[str, Any]) -> AskedMedicine:
    """An item as an earlier stage kept it."""
    fields = {name: kept[name] for name in AskedMedicine._fields}
    return AskedMedicine(**fields | {"products": tuple(kept["products"])})


def _completed(item: AskedMedicine, text: str) -> AskedMedicine:
    """An item with the numbers of an answer that names nothing: `the 40 mg one`, `yes`."""
    said_yes = _YES.match(fold(text)) is not None
    read_as: ReadAs = "confirmed" if said_yes and item.read == "corrected" else item.read
    answer = text[:1].lower() + text[1:]  # a capital would make it a part of the name
    combined = choices_in(index_of(sample_products()), f"{item.name} {answer}")
    if not combined:
        return item._replace(read=read_as)
    completed = _item(combined[0])
    is_narrower = set(completed.products) <= set(item.products) or bool(item.lacks)
    chosen = completed if is_narrower else item
    packs = completed.packs
    if packs is None and (item.packs_unclear or (item.packs or 0) > MOST_PACKS):
        packs = _only_number(text)
    known_packs = item.packs if packs is None else packs
    unclear = item.packs_unclear and packs is None
    return chosen._replace(asked=item.asked, read=read_as, packs=known_packs, packs_unclear=unclear)


def _only_number(text: str) -> int | None:
    """The number in a short answer to how many; None where there is none or more than one."""
    words = counted_words(text)
    numbers = [number_at(words, place) for place in range(len(words))]
    values = {int(number.value) for number in numbers if number is not None}
    return values.pop() if len(values) == 1 else None


def reservation_number(text: str) -> str:
    """The first number of a reservation in a text, in capitals; empty where there is none."""
    number = NUMBER.search(text)
    return number[0].upper() if number else ""


def own_words(text: str) -> str:
    """The words of the customer, without quotations and signatures."""
    return mail.visible_reply(text) or text


def language_of(text: str, subject: str = "") -> Language:
    """The desk's language that the customer understands best: Czech for Czechs and Slovaks,
    English for everybody else."""
    whole = f"{text}\n{subject}"
    if set(plain_words(text)) & _CZECH and len(text.split()) <= _SHORT_TEXT:
        return "cs"
    code = identify(whole, _SPOKEN).code
    if code == "pl":  # so looks Czech without its accents
        code = identify(whole, ("cs", "pl")).code
    return "cs" if code in ("cs", "sk") else "en"


def plain_words(text: str) -> list[str]:
    return [word.plain for word in words_in(text)]


def place_in(text: str, pharmacies: Sequence[Pharmacy] | None = None) -> str:
    """The pharmacy's id where the text names just one, else the town, else nothing."""
    return places_in(text, pharmacies).only_place


def called(place: str) -> str:
    """A place as a customer knows it."""
    for pharmacy in sample_pharmacies():
        if pharmacy.id == place:
            return f"{pharmacy.name}, {pharmacy.city}"
    return place


def products_of(item: Mapping[str, Any]) -> list[Product]:
    """The products of an item, as the catalogue has them."""
    return [product for product in sample_products() if product.id in item["products"]]


def as_output(request: Request) -> dict[str, Any]:
    """The request as a stage keeps it, with what a reservation is looked for by."""
    items = [item._asdict() | {"query": item.query} for item in request.items]
    return {
        "query": request.query,
        "place": request.place,
        "packs": request.packs,
        "reservation": request.reservation,
        "language": request.language,
        "about": request.reservation or ", ".join(map(_about, request.items)),
        "items": items,
        "places": [list(names) for names in request.places],
        "read": _readings(request),
    }


def _about(item: AskedMedicine) -> str:
    """What a reservation is looked for by: the bare name where nothing else is said."""
    is_bare = item.name and item.asked == item.written
    return item.name if is_bare else item.query


def _readings(request: Request) -> dict[str, str]:
    """How the values were read that tools are called with."""
    corrected = any(item.read == "corrected" for item in request.items)
    read = {"query": "corrected" if corrected else "exact"}
    return read | {"place": "exact"} if request.place else read
