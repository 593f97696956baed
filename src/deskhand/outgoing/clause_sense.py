"""What a clause of a reply puts in place of the words of the sentence that backs it.

Its values and most of its words stand there, and one word makes it say something else: vinegar for
water, both for one of them, the other contract's help.
"""

from collections.abc import Sequence
from decimal import Decimal

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, phrases_of, words_of, words_of_each
from deskhand.outgoing.content_words import (
    carries_meaning,
    same_word,
    stands_among,
    word_after,
    words_in,
)
from deskhand.outgoing.contradictions import nearest_clause, overlap
from deskhand.outgoing.pairs import other_place
from deskhand.outgoing.polarity import is_negative
from deskhand.outgoing.quoted_sources import Clause, Passage, clause_of
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import conjuncts_of, sentences
from deskhand.outgoing.values import Value, is_stated

_FEW = 3
"""Words of a part from which their share counts."""
_LEAST = 0.4
"""The share of a part's words that must stand in what is quoted."""
_PHRASE = 4
"""Words of a phrase that says for whom something is."""
_ALIKE = 2
"""Words around a place that must be the same before another word at it is a replacement."""


def reads_otherwise(
    sentence: ReplySentence, clause: Clause, passage: Passage, names: Sequence[str]
) -> str | None:
    """Why a sentence of a source does not say what a clause says; None where it does.

    `names` are those of which the clause speaks, if only because an earlier one named them.
    """
    if passage.is_record:
        return None
    if (reason := _says_of_others(sentence, clause, passage)) is not None:
        return reason
    if (name := _unnamed(names, passage)) is not None:
        return f"the quote for this does not speak of “{name}”"
    if (borrowed := _borrowed(sentence, clause, passage, names)) is not None:
        return f"the source says “{borrowed}” of something else"
    new = other_place(clause, passage, sentence.grounds.quoted_words)
    if (new := new or _replacement(sentence, clause, passage)) is not None:
        return f"the quote has another word in place of “{new}”"
    if not clause.values and _has_new_part(sentence, clause):
        return "nothing quoted says this"
    if clause.values and not names and _is_of_another(sentence, clause, passage):
        return "the source says this of something else than was asked about"
    return None


def _says_of_others(sentence: ReplySentence, clause: Clause, passage: Passage) -> str | None:
    if (whom := left_out_whom(sentence, clause, passage)) is not None:
        return f"the quote says it only of “{whom}”"
    if (quantity := _other_quantity(clause, passage)) is not None:
        return f"the quote does not say this of {quantity}"
    return None


def left_out_whom(sentence: ReplySentence, clause: Clause, passage: Passage) -> str | None:
    """For whom alone the source says this (`companies with a framework agreement`), where neither
    the reply nor the customer names them."""
    if not clause.values:
        return None
    words = words_in(passage.text)
    places = [place for place, word in enumerate(words) if word.folded in words_of("whom")]
    if not places:
        return None
    told_words = [word.folded for word in words_in(sentence.whole)]
    asked = [
        word.folded
        for start, end in sentences(sentence.grounds.message)
        if not is_negative(sentence.grounds.message[start:end])
        for word in words_in(sentence.grounds.message[start:end])
    ]
    for place in places:
        named = [word.folded for word in words[place : place + _PHRASE]]
        named = [word for word in named if carries_meaning(word)]
        if overlap(named, (*told_words, *asked)):
            return None
    return passage.text[words[places[0]].start : words[places[0]].end]


def is_among_asked(sentence: ReplySentence, value: Value, clause: Clause, passage: Passage) -> bool:
    """Whether a number of the customer's is among as many as the quote says: 12 persons, where it
    is made for up to 15 persons."""
    if (
        value.kind != "number"
        or value.unit
        or not is_stated(value, sentence.grounds.message_values)
    ):
        return False
    noun = word_after(clause.text, value.end)
    if noun is None or _is_bound(clause.text[: value.start]):
        return False
    for said in passage.clauses:
        for stated in said.values:
            counted = word_after(said.text, stated.end)
            is_same = counted is not None and same_word(noun.folded, counted.folded)
            if is_same and _is_bound(said.text[: stated.start]):
                return _number(value) <= _number(stated)
    return False


def _is_bound(before: str) -> bool:
    """Whether a text ends with `up to`."""
    folded = fold(before).rstrip()
    return any(match.end() == len(folded) for match in phrases_of("up_to").finditer(folded))


def _number(value: Value) -> Decimal:
    return max(map(Decimal, value.readings))


def names_in(sentence: ReplySentence, text: str) -> list[str]:
    """The words of a text that sources of the reply write as names, in the middle of a sentence."""
    names = sentence.grounds.source_names
    if sentence.language == "de":
        names = sentence.grounds.apposed_names
    return [word.folded for word in words_in(text) if word.is_capital and word.folded in names]


