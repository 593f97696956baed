"""The medicines a text names, each with the strength, form, pack and number that stand beside
it."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .forms import FORM_OF, with_forms_apart
from .medicine_names import MedicineNames, NameMatch, NameReading
from .numbers_in_words import Number, counted_words, nickname_of, number_at
from .unknown_names import UnknownNames
from .variants import Variants
from .word_forms import TypedWord, visible

_WEIGHTS = """
    g gr gram grams gramu gramy gramova gramovou gramm gramos gramo
"""
_GRAMS = frozenset(_WEIGHTS.split())
_VOLUMES = """
    ml mililitr mililitru mililitry mililitrov mililitre mililitova millilitre millilitres
    milliliter milliliters mililitro mililitros
"""
_MILLILITRES = frozenset(_VOLUMES.split())
MILLIGRAMS = {
    "mg": 1.0,
    "mcg": 0.001,
    "ug": 0.001,
    "μg": 0.001,
    "mikrogram": 0.001,
    "mikrogramu": 0.001,
    "iu": 1.0,
    "mj": 1.0,
}
MILLIGRAMS |= dict.fromkeys(_GRAMS, 1000.0)
MILLIGRAMS |= dict.fromkeys(_MILLILITRES, 1.0)
_PACK_WORD = re.compile(
    r"^(?:balen|baleni|balicek|balick|krabic|krabick|skatul|ks|kus|kusy|kusu|pack|packs|package"
    r"|packet|box|boxe|packung|schachtel|caja|envase|paquete|tub[auy]|tubes?|lahvic|lahvick|bottle"
    r"|flasche|frasco|plat[ao]|pieces?|stuck)\w{0,4}$"
)
_SINGLE_PACK = frozenset(("pack", "box", "packet"))
_THE = frozenset(("the", "a"))
"""`The 30 pack` holds thirty; nobody wants thirty of it."""
_UNITS_OF_A_PACK = re.compile(r"^(?:ks|kus|kusy|kusu|kusech|pieces?|stuck|piezas?|unidades)$")
_OF_A_PACK = frozenset(("po", "zu", "mit", "of", "de", "con", "with"))
"""`zu 30 Stück` is what a pack holds, `30 Stück` how many are wanted."""
_PIECES = re.compile(
    r"^(?:tab|tabl|tbl|tob|kaps|caps|cps|pill|prasek|prask|pastil|lozeng|sack|sacc|sachet|cip[ke]"
    r"|pytl|beutel|vreck|vrecus|napln|ampul|supposit|tablett|kapsel|comprimid|capsul|zvykac|sobre|gums?$|vials?$|pills?$)\w{0,7}$"
)
_PER_PACK = frozenset(("po", "zu", "with", "a", "s", "las", "los"))
_LEADING = "de mit the die der das den la el ty tech ten tento to ta tu"
_TOLD_APART = frozenset(_LEADING.split())
"""They lead to a strength or to what a pack holds: `la de 40`, `ten 400`, `the 30 one`."""
_PLURAL_OF_PACK = frozenset(("s", "er", "ers", "ks"))
_SEVERAL = re.compile(
    r"^(?:boxes|packs|packages|packets|krabicky|krabicek|krabic|cajas|packungen|schachteln)$"
)
_VAGUE_WORDS = """
    nekolik niekolko par vice viac hodne spoustu dost kolik several few some more many mehrere
    einige varias algunas unas dalsi ostatni zasobu
