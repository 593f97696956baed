"""Where a customer wants something: our pharmacies and towns in every grammatical case and some
languages, and towns where we have none."""

import csv
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .catalogue import Pharmacy, sample_pharmacies
from .forms import FORM_OF
from .word_forms import TypedWord, fold, words_in

_DATA = Path(__file__).parent / "data"
_LONGEST_PLACE = 4
_WEAK = "~"
"""Before a name in the table that is an ordinary word or a person's name as well."""
_LONG_ENOUGH = 6
"""Letters of a town's name that is known without a capital."""
_PREPOSITIONS = """
    v ve u na do z ze pod pri kolem vedle pobliz blizko okolo nedaleko in at near from to en de a
    bei im zu nach an nahe cerca
    lekarna lekarne lekarnu lekarny lekaren lekarni lekarnou pharmacy farmacia apotheke
    bileho bily zlateho zlaty the la
"""
_BEFORE_A_PLACE = frozenset(_PREPOSITIONS.split())
_PHARMACIES = """
    pharmacy lekarna lekarne lekarny lekarnu lekarnou lekaren lekarnach lekarni apotheke apotheken
    farmacia pobocka pobocce pobocku pobocky filiale
"""
_PHARMACY = frozenset(_PHARMACIES.split())
_ADJECTIVES = {
    "Praha": "prazsk",
    "Brno": "brnensk",
    "Ostrava": "ostravsk",
    "Plzeň": "plzensk",
    "Olomouc": "olomouck",
    "Liberec": "libereck",
    "České Budějovice": "budejovick",
}
_ADJECTIVE_ENDINGS = ("a", "e", "ou", "y", "u", "ych", "ym", "em", "ej", "ymi")
"""`Plzeňská lékárna` is the one in Plzeň."""
_FROM = frozenset(("z", "ze", "zo", "aus", "from", "desde"))
_UNNAMED_TOWN = re.compile(r"^(?:v|ve|do|in|en|nach)$")
_NO_TOWN = """
    pondeli utery stredu ctvrtek patek sobotu nedeli pondelok utorok stvrtok piatok nedelu leden
    lednu unoru breznu dubnu kvetnu cervnu cervenci srpnu zari rijnu listopadu prosinci monday
    tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december january czechia czech ceske cesku cr stock case
    advance general english german deutsch the your my a an my nasi vasi jedne ktere nektere
    lekarne lekarnach cechach morave tschechien chequia espana order time
    koruny korunach kronen krone crowns crown coronas corona euro euros eurech dollar dollars czech
    person total store stores shop shops branch branches packs boxes town europe europa evrope
    slovakia slowakei slovensku germany deutschland osterreich montag dienstag mittwoch donnerstag
    freitag samstag sonntag januar februar marz juni juli oktober dezember
    lunes martes miercoles jueves viernes sabado domingo farmacia farmacias caja cajas
    apotheke apotheken filiale filialen ihrer ihren ihre ihnen eurer euren unserer dieser diesem
    welcher welchen allen beiden bar bargeld eile urlaub kurze zukunft summe menge ordnung stuck
    bestand lager vorrat sortiment angebot katalog laden internet nahe umgebung gegend stadt zentrum
    innenstadt krankenhaus richtung hause rezept absprache kombination verbindung schachteln
    spanien tschechische tschechischen kurs wahrung
"""
_NOT_TOWNS = frozenset(_NO_TOWN.split())
_ENDING_OF_A_NOUN = re.compile(
    r"(?:ung|ungen|heit|keit|form|grosse|starke|schachtel|preis|preise|zeit|zeiten|abend|kronen"
    r"|korunach|korun)$"
)
"""Endings of German nouns, each of which has a capital like a town: `in Tablettenform`."""


