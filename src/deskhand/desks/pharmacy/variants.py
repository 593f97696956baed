"""Words behind a name that make another medicine of it: Paralen Grip is not Paralen."""

from collections.abc import Collection, Sequence

from .forms import FORM_OF
from .medicine_names import MedicineNames, NameMatch, is_other_medicine
from .unknown_names import MAKERS, ORDINARY_WORDS
from .word_forms import TypedWord

_VARIANTS = """
    grip plus extra forte combi kombi neo rapid rapide duo retard sr xr zok cor complex komplex max
    maxi akut akutni junior sensitive menthol protect gyn ultra night flu cold hot fast express
    effect intensive intensiv direct direkt mini ac fol hct comp ct mr xl kids baby instant easy
    dolo migren sinus classic clasic original mint freshmint icemint orange citron zitrone lemon
    honey pomeranc mentol gold turbo active aktiv long chrono depot dual trio
"""
_VARIANT = frozenset(_VARIANTS.split())
_CLEAR = "grip extra forte combi kombi rapid rapide junior ultra retard duo neo express kids"
_CLEARLY = frozenset(_CLEAR.split())
"""They make another medicine of a name even behind an article: `Nurofen, el rapid`."""
_IN_CAPITALS = frozenset(("la", "c", "d", "n"))
"""They are ordinary words or nothing at all in small letters."""
_SECOND = frozenset(("strength", "strong", "stark", "power"))
"""They belong to the variant before them: `Extra Strength`."""
_SMALL = "ten tento ta to tu tou the der die das den el la los las ese esa"
_ARTICLES = frozenset(_SMALL.split())
_SHORTEST = 3
_SPACE = frozenset(("", "®", "™", "("))


class Variants:
    """Finds the words of one text that belong to the name before them."""

    def __init__(
        self,
        names: MedicineNames,
        text: str,
        words: Sequence[TypedWord],
        others: Collection[str],
        *,
        nouns: bool,
    ) -> None:
        """`words` are those of `text`, `others` name people and places; `nouns` says that all nouns
        are written with a capital."""
        self._names, self._text, self._words = names, text, words
        self._others, self._nouns = others, nouns

    def at(self, begin: int, end: int) -> NameMatch | None:
        """The name that begins and ends there with the words behind it that make another medicine
        of it; None where there are none."""
        last = end
        while last < len(self._words) and self._belongs(last, is_first=last == end, begin=begin):
            last += 1
        label = ""
        if last == end and self._is_behind_an_article(end):
            last = end + 2
            own = [word.written for word in self._words[begin:end]]
            label = " ".join([*own, self._words[end + 1].written])
        return NameMatch("", last - begin, "unknown", label) if last > end else None

    def _belongs(self, at: int, *, is_first: bool, begin: int) -> bool:
        word = self._words[at]
        between = self._between(at)
        if word.opens or word.is_number or word.plain in self._others:
            return False
        if between == "-":
            return True
        if between.strip() not in _SPACE:
            return False
        if self._is_variant(at):
            return True
        if not is_first:
            return word.plain in _SECOND
        return not between.strip() and self._is_capitalised_part(at, begin)

    def _is_variant(self, at: int) -> bool:
        word = self._words[at]
        if word.plain in _IN_CAPITALS:
            return word.written.isupper() and not self._between(at + 1).startswith(".")
        if word.plain == "plus" and at + 1 < len(self._words):
            return self._names.exact(self._words, at + 1) is None
        if word.plain == "max" and at + 1 < len(self._words):
            return not self._words[at + 1].is_number
        return word.plain in _VARIANT

    def _is_behind_an_article(self, end: int) -> bool:
        """Whether an article or a form follows, and then a word that is clearly a variant."""
        if end + 1 >= len(self._words) or self._words[end + 1].opens:
            return False
        first, word = self._words[end], self._words[end + 1]
        is_small = first.plain in _ARTICLES or first.stem in FORM_OF
        is_pair = is_small and self._between(end + 1) == " "
        return is_pair and word.plain in _CLEARLY and not first.opens

    def _is_capitalised_part(self, at: int, begin: int) -> bool:
        """Whether a capitalised word can only be a part of the name before it: `Nurofen Aroma`."""
        word = self._words[at]
        if self._nouns or not word.is_capitalised or len(word.plain) < _SHORTEST:
            return False
        is_ordinary = word.plain in ORDINARY_WORDS or word.plain in MAKERS
        if is_ordinary or word.stem in FORM_OF or is_other_medicine(word):
            return False
        if self._names.exact(self._words, at) is not None:
            return False
        return self._is_plain_writing(begin, at)

    def _is_plain_writing(self, begin: int, at: int) -> bool:
        """Whether the sentence around the words from `begin` to `at` is written in small letters,
        so that a capital says something."""
        first, last = begin, at + 1
        while first > 0 and not self._words[first].opens:
            first -= 1
        while last < len(self._words) and not self._words[last].opens:
            last += 1
        around = [*self._words[first + 1 : begin], *self._words[at + 1 : last]]
        written = [word for word in around if not word.is_number]
        capitals = [word for word in written if word.is_capitalised]
        return len(written) > 0 and 2 * len(capitals) <= len(written)

    def _between(self, at: int) -> str:
        """What stands between a word and the one before it."""
        if at >= len(self._words):
            return self._text[self._words[-1].end :]
        return self._text[self._words[at - 1].end : self._words[at].start]
