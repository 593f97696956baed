"""Amounts that a reply computes from a quoted price: what several pieces cost, for how many months,
after a discount, and two prices together.

The result must be exact, the price must be quoted for the very thing that is counted, and the
discount for such a number of pieces and such a customer.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import phrases_of, words_of, words_of_each
from deskhand.outgoing.content_words import carries_meaning, same_word, stands_among, words_in
from deskhand.outgoing.contradictions import overlap
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import MONEY, Value, is_stated

_MOST_PIECES = 1_000
_AND = frozenset(("and", "und", "a", "y", "e", "et", "i", "or", "oder", "nebo", "o", "plus"))
_BESIDE_SIZE = re.compile(r"[x×]\s*$")
_SIZE_BEHIND = re.compile(r"\s*[x×]\s*[0-9]+\s*(?:cm)?")
_BREAK = re.compile(r"[0-9.,;:!?()=+]")
_LISTED_PRICES = re.compile(
    r"(?:[0-9][0-9.]*, ?)*[0-9][0-9.]* (?:and|und|a|y|et|i) [0-9][0-9.]* ?(?:EUR|€|CZK|Kč|USD|GBP)"
)
_SIZE = re.compile(r"([0-9]+) ?[x×] ?([0-9]+)")
_NOUNS = 3
_NEAR = 5
"""Words behind an amount among which is what it is the price of."""


class Price(NamedTuple):
    """What a source says that one of something costs."""

    amount: Decimal
    unit: str
    words: tuple[str, ...]
    """What it is the price of."""
    pace: str
    """`month` where it is a price a month; empty for a price of a piece."""
    is_of_any_piece: bool
    size: tuple[str, ...] = ()
    """`160`, `80`, where a source lists prices in the order of sizes."""


class Counted(NamedTuple):
    """So many of something: `six Linea chairs`."""

    number: Decimal
    nouns: tuple[str, ...]
    months: bool = False


def is_derived_amount(sentence: ReplySentence, clause: Clause, value: Value) -> bool:
    """Whether an amount of a clause is computed exactly from quoted prices."""
    if value.unit not in MONEY or is_stated(value, sentence.grounds.quoted_values):
        return False
    amount = _number(value)
    prices = [price for price in prices_of(sentence.grounds) if price.unit == value.unit]
    so_far = sentence.whole[: sentence.end]
    is_reduced = phrases_of("reduced").search(fold(clause.text)) is not None
    totals = _totals(sentence, clause, prices)
    if amount in {total.amount for total in totals} and not is_reduced:
        return True
    shares = _discounts(so_far)
    if len(shares) == 1 and (is_reduced or phrases_of("reduced").search(fold(so_far))):
        share = shares[0]
        for total in totals:
            if amount == total.amount * (100 - share) / 100:
                return _grants(sentence.grounds, share, total.counted)
    return amount == _sum_beside(sentence, value, prices)


class _Total(NamedTuple):
    amount: Decimal
    counted: tuple[Counted, ...]


def _totals(sentence: ReplySentence, clause: Clause, prices: Sequence[Price]) -> list[_Total]:
    """What the things cost that the clause or the sentence counts; the message where they count
    nothing."""
    totals: list[_Total] = []
    prices = _of_size(prices, sentence)
    said = [word.folded for word in words_in(sentence.text)]
    sum_told, _, parts = sentence.text.partition(":")
    for text in (clause.text, sum_told, parts, sentence.text):
        items = counted_in(text)
        priced = _priced(items, prices, said)
        if len(priced) < len([counted for counted in items if _is_of_goods(counted)]):
            return totals
        totals += _totals_of(priced, clause)
    if not totals:
        totals += _totals_of(_priced(counted_in(sentence.grounds.message), prices, said), clause)
    return totals


def _priced(
    items: Sequence[Counted], prices: Sequence[Price], said: Sequence[str]
) -> list[tuple[Counted, Price]]:
    pairs = [(counted, _price_of(counted, prices, said)) for counted in items]
    return [(counted, price) for counted, price in pairs if price is not None]


def _totals_of(priced: Sequence[tuple[Counted, Price]], clause: Clause) -> Iterator[_Total]:
    """The total, and that of one thing alone where the clause names no other."""
    if not priced:
        return
    amounts = [counted.number * price.amount for counted, price in priced]
    yield _Total(sum(amounts, Decimal(0)), tuple(counted for counted, _ in priced))
    words = [word.folded for word in words_in(clause.text)]
    for amount, (counted, _) in zip(amounts, priced, strict=True):
        others = [noun for other, _ in priced if other != counted for noun in other.nouns]
        own = [noun for noun in counted.nouns if not stands_among(noun, others)]
        others = [noun for noun in others if not stands_among(noun, counted.nouns)]
        if overlap(own, words) and not overlap(others, words):
            yield _Total(amount, (counted,))


def _of_size(prices: Sequence[Price], sentence: ReplySentence) -> list[Price]:
    """Without the prices of sizes other than the one that the reply, or else the message, names."""
    sizes = sizes_in(sentence.whole) or sizes_in(sentence.grounds.message)
    return [price for price in prices if not price.size or {price.size} == sizes]


def tells_price_of_size(sentence: ReplySentence, value: Value) -> bool | None:
    """Whether an amount is the price of the size that the reply names; None where no price goes by
    size, or none is named."""
    by_size = [price for price in prices_by_size(sentence.grounds) if price.unit == value.unit]
    sizes = sizes_in(sentence.whole) or sizes_in(sentence.grounds.message)
    if not sizes or not any(price.amount == _number(value) for price in by_size):
        return None
    return any(price.amount == _number(value) and price.size in sizes for price in by_size)


def _is_of_goods(counted: Counted) -> bool:
    return any(noun in words_of("goods") for noun in counted.nouns)


def counted_in(text: str) -> list[Counted]:
    """What a text counts, thing by thing."""
    things: list[Counted] = []
    for value in values_in(text):
        if value.kind != "number" or not 0 < _number(value) <= _MOST_PIECES:
            continue
        if value.unit == "month" and _number(value) > 1:
            things.append(Counted(_number(value), (), months=True))
            continue
        if value.unit or _is_size(text, value) or _number(value) % 1:
            continue
        nouns = _nouns_behind(text, value)
        if nouns:
            things.append(Counted(_number(value), nouns))
    return [*things, *_single(text)]


def _single(text: str) -> Iterator[Counted]:
    """`one lamp`, `jedné lampy`."""
    words = words_in(text)
    for at, word in enumerate(words):
        behind = words[at + 1 : at + _NOUNS]
        if word.folded in words_of("single") and behind:
            nouns = [noun.folded for noun in behind if carries_meaning(noun.folded)]
            yield Counted(Decimal(1), tuple(nouns))


def _is_size(text: str, value: Value) -> bool:
    """Whether a number is one side of `160 x 80`."""
    before, behind = fold(text[: value.start]), fold(text[value.end :])
    is_factor = re.match(r"\s*[x×]\s*[0-9.,]+\s*(?:eur|€|kc|czk)", behind) is not None
    if is_factor:
        return False
    return bool(_BESIDE_SIZE.search(before) or _SIZE_BEHIND.match(behind))


def _nouns_behind(text: str, value: Value) -> tuple[str, ...]:
    behind = text[value.end :]
    size = _SIZE_BEHIND.match(fold(behind))
    first = 0 if size is None else size.end()
    nouns: list[str] = []
    for word in words_in(behind)[: _NOUNS + 2]:
        if word.start < first:
            continue
        if _BREAK.search(behind[first : word.start]) or len(nouns) == _NOUNS:
            break
        if word.folded in words_of("single") or word.folded in _AND:
            break
        if len(word.folded) > 2 and word.folded not in words_of("joints"):
            nouns.append(word.folded)
    return tuple(nouns)


def prices_of(grounds: Grounds) -> list[Price]:
    """The prices in what is quoted, each with what it is the price of."""
    prices: list[Price] = []
    for passage in grounds.passages:
        if not passage.is_record and _LISTED_PRICES.search(passage.text) is None:
            prices += _prices_in(passage)
    return [*prices, *prices_by_size(grounds)]


def prices_by_size(grounds: Grounds) -> list[Price]:
    """Prices that a source lists in the order in which it lists sizes."""
    prices: list[Price] = []
    passages = grounds.verified.passages
    for passage in passages:
        listed = _LISTED_PRICES.search(passage.text)
        if listed is None:
            continue
        amounts = [value for value in values_in(listed.group()) if value.kind == "number"]
        for sized in passages:
            sizes = _SIZE.findall(sized.text)
            if sized.source != passage.source or len(sizes) != len(amounts):
                continue
            for size, amount in zip(sizes, amounts, strict=True):
                words, unit = (*sized.words, *passage.words), amounts[-1].unit
                prices.append(Price(_number(amount), unit, words, "", False, size))
    return prices


def sizes_in(text: str) -> set[tuple[str, ...]]:
    """The sizes that a text names: `160 x 80`."""
    return set(_SIZE.findall(fold(text)))


def _prices_in(passage: Passage) -> Iterator[Price]:
    priced = [clause for clause in passage.clauses if len(_amounts(clause)) == 1]
    if len(priced) < sum(bool(_amounts(clause)) for clause in passage.clauses):
        return
    monthly = _pace_of(passage.text)
    for clause in priced:
        amount = _amounts(clause)[0]
        words = clause.words if len(priced) > 1 else passage.words
        behind = [word.folded for word in words_in(clause.text[amount.end :])][:_NEAR]
        any_piece = any(word in words_of_each("counted_kinds")["pieces"] for word in behind)
        pace = _pace_of(clause.text) or monthly
        yield Price(_number(amount), amount.unit, tuple(words), pace, any_piece)


def _amounts(clause: Clause) -> list[Value]:
    return [v for v in clause.values if v.unit in MONEY and v.readings != {"0"}]


def _pace_of(text: str) -> str:
    folded = [word.folded for word in words_in(text)]
    for pace, listed in words_of_each("months_of_rates").items():
        if any(word in listed for word in folded):
            return pace
    return ""


def _price_of(counted: Counted, prices: Sequence[Price], said: Sequence[str]) -> Price | None:
    """The one price of what is counted; None where none or several may be meant."""
    if counted.months:
        monthly = [price for price in prices if price.pace == "month"]
        named = [price for price in monthly if overlap(price.words, said)]
        return _best(named, said) if len(monthly) > 1 else next(iter(monthly), None)
    named = [price for price in prices if overlap(counted.nouns, price.words)]
    if not named:
        return next((price for price in prices if price.is_of_any_piece), None)
    return _best(named, counted.nouns) or _best(named, (*counted.nouns, *said))


def _best(prices: Sequence[Price], words: Sequence[str]) -> Price | None:
    ranked = sorted(prices, key=lambda price: overlap(words, price.words), reverse=True)
    if not ranked:
        return None
    rivals = [price for price in ranked if price.amount != ranked[0].amount]
    best = overlap(words, ranked[0].words)
    has_rival = any(overlap(words, price.words) == best for price in rivals)
    return None if has_rival else ranked[0]


# --- discounts


def _discounts(text: str) -> list[Decimal]:
    """The different percentages that a reply has told so far."""
    shares = {_number(value) for value in values_in(text) if value.unit == "percent"}
    return sorted(shares)


def _grants(grounds: Grounds, share: Decimal, counted: Sequence[Counted]) -> bool:
    """Whether a quoted rule gives such a discount for so many pieces, or to such a customer."""
    for passage in grounds.passages:
        if not any(v.unit == "percent" and _number(v) == share for v in passage.values):
            continue
        whom = [word.folded for word in words_in(passage.text) if word.folded in words_of("whom")]
        if whom:
            return _is_one_of(grounds, [word.folded for word in words_in(passage.text)])
        steps = list(_steps(passage))
        pieces = sum(thing.number for thing in counted)
        reached = [step for step in steps if step[0] <= pieces]
        if steps:
            return len(counted) == 1 and bool(reached) and max(reached)[1] == share
    return False


def _is_one_of(grounds: Grounds, whom: Sequence[str]) -> bool:
    asked = grounds.message_words
    groups = words_of_each("customer_kinds").values()
    for group in groups:
        is_meant = any(word in group for word in whom)
        if is_meant and any(word in group for word in asked):
            return True
    return False


def _steps(passage: Passage) -> Iterator[tuple[Decimal, Decimal]]:
    """`From 10 pieces 5%`: from how many pieces on how many percent."""
    pending: Decimal | None = None
    for value in passage.values:
        if value.unit == "percent" and pending is not None:
            yield pending, _number(value)
            pending = None
        elif value.kind == "number" and not value.unit:
            pending = _number(value)


# --- two prices together


def _sum_beside(sentence: ReplySentence, value: Value, prices: Sequence[Price]) -> Decimal | None:
    """The sum of the quoted prices that the sentence tells beside an amount, or it and the one
    before; None where they are not of the same kind."""
    place = sentence.start + value.start
    before = sentence.whole[: sentence.start].rstrip()
    for first in (sentence.start, max(before.rfind(". "), before.rfind("! "), 0)):
        beside = values_in(sentence.whole[first : sentence.end])
        amounts = [v for v in beside if v.unit == value.unit and v.readings != value.readings]
        paces = {price.pace for price in prices for v in amounts if price.amount == _number(v)}
        quoted = {price.amount for price in prices}
        all_quoted = all(_number(other) in quoted for other in amounts)
        if place >= 0 and len(amounts) > 1 and all_quoted and len(paces) == 1:
            return sum(map(_number, amounts), Decimal(0))
    return None


def _number(value: Value) -> Decimal:
    return max(map(Decimal, value.readings))


def names_counted(sentence: ReplySentence, word: str) -> bool:
    """Whether a name stands behind a number both in the reply and in the message: `your three
    Piccolo`."""
    counted_there = counted_in(sentence.grounds.message)
    in_message = [noun for counted in counted_there for noun in counted.nouns]
    in_reply = [noun for counted in counted_in(sentence.text) for noun in counted.nouns]
    return any(same_word(word, noun) for noun in in_message) and word in in_reply