def _other_quantity(clause: Clause, passage: Passage) -> str | None:
    """`both`, `all`: the quote must say so as well, in the part that says this."""
    nearest = nearest_clause(clause, clause.values, passage).text
    parts = [part for part in passage.text.split(";") if nearest in part]
    said = [word.folded for word in words_in((parts or [passage.text])[0])]
    for listed in words_of_each("quantities").values():
        for word in words_in(clause.text):
            if word.folded in listed and not any(other in listed for other in said):
                return clause.text[word.start : word.end]
    return None


def _unnamed(names: Sequence[str], passage: Passage) -> str | None:
    said = [*(word.folded for word in words_in(passage.text)), *passage.context]
    named = [name for name in names if name not in meanings_of("units")]
    return next((name for name in named if not stands_among(name, said)), None)


def _borrowed(
    sentence: ReplySentence, clause: Clause, passage: Passage, names: Sequence[str]
) -> str | None:
    """A word that stands, not in the sentence of the source that has the clause's name, but in one
    of the same source that has another: the other contract's machine."""
    if clause.values or not names:
        return None
    own = [*(word.folded for word in words_in(passage.text)), *passage.context]
    for other in sentence.grounds.verified.others:
        words = [word.folded for word in words_in(other.text)]
        is_same = other.source != passage.source or other.text == passage.text
        if is_same or any(name in words for name in names):
            continue
        if not any(name in words for name in sentence.grounds.source_names):
            continue
        for word in clause.words:
            if not stands_among(word, own) and word in words:
                return word
    return None


def _replacement(sentence: ReplySentence, clause: Clause, passage: Passage) -> str | None:
    """A word that stands nowhere, where the quote has another behind the same `of` or `with`. Other
    verbs for the same are left alone."""
    told_words = [word.folded for word in words_in(clause.text)]
    quoted = [word.folded for word in words_in(passage.text)]
    backed_words = [*sentence.grounds.quoted_words, *sentence.grounds.message_words]
    for place, word in enumerate(told_words):
        if not carries_meaning(word) or stands_among(word, backed_words):
            continue
        for other, replaced in enumerate(quoted):
            is_free = carries_meaning(replaced) and not stands_among(replaced, told_words)
            is_joined = place > 0 and _joins(told_words[place - 1], sentence.language)
            if is_free and is_joined and _alike_around(told_words, place, quoted, other) >= _ALIKE:
                return word
    return None


def _joins(word: str, language: str | None) -> bool:
    """Whether a small word joins a noun to what stands before it. Czech `a` is an `and`."""
    return word in words_of("joints") and not (word == "a" and language in ("cs", "sk"))


def _alike_around(told_words: Sequence[str], place: int, quoted: Sequence[str], other: int) -> int:
    """How many words before and behind two places are the same, without a gap."""
    before = _alike(told_words[:place][::-1], quoted[:other][::-1])
    return before + _alike(told_words[place + 1 :], quoted[other + 1 :])


def _alike(told_words: Sequence[str], quoted: Sequence[str]) -> int:
    count = 0
    for word, said in zip(told_words, quoted, strict=False):
        if not same_word(word, said):
            break
        count += 1
    return count


def _has_new_part(sentence: ReplySentence, clause: Clause) -> bool:
    """Whether most words of a part around an `and` stand in nothing quoted."""
    for place, (start, end) in enumerate(conjuncts_of(clause.text, sentence.language)):
        words = clause_of(clause.text[start:end], sentence.language).words
        words = tuple(word for word in words if word not in words_of("negation"))
        share = sentence.share(words, has_record=False)
        is_added = place > 0 and len(words) == _FEW - 1 and share == 0
        if is_added or (len(words) >= _FEW and share < _LEAST):
            return True
    return False


def _is_of_another(sentence: ReplySentence, clause: Clause, passage: Passage) -> bool:
    """Whether another sentence of the source speaks of the same, and has what was asked about,
    which neither this one nor the reply has."""
    said = [*(word.folded for word in words_in(passage.text)), *passage.context]
    told_words = [word.folded for word in words_in(sentence.whole)]
    asked = [word.folded for word in words_in(sentence.grounds.message) if word.is_capital]
    named = [word for word in asked if word in sentence.grounds.source_names]
    open_words = [word for word in named if not stands_among(word, (*said, *told_words))]
    for other in sentence.grounds.verified.others:
        if other.source != passage.source or other.text == passage.text:
            continue
        words = [word.folded for word in words_in(other.text)]
        if overlap(open_words, words) and overlap(clause.words, words):
            return True
    return False
