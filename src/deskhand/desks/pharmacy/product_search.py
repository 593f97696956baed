"""Finding products by what customers call them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from .catalogue import Product, aliases
from .word_forms import Word, fold, stem, words_in

_LONGEST_NAME = 4
"""In words."""
_COMMON_WORDS = """
    vitamin kyselina acidum síran uhličitan activated aktivní jodovaný povidone iron
    penicillin penicilin amoxicillin amoxicilin hyoscine folic calcium
"""
_TOO_COMMON = {stem(fold(word)) for word in _COMMON_WORDS.split()}
"""First words of names that alone do not say which one is meant."""
_UNITS = {
    "mg": 1.0,
    "g": 1000.0,
    "gram": 1000.0,
    "mcg": 0.001,
    "ug": 0.001,
    "μg": 0.001,
    "mikrogram": 0.001,
}
_LARGEST_PACK = 120
_COUNTED = re.compile(
    r"^(?:tab|tbl|tob|kaps|caps|cps|pill|prasek|prask|ks|kus|balen|krabic|pack|box|piece|sack|sacc|day|dn|den|week|month|tyd)"
)
FORMS: dict[str, tuple[str, ...]] = {
    "tablet": (
        "tablet",
        "tablets",
        "tablety",
        "tabletu",
        "tbl",
        "tab",
        "pills",
        "prasky",
        "prasek",
    ),
    "capsule": ("capsule", "capsules", "tobolky", "tobolka", "tobolek", "kapsle", "kapsli"),
    "syrup": ("syrup", "sirup", "sirupu", "siroup", "suspension", "suspenze"),
    "drops": ("drops", "kapky", "kapek", "kapkach"),
    "eye drops": ("eye", "ocni"),
    "gel": ("gel", "gelu", "emulgel"),
    "cream": ("cream", "krem", "kremu"),
    "ointment": ("ointment", "mast", "masti"),
    "suppository": ("suppository", "suppositories", "cipky", "cipku", "cipek"),
    "spray": ("spray", "sprej", "spreje", "nosni"),
    "sachet": ("sachet", "sachets", "sacky", "sacku"),
    "effervescent": ("effervescent", "sumive", "sumivy"),
    "lozenge": ("lozenge", "lozenges", "pastilky", "pastilek"),
    "inhaler": ("inhaler", "inhalator", "inhaler"),
    "pen": ("pen", "pens", "pero", "pera"),
    "gum": ("gum", "zvykacky", "zvykacka"),
    "solution": ("solution", "roztok", "dezinfekce"),
}
_FORM_OF = {stem(word): form for form, words in FORMS.items() for word in words}


class Mention(NamedTuple):
    """A name somebody wrote, what it may mean, and what stands beside it."""

    written: str
    """With strength and form, as it was typed."""
    names: tuple[str, ...]
    """Keys of the index."""
    likeness: float
    strengths: tuple[float, ...] = ()
    """Numbers beside the name; in milligrams where a unit says so."""
    forms: frozenset[str] = frozenset()


class SearchHit(NamedTuple):
    product: Product
    score: float


class ProductIndex:
    """Every name of every product, by how it sounds."""

    def __init__(self, products: Iterable[Product]) -> None:
        self.products = tuple(products)
        self._named: dict[str, list[Product]] = defaultdict(list)
        for product in self.products:
            for name in {product.brand, product.substance, product.substance_cs}:
                self._add(name, product)
        for alias, name in aliases().items():
            for product in list(self._named.get(_key(words_in(name)), ())):
                self._add(alias, product, shortened=False)

    def _add(self, name: str, product: Product, *, shortened: bool = True) -> None:
        words = words_in(name)
        keys = {_key(words), stem("".join(word.plain for word in words))}
        if (
            shortened
            and len(words) > 1
            and len(words[0].stem) >= 3
            and words[0].stem not in _TOO_COMMON
        ):
            keys.add(words[0].stem)
        for key in keys:
            if product not in self._named[key]:
                self._named[key].append(product)

    def search(self, query: str, limit: int = 5) -> list[SearchHit]:
        """The products a query means, best first; those of several names take turns."""
        mentions = self.mentions(query) or self._nearest(query)
        ranked = [self._ranked(mention) for mention in mentions]
        found: dict[str, SearchHit] = {}
        for turn in range(max(map(len, ranked), default=0)):
            for one in ranked:
                if turn < len(one):
                    found.setdefault(one[turn].product.id, one[turn])
        return list(found.values())[:limit]

    def mentions(self, text: str) -> list[Mention]:
        """The names in a text, in order, each once."""
        words = words_in(text)
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            best = max(self._windows(words, at), key=lambda one: (one[2], one[0]), default=None)
            if best is None:
                at += 1
                continue
            length, names, likeness = best
            mention = _with_company(words, at, at + length, names, likeness)
            _note(mentions, mention)
            at += length
        return mentions

    def _windows(self, words: list[Word], at: int) -> Iterator[tuple[int, tuple[str, ...], float]]:
        """Stretches of words from here on that are a name: length, names, likeness."""
        for length in range(1, min(_LONGEST_NAME, len(words) - at) + 1):
            window = words[at : at + length]
            if window[0].is_number:
                return
            key = _key(window)
            if key in self._named:
                yield length, (key,), 1.0
            elif near := self._near(key, _slips(key)):
                yield length, tuple(name for name, _ in near), near[0][1]

    def _near(self, key: str, slips: int) -> list[tuple[str, float]]:
        """Names that differ in no more letters than that; whoever mistypes a name gets its first
        letter right."""
        if slips == 0:
            return []
        found: list[tuple[int, str]] = []
        for name in self._by_letter.get(key[:1], ()):
            if abs(len(name) - len(key)) <= slips and len(name) >= 5:
                distance = OSA.distance(key, name, score_cutoff=slips)
                if distance <= slips:
                    found.append((distance, name))
        least = min(found, default=(0, ""))[0]
        return [
            (name, 1 - distance / max(len(key), 1)) for distance, name in found if distance == least
        ]

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        letters: dict[str, list[str]] = defaultdict(list)
        for name in self._named:
            letters[name[:1]].append(name)
        return letters

    def _nearest(self, query: str) -> list[Mention]:
        """For a query that is nothing but a name, mistyped beyond what a text would be searched
        for."""
        words = [word for word in words_in(query) if not word.is_number and len(word.stem) >= 5]
        found = [
            (near, word)
            for word in words
            for near in self._near(word.stem, max(2, len(word.stem) // 3))
        ]
        if not found or len(words) > 3:
            return []
        best = max(likeness for (_, likeness), _ in found)
        names = tuple(name for (name, likeness), _ in found if likeness == best)
        every = words_in(query)
        return [_with_company(every, 0, len(every), names, best * 0.9)]

    def _ranked(self, mention: Mention) -> list[SearchHit]:
        named = {product.id: product for name in mention.names for product in self._named[name]}
        scored = [SearchHit(product, _score(product, mention)) for product in named.values()]
        exact = [one for one in scored if not mention.strengths or _strong(one.product, mention)]
        return sorted(exact or scored, key=lambda one: -one.score)


@lru_cache(maxsize=4)
def index_of(products: tuple[Product, ...]) -> ProductIndex:
    """The index of a catalogue, made once as long as it stays the same."""
    return ProductIndex(products)


def _note(mentions: list[Mention], found: Mention) -> None:
    """One more name; where it is named again, the mention that says more about it counts."""
    for place, earlier in enumerate(mentions):
        if not set(earlier.names).isdisjoint(found.names):
            if not earlier.strengths and found.strengths:
                mentions[place] = found
            return
    mentions.append(found)


def _key(words: list[Word]) -> str:
    return "".join(word.stem for word in words)


def _slips(key: str) -> int:
    """How many letters of a word in a text may be wrong."""
    return 0 if len(key) < 5 else 1 if len(key) < 8 else 2 if len(key) < 13 else 3


def _with_company(
    words: list[Word], start: int, end: int, names: tuple[str, ...], likeness: float
) -> Mention:
    """The name at this place with the strength and the form that stand right behind or before
    it."""
    strengths: list[float] = []
    forms: set[str] = set()
    last = end
    inside = [index for index in range(max(0, start - 2), end) if words[index].is_number]
    for index in (*inside, *range(end, min(end + 5, len(words)))):
        word = words[index]
        following = words[index + 1].plain if index + 1 < len(words) else ""
        if word.is_number and not _counts(word, following):
            strengths.append(_amount(word.plain, following))
            last = max(last, index + 1 + (following in _UNITS))
            start = min(start, index)
        elif word.stem in _FORM_OF:
            forms.add(_FORM_OF[word.stem])
            last = max(last, index + 1)
        elif (
            index >= end and not word.is_number and word.plain not in _UNITS and len(word.plain) > 2
        ):
            break
    if start and words[start - 1].stem in _FORM_OF:
        forms.add(_FORM_OF[words[start - 1].stem])
    written = " ".join(word.written for word in words[start:last])
    return Mention(written, names, likeness, tuple(strengths), frozenset(forms))


def _counts(number: Word, following: str) -> bool:
    """Whether it says how many rather than how strong."""
    return (
        bool(_COUNTED.match(following)) and float(number.plain.replace(",", ".")) <= _LARGEST_PACK
    )


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", ".")) * _UNITS.get(unit, 1.0)


def _strong(product: Product, mention: Mention) -> bool:
    """Whether a number beside the name is the product's strength, with or without its unit."""
    number, _, unit = product.strength.partition(" ")
    plain = float(number)
    return any(
        abs(one - known) < 1e-9
        for one in mention.strengths
        for known in (plain, _amount(number, fold(unit)))
    )


def _score(product: Product, mention: Mention) -> float:
    score = mention.likeness
    if mention.strengths:
        score += 0.3 if _strong(product, mention) else -0.2
    if mention.forms:
        score += 0.2 if product.form in mention.forms else -0.1
    if (
        _key(words_in(product.brand)) in mention.names
    ):  # the very product rather than one of its family
        score += 0.1
    return round(score, 4)