class Places(NamedTuple):
    """The places that a text names."""

    pharmacies: tuple[str, ...]
    """Ids, where single pharmacies are meant."""
    towns: tuple[str, ...]
    """Towns of ours, without districts."""
    not_served: tuple[str, ...]
    """Towns where we have no pharmacy; one we do not know as it was written."""

    @property
    def only_place(self) -> str:
        """The pharmacy's id or the town, where just one is meant; else nothing."""
        if len(self.pharmacies) == 1:
            return self.pharmacies[0]
        if self.pharmacies or len(self.towns) != 1:
            return ""
        return self.towns[0]


class _Named(NamedTuple):
    pharmacies: frozenset[str]
    weak: bool


def places_in(text: str, pharmacies: Sequence[Pharmacy] | None = None) -> Places:
    """Every place in a text. Of `pod Špilberkem v Brně` the pharmacy counts, not the town."""
    served = tuple(pharmacies or sample_pharmacies())
    table = _table(served)
    words = words_in(text)
    times: dict[str, int] = {}
    not_served: dict[str, None] = {}
    origins: dict[str, None] = {}
    at = 0
    while at < len(words):
        length, named = _longest(table, words, at)
        if named is not None:
            for pharmacy in named.pharmacies:
                times[pharmacy] = times.get(pharmacy, 0) + 1
            at += length
            continue
        length, town = _town_at(words, at)
        if town:
            places_from = origins if _is_origin(words, at) else not_served
            places_from[town] = None
        at += max(length, 1)
    if not times:
        not_served |= origins
    return _narrowed(served, times, tuple(not_served))


def _is_origin(words: Sequence[TypedWord], at: int) -> bool:
    """Whether somebody tells only where he comes from."""
    return at > 0 and words[at - 1].plain in _FROM


def _narrowed(
    served: Sequence[Pharmacy], times: dict[str, int], not_served: tuple[str, ...]
) -> Places:
    city_of = {pharmacy.id: town_of(pharmacy) for pharmacy in served}
    by_city: dict[str, dict[str, int]] = {}
    for pharmacy, count in times.items():
        by_city.setdefault(city_of[pharmacy], {})[pharmacy] = count
    single: list[str] = []
    for city, counts in by_city.items():
        most = max(counts.values())
        best = [pharmacy for pharmacy, count in counts.items() if count == most]
        in_city = [pharmacy for pharmacy in served if city_of[pharmacy.id] == city]
        if len(best) < len(in_city) or len(in_city) == 1:
            single += best
    towns = tuple(by_city)
    covered = {city_of[pharmacy] for pharmacy in single}
    whole = [town for town in towns if town not in covered]
    return Places(tuple(single) if not whole else (), towns, not_served)


def town_of(pharmacy: Pharmacy) -> str:
    """`Praha` for `Praha 5`."""
    return pharmacy.city.rstrip(" 0123456789")


def has_several(place: str) -> bool:
    """Whether a place is a town with several pharmacies of ours."""
    return sum(town_of(pharmacy) == place for pharmacy in sample_pharmacies()) > 1


@cache
def place_words() -> frozenset[str]:
    """Folded words that name places, so that none of them is taken for a medicine."""
    names = [name for pharmacy in sample_pharmacies() for name in _names_of(pharmacy)]
    names += [form for forms in _towns().values() for form in forms]
    return frozenset(word.plain for name in names for word in words_in(name) if not word.is_number)


def _names_of(pharmacy: Pharmacy) -> Iterable[str]:
    yield pharmacy.name
    yield pharmacy.street
    yield from (name.removeprefix(_WEAK) for name in pharmacy.places.split(";"))


@cache
def _table(pharmacies: tuple[Pharmacy, ...]) -> dict[str, _Named]:
    table: dict[str, _Named] = {}
    for pharmacy in pharmacies:
        adjective = _ADJECTIVES.get(town_of(pharmacy), "")
        adjectives = [f"{_WEAK}{adjective}{ending}" for ending in _ADJECTIVE_ENDINGS if adjective]
        for name in (pharmacy.name, *pharmacy.places.split(";"), *adjectives):
            key = _plain(name.removeprefix(_WEAK))
            earlier = table.get(key)
            meant = frozenset((pharmacy.id,)) | (earlier.pharmacies if earlier else frozenset())
            table[key] = _Named(meant, name.startswith(_WEAK))
    return table


