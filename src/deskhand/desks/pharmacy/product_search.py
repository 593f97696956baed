"""Finding products by what customers call them."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import zip_longest
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
        if shortened and len(words) > 1:
            first = words[0].stem
            if len(first) >= 3 and first not in _TOO_COMMON:
                keys.add(first)
        for key in keys:
            if product not in self._named[key]:
                self._named[key].append(product)

    def search(self, query: str, limit: int = 5) -> list[SearchHit]:
        """The products a query means, best first; those of several names take turns."""
        mentions = self.mentions(query) or self._nearest(query)
        ranked = [self._ranked(mention) for mention in mentions]
        hits: dict[str, SearchHit] = {}
        for turn in zip_longest(*ranked):
            for hit in filter(None, turn):
                hits.setdefault(hit.product.id, hit)
        return list(hits.values())[:limit]

    def mentions(self, text: str) -> list[Mention]:
        """The names in a text, in order, each once."""
        words = words_in(text)
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            best = max(self._windows(words, at), key=_likeness_and_length, default=None)
            if best is None:
                at += 1
                continue
            end = at + best.length
            _note(mentions, _with_company(words, at, end, best.names, best.likeness))
            at = end
        return mentions

    def _windows(self, words: list[Word], at: int) -> Iterator["_Window"]:
        """Stretches of words from here on that are a name."""
        for length in range(1, min(_LONGEST_NAME, len(words) - at) + 1):
            window = words[at : at + length]
            if window[0].is_number:
                return
            key = _key(window)
            if key in self._named:
                yield _Window(length, (key,), 1.0)
            elif near := self._near(key, _slips(key)):
                names = tuple(name for name, _ in near)
                yield _Window(length, names, near[0][1])

    def _near(self, key: str, slips: int) -> list[tuple[str, float]]:
        """The names that differ least from a key, in at most so many letters, with their likeness.

        Whoever mistypes a name gets its first letter right.
        """
        if slips == 0:
            return []
        candidates: list[tuple[int, str]] = []
        for name in self._by_letter.get(key[:1], ()):
            if abs(len(name) - len(key)) <= slips and len(name) >= 5:
                distance = OSA.distance(key, name, score_cutoff=slips)
                if distance <= slips:
                    candidates.append((distance, name))
        least = min(candidates, default=(0, ""))[0]
        likeness = 1 - least / max(len(key), 1)
        return [(name, likeness) for distance, name in candidates if distance == least]

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        letters: dict[str, list[str]] = defaultdict(list)
        for name in self._named:
            letters[name[:1]].append(name)
        return letters

    def _nearest(self, query: str) -> list[Mention]:
        """For a query that is nothing but a name, mistyped more than a text may be."""
        every = words_in(query)
        words = [word.stem for word in every if not word.is_number and len(word.stem) >= 5]
        near: list[tuple[str, float]] = []
        for word in words:
            near += self._near(word, max(2, len(word) // 3))
        if not near or len(words) > 3:
            return []
        best = max(likeness for _, likeness in near)
        names = tuple(name for name, likeness in near if likeness == best)
        return [_with_company(every, 0, len(every), names, best * 0.9)]

    def _ranked(self, mention: Mention) -> list[SearchHit]:
        named = {product.id: product for name in mention.names for product in self._named[name]}
        scored = [SearchHit(product, _score(product, mention)) for product in named.values()]
        exact = [hit for hit in scored if not mention.strengths or _strong(hit.product, mention)]
        return sorted(exact or scored, key=lambda hit: -hit.score)


@lru_cache(maxsize=4)
def index_of(products: tuple[Product, ...]) -> ProductIndex:
    """The index of a catalogue, made once as long as it stays the same."""
    return ProductIndex(products)


class _Window(NamedTuple):
    """A stretch of words that is a name."""

    length: int
    names: tuple[str, ...]
    likeness: float


def _likeness_and_length(window: _Window) -> tuple[float, int]:
    return window.likeness, window.length


def _note(mentions: list[Mention], mention: Mention) -> None:
    """Adds a mention; of two that name the same, the one that gives a strength counts."""
    for place, earlier in enumerate(mentions):
        if not set(earlier.names).isdisjoint(mention.names):
            if not earlier.strengths and mention.strengths:
                mentions[place] = mention
            return
    mentions.append(mention)


def _key(words: list[Word]) -> str:
    return "".join(word.stem for word in words)


def _slips(key: str) -> int:
    """How many letters of a word in a text may be wrong."""
    return bisect_right((5, 8, 13), len(key))


def _with_company(
    words: list[Word], start: int, end: int, names: tuple[str, ...], likeness: float
) -> Mention:
    """The name at this place with the strength and the form that stand beside it."""
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
    is_small = float(number.plain.replace(",", ".")) <= _LARGEST_PACK
    return is_small and _COUNTED.match(following) is not None


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", ".")) * _UNITS.get(unit, 1.0)


def _strong(product: Product, mention: Mention) -> bool:
    """Whether a number beside the name is the product's strength, with or without its unit."""
    number, _, unit = product.strength.partition(" ")
    plain = float(number)
    own = (plain, _amount(number, fold(unit)))
    return any(abs(given - strength) < 1e-9 for given in mention.strengths for strength in own)


def _score(product: Product, mention: Mention) -> float:
    score = mention.likeness
    if mention.strengths:
        score += 0.3 if _strong(product, mention) else -0.2
    if mention.forms:
        score += 0.2 if product.form in mention.forms else -0.1
    # the very product rather than one of its family
    if _key(words_in(product.brand)) in mention.names:
        score += 0.1
    return round(score, 4)
