"""Finding products by what customers call them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Literal, NamedTuple

from .catalogue import Product
from .forms import WEIGHED, fits_form
from .medicine_names import MedicineNames
from .mentions import Mention, MentionReader
from .word_forms import fold, words_in

Lack = Literal["", "name", "strength", "form", "pack"]
"""What of a wish the catalogue does not have."""

_UNITS = {"mg": 1.0, "g": 1000.0, "mcg": 0.001, "iu": 1.0}
_CLOSE = 1e-9


class Choice(NamedTuple):
    """What the catalogue has for a mention."""

    mention: Mention
    products: tuple[Product, ...]
    """Those that are meant; where something lacks, those of the same name."""
    lacks: Lack = ""
    asked: str = ""
    """The strength, form or pack that the catalogue lacks, in the customer's numbers."""


class ProductHit(NamedTuple):
    product: Product
    choice: Choice


class ProductIndex:
    """Every product, by its names."""

    def __init__(self, products: Iterable[Product]) -> None:
        self.products = tuple(products)
        self.names = MedicineNames(self.products)
        self._reader = MentionReader(self.names)
        brands = [word for product in self.products for word in words_in(product.brand)]
        self.brand_words = frozenset(word.plain for word in brands)
        self._named: dict[str, list[Product]] = defaultdict(list)
        for product in self.products:
            for name in {product.brand, product.substance, product.substance_cs}:
                self._named[_key(name)].append(product)
                for beginning in _beginnings(name):
                    self._named[f"{beginning} …"].append(product)

    def mentions(
        self, text: str, others: Collection[str] = (), *, nouns_are_capitalised: bool = False
    ) -> list[Mention]:
        """The medicines that a text names, each once; of two that name the same, the one that
        says more counts."""
        kept: dict[str, Mention] = {}
        every = self._reader.read(text, others, nouns_are_capitalised=nouns_are_capitalised)
        for mention in every:
            key = mention.name or fold(mention.written)
            earlier = kept.get(key)
            if earlier is None or (_says_much(mention) and not _says_much(earlier)):
                kept[key] = mention
            elif _says_much(mention) and mention.strengths != earlier.strengths:
                kept[f"{key} {mention.said}"] = mention
        return sorted(kept.values(), key=lambda mention: mention.place)

    def search(self, query: str, limit: int = 5) -> list[ProductHit]:
        """The products a query means, best first; those of several names take turns."""
        ranked = [self._hits(self.choose(mention)) for mention in self.mentions(query)]
        hits: dict[str, ProductHit] = {}
        for turn in zip_longest(*ranked):
            for hit in filter(None, turn):
                hits.setdefault(hit.product.id, hit)
        return list(hits.values())[:limit]

    def _hits(self, choice: Choice) -> list[ProductHit]:
        return [ProductHit(product, choice) for product in choice.products]

    def choose(self, mention: Mention) -> Choice:
        """The products that a mention means; never one of another name, strength, form or pack
        without saying so."""
        if not mention.name:
            return Choice(mention, (), "name", mention.said)
        family = self._family(mention)
        of_form = [product for product in family if fits_form(product.form, mention.forms)]
        if mention.forms and not of_form:
            return Choice(mention, tuple(family), "form", ", ".join(sorted(mention.forms)))
        return _of_strength(mention, of_form or family)

    def called(self, name: str) -> list[Product]:
        """Every product whose name is this or begins with it: Zodac and Zodac kapky."""
        return [*self._named.get(_key(name), ()), *self._named.get(f"{_key(name)} …", ())]

    def _family(self, mention: Mention) -> list[Product]:
        """The products of the name itself, and others that begin with it where a form or strength
        is asked for that only those have."""
        own = list(self._named.get(_key(mention.name), ()))
        longer = self._named.get(f"{_key(mention.name)} …", [])
        wider = [*own, *(product for product in longer if product not in own)]
        if not own:
            return wider
        has_form = not mention.forms or any(fits_form(p.form, mention.forms) for p in own)
        return own if has_form else wider


def _of_strength(mention: Mention, family: list[Product]) -> Choice:
    strengths, sizes = _strengths_and_sizes(mention, family)
    strong = [product for product in family if _has_strength(product, strengths)]
    if not strong:
        return Choice(mention, tuple(family), "strength", _shown(strengths[0], mention))
    sized = [product for product in strong if not sizes or product.pack in sizes]
    if not sized:
        return Choice(mention, tuple(strong), "pack", f"{sizes[0]:g}")
    return Choice(mention, tuple(sized))


def _strengths_and_sizes(
    mention: Mention, family: Sequence[Product]
) -> tuple[list[float], list[float]]:
    """What the numbers beside a name mean in the family of that name."""
    strengths, sizes = list(mention.strengths), list[float]()
    packs = {product.pack for product in family}
    for size in mention.pack_sizes:
        is_strength = not strengths and _is_only_a_strength(family, size)
        (strengths if is_strength else sizes).append(size)
    is_weighed = any(product.form in WEIGHED for product in family)
    for grams in mention.grams:
        if is_weighed:
            sizes.append(grams)
        else:
            strengths.append(grams * 1000)
    for number in mention.bare_numbers:
        is_strength = any(_is_strength(product, number) for product in family)
        is_size = not is_strength and number in packs
        (sizes if is_size else strengths).append(number)
    return strengths, sizes


def _is_only_a_strength(family: Sequence[Product], number: float) -> bool:
    """Whether a number of tablets can only be a strength: `Tralgit 50 pills`."""
    is_pack = any(product.pack == number for product in family)
    return not is_pack and any(_is_strength(product, number) for product in family)


def _has_strength(product: Product, strengths: Sequence[float]) -> bool:
    """Whether one of the numbers is the product's strength; any product has it without numbers."""
    return not strengths or any(_is_strength(product, number) for number in strengths)


def _is_strength(product: Product, number: float) -> bool:
    """Whether a number is the product's strength, with or without its unit."""
    amount, _, unit = product.strength.partition(" ")
    plain = float(amount)
    scaled = plain * _UNITS.get(fold(unit).partition("/")[0], 1.0)
    return abs(number - plain) < _CLOSE or abs(number - scaled) < _CLOSE


def _shown(number: float, mention: Mention) -> str:
    """The strength as the customer wrote it, where it stands beside the name."""
    typed = mention.said.removeprefix(mention.written).strip(" ,")
    has_digits = any(letter.isdigit() for letter in typed)
    return typed if has_digits else f"{number:g}"


def _says_much(mention: Mention) -> bool:
    beside = (mention.strengths, mention.bare_numbers, mention.pack_sizes, mention.grams)
    return any(beside) or mention.packs is not None


def _key(name: str) -> str:
    return " ".join(word.plain for word in words_in(name))


def _beginnings(name: str) -> list[str]:
    """The keys of `Tantum` and `Tantum Verde` for `Tantum Verde sprej`."""
    words = _key(name).split()
    return [" ".join(words[:length]) for length in range(1, len(words))]


@lru_cache(maxsize=4)
def index_of(products: tuple[Product, ...]) -> ProductIndex:
    """The index of a catalogue, made once as long as it stays the same."""
    return ProductIndex(products)