"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_LIKE_A_NUMBER = re.compile(r"(?:och|ich|cet|desat|nact|nast|zehn|zig|teen|ty|ece|enta)$")
_REACH = 7
"""Words after a name that may belong to it."""
_BEFORE = 5
_SHORT = 4
"""Letters of a word that may stand between a name and its strength: Trittico AC 150."""
_MOST_COUNTED = 24
"""A larger number without a word for packs is no number of packs."""
_FORM_BEFORE = 2
"""Words before a name of which one may say its form."""
_AND = frozenset(("a", "and", "und", "y", "i", "plus", "oder", "or", "nebo"))
_KINDS = ("strength", "bare", "pack", "count", "gram")
_ARTICLES = frozenset(("a", "an"))
"""They count packs, and nothing else: a Czech `a` joins two names."""
_BETWEEN = frozenset(
    ("of", "leku", "lieku", "pripravku", "de", "von", "vom", "the", "x", "krat", "mal", "times")
)
"""Words between a number of packs and the name."""


class Mention(NamedTuple):
    """A medicine that a text names."""

    written: str
    """The name as it was typed, without what stands beside it."""
    name: str
    """As the catalogue has it; empty where the catalogue does not have it."""
    read: NameReading
    place: int
    """The number of its first word."""
    end: int
    strengths: tuple[float, ...] = ()
    """With a unit, in milligrams."""
    bare_numbers: tuple[float, ...] = ()
    """Right behind the name and without a unit: a strength or a pack."""
    pack_sizes: tuple[float, ...] = ()
    grams: tuple[float, ...] = ()
    """A strength or what a tube holds."""
    packs: float | None = None
    counts_unclear: bool = False
    """Whether packs are counted in words that were not understood."""
    forms: frozenset[str] = frozenset()
    said: str = ""
    """The name with strength and form, as it was typed."""
    typed: str = ""
    """The name alone, letter by letter."""


class Company(NamedTuple):
    strengths: tuple[float, ...]
    bare_numbers: tuple[float, ...]
    pack_sizes: tuple[float, ...]
    grams: tuple[float, ...]
    packs: float | None
    forms: frozenset[str]
    end: int


class MentionReader:
    """Reads the medicines of texts by the names of one catalogue."""

    def __init__(self, names: MedicineNames) -> None:
        self._names = names

    def read(
        self, text: str, others: Collection[str] = (), *, nouns_are_capitalised: bool = False
    ) -> list[Mention]:
        """In order. `others` are folded words that name people and places."""
        text = with_forms_apart(text.replace(" + ", " plus "), self._names.first_words)
        words, clean = counted_words(text), visible(text)
        unknown = UnknownNames(self._names, clean, words, others, nouns=nouns_are_capitalised)
        variants = Variants(self._names, clean, words, others, nouns=nouns_are_capitalised)
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            match = self._name_at(words, at, unknown, mentions, others)
            if match is not None and match.name:
                match = variants.at(at, at + match.length) or match
            if match is None:
                at += 1
                continue
            mentions.append(_plain_mention(words, at, match))
            at += match.length
        unclear = _counts_unclearly(words)
        mentions = [mention._replace(counts_unclear=unclear) for mention in mentions]
        whole = [self._with_company(words, mentions, index) for index in range(len(mentions))]
        return [_with_all_numbers(words, whole[0])] if len(whole) == 1 else whole

    def _name_at(
        self,
        words: Sequence[TypedWord],
        at: int,
        unknown: UnknownNames,
        earlier: Sequence[Mention],
        others: Collection[str],
    ) -> NameMatch | None:
        word = words[at]
        if word.is_number or word.plain in others:
            return None
        exact = self._names.exact(words, at)
        if exact is not None:
            return exact
        end = earlier[-1].end if earlier else at
        label = unknown.at(
            at,
            beside_a_name=bool(earlier) and unknown.stands_beside(end, at),
            after_a_name=end < at and not any(word.opens for word in words[end : at + 1]),
        )
        corrected = self._names.corrected(word)
        if corrected is not None and (label is None or label == word.written):
            return corrected
        return None if label is None else NameMatch("", 1, "unknown", label)

    def _with_company(
        self, words: Sequence[TypedWord], mentions: Sequence[Mention], index: int
    ) -> Mention:
        mention = mentions[index]
        first = mentions[index - 1].end if index else 0
        last = mentions[index + 1].place if index + 1 < len(mentions) else len(words)
        company = _company(words, mention, first, last)
        beside = [word.written for word in words[mention.end : company.end]]
        said = " ".join([mention.written, *beside])
        return mention._replace(**company._asdict() | {"end": mention.end, "said": said})


