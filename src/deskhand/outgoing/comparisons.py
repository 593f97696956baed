"""What a reply says of several records at once: that one costs less than the others, or that all of
them are the same."""

from collections.abc import Sequence

from deskhand.outgoing.claim_words import keys_of, words_of_each
from deskhand.outgoing.content_words import words_in
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import clauses_of
from deskhand.outgoing.values import is_stated

_PRICE = "price"
_FEWEST = 2


def compares_rightly(sentence: ReplySentence, word: str) -> bool:
    """Whether a word such as `cheaper` is said of the one record that it is true of."""
    for name, listed in words_of_each("comparison").items():
        if word in listed:
            return _is_said_of(sentence, word, cheapest=name == "cheaper")
    return False


def _is_said_of(sentence: ReplySentence, word: str, *, cheapest: bool) -> bool:
    priced = [record for record in sentence.grounds.records if _price(record) is not None]
    if len(priced) < _FEWEST or not _are_comparable(priced):
        return False
    prices = [(_price(record) or 0.0, record) for record in priced]
    ends = sorted(prices, key=lambda pair: pair[0], reverse=not cheapest)
    if ends[0][0] == ends[1][0]:
        return False
    for start, end in clauses_of(sentence.text):
        clause = sentence.text[start:end]
        if word not in [said.folded for said in words_in(clause)]:
            continue
        if sentence.grounds.records_named_in(clause) != [ends[0][1]]:
            return False
    return True


def _price(record: Passage) -> float | None:
    for name, value in record.fields.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name.startswith(_PRICE) and is_number:
            return float(value)
    return None


def _are_comparable(records: Sequence[Passage]) -> bool:
    """Prices of packs of different sizes say nothing of which is cheaper."""
    sizes = {str(record.fields.get("pack")) for record in records}
    return len(sizes) == 1


def is_said_of_all(sentence: ReplySentence, clause: Clause) -> bool:
    """Whether a clause says of both, and of nothing else, what every record states."""
    says_quantity = any(_is_quantity(word.folded) for word in words_in(clause.text))
    if not clause.values or not says_quantity:
        return False
    if any(not _is_quantity(word) for word in clause.words):
        return False
    records = [record for record in sentence.grounds.records if _price(record) is not None]
    return len(records) >= _FEWEST and all(
        is_stated(value, record.values) for value in clause.values for record in records
    )


def _is_quantity(word: str) -> bool:
    return bool(keys_of("quantities", word))
