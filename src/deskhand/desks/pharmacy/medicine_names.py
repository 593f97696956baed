"""Which names there are: those of our products in every regular form, and those of medicines that
we do not keep."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from rapidfuzz.distance import OSA

from .catalogue import Product, aliases
from .word_forms import TypedWord, fold, forms_of, stem, words_in

NameReading = Literal["exact", "corrected", "unknown"]

_COMMON_WORDS = """
    vitamin kyselina acidum síran uhličitan activated aktivní jodovaný povidone iron
    penicillin penicilin amoxicillin amoxicilin hyoscine folic calcium
"""
_TOO_COMMON = frozenset(fold(word) for word in _COMMON_WORDS.split())
"""First words of names that alone do not say which one is meant."""
_SHORTEST_ALIKE = 6
"""Letters of a word that may be a misspelt name."""
_DATA = Path(__file__).parent / "data"


class NameMatch(NamedTuple):
    """What a stretch of words is called in the catalogue."""

    name: str
    """As the catalogue writes it; empty where it is in no catalogue."""
    length: int
    """In words."""
    read: NameReading
    label: str = ""
    """What a box says that we do not keep, where that is known."""


class MedicineNames:
    """Every name of every product. A spelling or a regular inflection of one name is exact; what
    sounds the same or differs in one letter is corrected."""

    def __init__(self, products: Iterable[Product]) -> None:
        self._spellings: dict[str, tuple[str, ...]] = {}
        """The words of each spelling, folded, by the spelling itself; and the name it means."""
        self._meaning: dict[str, str] = {}
        self._by_first_form: dict[str, list[str]] = defaultdict(list)
        self._by_sound: dict[str, set[str]] = defaultdict(set)
        every = list(products)
        for product in every:
            self._add(product.brand, product.brand)
            for name in (product.substance, product.substance_cs):
                self._add(name, product.substance)
        for product in every:
            for name in (product.brand, product.substance, product.substance_cs):
                self._add_first_word(name)
        for alias, name in aliases().items():
            self._add(alias, name)
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for sound in self._by_sound:
            self._by_beginning[sound[:2]].append(sound)

    @property
    def first_words(self) -> Collection[str]:
        """The first word of every name in all its regular forms, folded."""
        return self._by_first_form.keys()

    def _add(self, spelling: str, name: str) -> None:
        words = tuple(word.plain for word in words_in(spelling))
        key = " ".join(words)
        if key in self._meaning:
            return
        self._meaning[key] = name
        self._spellings[key] = words
        for form in forms_of(words[0]):
            self._by_first_form[form].append(key)
        compact = "".join(words)
        if len(words) > 1:
            for form in forms_of(compact):
                self._by_first_form[form].append(key)
        self._by_sound[stem(compact)].add(name)

    def _add_first_word(self, brand: str) -> None:
        """`Warfarin` means `Warfarin Orion`."""
        words = words_in(brand)
        if len(words) > 1 and len(words[0].plain) >= 3 and words[0].plain not in _TOO_COMMON:
            self._add(words[0].written, words[0].written)

    def exact(self, words: Sequence[TypedWord], at: int) -> NameMatch | None:
        """The longest name that stands here in one of its regular forms; None where none or where
        two do."""
        best: dict[str, int] = {}
        for key in self._by_first_form.get(words[at].plain, ()):
            length = self._length_here(key, words, at)
            if length:
                name = self._meaning[key]
                best[name] = max(length, best.get(name, 0))
        most = max(best.values(), default=0)
        longest = [name for name, length in best.items() if length == most]
        longest = _written_so(longest, words, at, most) or longest
        return NameMatch(longest[0], most, "exact") if len(longest) == 1 else None

    def _length_here(self, key: str, words: Sequence[TypedWord], at: int) -> int:
        own = self._spellings[key]
        if words[at].plain in forms_of("".join(own)):
            return 1
        here = words[at : at + len(own)]
        if len(here) > 1 and "".join(word.plain for word in here) in forms_of("".join(own)):
            return len(own)
        fits = len(here) == len(own) and all(
            word.plain in forms_of(part) for word, part in zip(here, own, strict=True)
        )
        return len(own) if fits else 0

    def corrected(self, word: TypedWord) -> NameMatch | None:
        """The one name that this word is a likely misspelling of: it sounds the same, or one
        letter differs. None for a word that is the name of another medicine."""
        if is_other_medicine(word) or len(word.plain) < _SHORTEST_ALIKE - 1:
            return None
        same = self._by_sound.get(word.stem, set())
        if len(same) == 1:
            return NameMatch(next(iter(same)), 1, "corrected")
        if same or len(word.stem) < _SHORTEST_ALIKE:
            return None
        near: set[str] = set()
        for sound in self._by_beginning.get(word.stem[:2], ()):
            alike = abs(len(sound) - len(word.stem)) <= 1 and len(sound) >= _SHORTEST_ALIKE
            if alike and OSA.distance(sound, word.stem) == 1:
                near |= self._by_sound[sound]
        return NameMatch(near.pop(), 1, "corrected") if len(near) == 1 else None

    def resembles(self, word: TypedWord) -> bool:
        """Whether a word is so like one of our names that it may be a medicine's name, too."""
        beginning = word.stem[:4]
        return len(word.plain) >= 5 and any(sound.startswith(beginning) for sound in self._by_sound)


def _written_so(names: list[str], words: Sequence[TypedWord], at: int, length: int) -> list[str]:
    """Those of the names that are written letter by letter as they stand here."""
    here = " ".join(word.plain for word in words[at : at + length])
    return [name for name in names if _spelling(name) == here]


def _spelling(name: str) -> str:
    return " ".join(word.plain for word in words_in(name))


def is_other_medicine(word: TypedWord) -> bool:
    """Whether a word is the name of a medicine that is sold elsewhere and not kept here."""
    return other_medicine(word) is not None


def other_medicine(word: TypedWord) -> str | None:
    """The name of such a medicine as its label has it; None for any other word."""
    return _other_forms().get(word.plain)


@cache
def _other_forms() -> dict[str, str]:
    lines = (_DATA / "other_medicines.txt").read_text(encoding="utf-8").splitlines()
    names = [name for line in lines if not line.startswith("#") for name in line.split()]
    forms: dict[str, str] = {}
    for name in names:
        plain = fold(name).replace("-", "")
        for spelling in {plain, plain.replace("c", "k"), plain.replace("th", "t")}:
            for form in forms_of(spelling):
                if len(form) >= 4:
                    forms.setdefault(form, name)
    return forms