def _with_all_numbers(words: Sequence[TypedWord], mention: Mention) -> Mention:
    """The only medicine of a text with what is said about packs and strengths elsewhere in it."""
    seen: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for place, number in _numbers(words, 0, len(words)):
        kind, value = kind_by_neighbours(words, place, number)
        if kind:
            seen[kind].append(value)
    counts = seen["count"]
    return mention._replace(
        strengths=mention.strengths or tuple(seen["strength"][:1]),
        bare_numbers=mention.bare_numbers or tuple(seen["bare"][:1]),
        pack_sizes=mention.pack_sizes or tuple(seen["pack"][:1]),
        grams=mention.grams or tuple(seen["gram"][:1]),
        packs=counts[0] if mention.packs is None and counts else mention.packs,
    )


def _counts_unclearly(words: Sequence[TypedWord]) -> bool:
    """Whether packs are counted by a word that is no number we know: `several boxes`."""
    for at in range(1, len(words)):
        is_pack = _PACK_WORD.match(words[at].plain) is not None and not words[at].opens
        if not is_pack or _number_ending_at(words, at - 1, 0) is not None:
            continue
        before = words[at - 1].plain
        if _SEVERAL.match(words[at].plain) or before in _VAGUE or _LIKE_A_NUMBER.search(before):
            return True
    return False


def _plain_mention(words: Sequence[TypedWord], at: int, match: NameMatch) -> Mention:
    end = at + match.length
    typed = " ".join(word.written for word in words[at:end])
    written = match.label or typed
    return Mention(written, match.name, match.read, at, end, said=written, typed=typed)


def _company(words: Sequence[TypedWord], mention: Mention, first: int, last: int) -> Company:
    """What belongs to a name: the number right before it, and what stands behind it up to the
    number before the next name."""
    kinds: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    end = mention.end
    before = number_before(words, mention.place, first)
    if before is not None:
        kind, value = _kind_before(words, *before)
        kinds[kind].append(value)
    stop = _end_of_reach(words, mention, last)
    for place, number in _numbers(words, mention.end, stop):
        kind, value = _kind_behind(words, mention, place, number)
        if not kind:
            continue
        kinds[kind].append(value)
        if kind in ("strength", "bare", "gram"):
            unit = words[place + 1].plain if place + 1 < len(words) else ""
            end = max(end, place + 1 + (unit in MILLIGRAMS))
    near = words[_begin_of_reach(words, mention, first) : stop]
    forms = frozenset(FORM_OF[word.stem] for word in near if word.stem in FORM_OF)
    return Company(
        tuple(kinds["strength"]),
        tuple(kinds["bare"]),
        tuple(kinds["pack"]),
        tuple(kinds["gram"]),
        kinds["count"][0] if kinds["count"] else None,
        forms,
        end,
    )


def _begin_of_reach(words: Sequence[TypedWord], mention: Mention, first: int) -> int:
    """A word or two before a name may say its form, but none before an `and`: of `Iberogast drops
    and Buscopan` the drops are the other one's."""
    begin = mention.place
    while begin > max(first, mention.place - _FORM_BEFORE) and not words[begin].opens:
        if words[begin - 1].plain in _AND:
            return mention.place
        begin -= 1
    return begin


def _end_of_reach(words: Sequence[TypedWord], mention: Mention, last: int) -> int:
    stop = mention.end
    while stop < min(last, mention.end + _REACH) and not words[stop].opens:
        stop += 1
    if stop == last and last < len(words):
        before_next = number_before(words, last, mention.end)
        is_next_ones = before_next is not None and before_next[0] > mention.end
        if before_next is not None and is_next_ones:
            stop = before_next[0]
    return stop