def _longest(
    table: dict[str, _Named], words: Sequence[TypedWord], at: int
) -> tuple[int, _Named | None]:
    for length in range(min(_LONGEST_PLACE, len(words) - at), 0, -1):
        named = table.get(" ".join(word.plain for word in words[at : at + length]))
        if named is not None and not (named.weak and not _is_a_place(words, at, length)):
            return length, named
    return 1, None


def _is_a_place(words: Sequence[TypedWord], at: int, length: int) -> bool:
    """Whether an ordinary word means a pharmacy here: it is written like a name, and what stands
    around it speaks of a place."""
    before = words[at - 1].plain if at else ""
    after = words[at + length].plain if at + length < len(words) else ""
    if before in _PHARMACY or after in _PHARMACY:
        return True
    is_name = words[at].is_capitalised or _is_beside_its_town(words, at)
    return is_name and before in _BEFORE_A_PLACE


def _is_beside_its_town(words: Sequence[TypedWord], at: int) -> bool:
    """Whether a town of ours is named right before, by who writes no capitals: `v praze na
    letne`."""
    near = {word.plain for word in words[max(0, at - 3) : at]}
    return bool(near & _own_towns()) and not any(word.is_capitalised for word in words)


@cache
def _own_towns() -> frozenset[str]:
    """The forms of one word of the names of our towns."""
    first = [pharmacy.places.split(";")[:6] for pharmacy in sample_pharmacies()]
    return frozenset(_plain(name) for names in first for name in names if name[0] != _WEAK)


def _town_at(words: Sequence[TypedWord], at: int) -> tuple[int, str]:
    """A town without a pharmacy of ours that begins at this word, and its length in words."""
    for length in range(min(_LONGEST_PLACE, len(words) - at), 0, -1):
        here = words[at : at + length]
        town = _town_forms().get(" ".join(word.plain for word in here))
        before = words[at - 1].plain if at else ""
        is_name = here[0].is_capitalised or len(here[0].plain) >= _LONG_ENOUGH
        is_place = length > 1 or before in _BEFORE_A_PLACE or _stands_alone(words, at)
        if town and is_name and is_place:
            return length, town
    return 1, ""


def _stands_alone(words: Sequence[TypedWord], at: int) -> bool:
    """Whether a capitalised word is a sentence of its own: `Zlín. Zodac 10 mg.`"""
    following = words[at + 1 : at + 2]
    is_sentence = words[at].opens and (not following or following[0].opens)
    return is_sentence and words[at].is_capitalised


@cache
def _towns() -> dict[str, tuple[str, ...]]:
    with (_DATA / "towns.csv").open(encoding="utf-8", newline="") as lines:
        return {row["town"]: tuple(row["forms"].split(";")) for row in csv.DictReader(lines)}


@cache
def _town_forms() -> dict[str, str]:
    return {_plain(form): town for town, forms in _towns().items() for form in forms}


def unnamed_town(text: str, taken: Iterable[str]) -> str:
    """A place after `in` that nobody here knows, as it was written; empty where there is none."""
    words = words_in(text)
    known_words = {fold(word) for name in taken for word in name.split()} | place_words()
    for before, word in pairwise(words):
        may_be = word.is_capitalised and not word.opens and len(word.plain) > 3
        if not (may_be and _UNNAMED_TOWN.match(before.plain)):
            continue
        if word.plain not in known_words and not _is_no_town(word):
            return word.written
    return ""


def _is_no_town(word: TypedWord) -> bool:
    """Whether a word is a number, a form, a currency, or another noun that follows an `in`."""
    if word.is_number or word.stem in FORM_OF or word.plain in _NOT_TOWNS:
        return True
    return _ENDING_OF_A_NOUN.search(word.plain) is not None


def _plain(text: str) -> str:
    return " ".join(word.plain for word in words_in(text))