def number_before(words: Sequence[TypedWord], place: int, first: int) -> tuple[int, Number] | None:
    """The number right before a name and where it begins, with nothing but words for packs and
    small words between."""
    at = place - 1
    while at >= max(first, place - _BEFORE) and not words[at + 1].opens:
        number = _number_ending_at(words, at, first)
        if number is not None:
            return number
        word = words[at].plain
        if not (_PACK_WORD.match(word) or word in _BETWEEN or word in MILLIGRAMS):
            return None
        at -= 1
    return None


def _number_ending_at(words: Sequence[TypedWord], at: int, first: int) -> tuple[int, Number] | None:
    for begin in range(max(first, at - 2), at + 1):
        number = number_at(words, begin)
        if number is None or begin + number.length != at + 1:
            continue
        following = words[at + 1].plain
        if words[begin].plain not in _ARTICLES or number.length > 1 or _PACK_WORD.match(following):
            return begin, number
    return None


def _kind_before(words: Sequence[TypedWord], place: int, number: Number) -> tuple[str, float]:
    following = words[place + number.length].plain
    if following in MILLIGRAMS and number.in_digits:
        return _kind_by_unit(number, following)
    if number.in_digits and number.value > _MOST_COUNTED and not _PACK_WORD.match(following):
        return "strength", number.value
    return "count", number.value


def _numbers(words: Sequence[TypedWord], begin: int, stop: int) -> Iterator[tuple[int, Number]]:
    at = begin
    while at < stop:
        number = number_at(words, at)
        if number is None:
            at += 1
            continue
        yield at, number
        at += number.length


def _kind_behind(
    words: Sequence[TypedWord], mention: Mention, place: int, number: Number
) -> tuple[str, float]:
    """What a number behind a name says; an empty kind where it is about something else."""
    kind, value = kind_by_neighbours(words, place, number)
    if kind == "pack" and value == 1 and not number.in_digits:
        return "", value
    if kind or not number.in_digits:
        return kind, value
    before = words[place - 1].plain
    if before in _PER_PACK and place > mention.end:
        return "pack", value
    if before in _TOLD_APART and place > mention.end:
        return "bare", value
    skipped = words[mention.end : place]
    is_adjacent = len(skipped) <= 1 and all(len(word.plain) <= _SHORT for word in skipped)
    return ("bare" if is_adjacent else ""), value


def kind_by_neighbours(words: Sequence[TypedWord], place: int, number: Number) -> tuple[str, float]:
    """Whether the words around a number say that it is a strength, a pack's size or a number of
    packs; an empty kind where they do not."""
    after = place + number.length
    following = words[after].plain if after < len(words) else ""
    before = words[place - 1].plain if place else ""
    value = number.value
    if nickname_of(words[place]) is not None:
        return "bare", value
    if before in _OF_A_PACK and place > 1 and _PACK_WORD.match(words[place - 2].plain):
        return "pack", value
    if following in MILLIGRAMS and number.in_digits:
        return _kind_by_unit(number, following)
    if _is_size(before, number, following):
        return "pack", value
    if _PACK_WORD.match(following) or following == "x" or before == "x":
        return "count", value
    return "", value


def _kind_by_unit(number: Number, unit: str) -> tuple[str, float]:
    """What a number with a unit says: grams are a strength or what a tube holds, millilitres what
    a bottle holds."""
    if unit in _GRAMS:
        return "gram", number.value
    if unit in _MILLILITRES:
        return "pack", number.value
    return "strength", number.value * MILLIGRAMS[unit]


def _is_size(before: str, number: Number, following: str) -> bool:
    """Whether a number tells what a pack holds by the words before and behind it."""
    is_plural = following in _PLURAL_OF_PACK and number.in_digits
    if _PIECES.match(following) or is_plural:
        return True
    if before in _OF_A_PACK and _UNITS_OF_A_PACK.match(following):
        return True
    return following in _SINGLE_PACK and before in _THE and number.value > 1
