"""Of which thing a source says a value: the price of the Plus contract is not told of the Basis.

A value that stands in some source is not yet one of the thing that a clause names. Where all that
states it names another thing, and a source says another value of this one, no second reader may
give it to this one.
"""

from collections.abc import Sequence, Set

from deskhand.outgoing.claim_words import meanings_of
from deskhand.outgoing.clause_sense import names_in
from deskhand.outgoing.content_words import stands_among, words_in
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Passage
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import answers_joined, clauses_of
from deskhand.outgoing.values import Value, is_stated

_SPANS = ("day", "workday", "hour", "minute", "month")


def is_said_of_another(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a value at its place in a reply is told of what its clause names, and sources say it
    of another thing alone."""
    names = _names_beside(value, text, grounds)
    passages = [*grounds.verified.others, *grounds.records]
    stating = [passage for passage in passages if is_stated(value, passage.values)]
    if not names or not stating or any(_names_any(names, passage) for passage in stating):
        return False
    things = grounds.source_names.difference(meanings_of("units"))
    if not all(_names_a_thing(passage, things) for passage in stating):
        return False
    return any(_names_any(names, passage) and _states_alike(value, passage) for passage in passages)


def _names_a_thing(passage: Passage, things: Set[str]) -> bool:
    return any(word.folded in things for word in words_in(passage.text))


def _names_beside(value: Value, text: str, grounds: Grounds) -> list[str]:
    """The names of the clause in which a value stands."""
    for start, end in answers_joined(text):
        for first, last in clauses_of(text[start:end]):
            if start + first <= value.start < start + last:
                sentence = ReplySentence(text, start, end, grounds, grounds.language)
                names = names_in(sentence, text[start + first : start + last])
                return [name for name in names if name not in meanings_of("units")]
    return []


def _names_any(names: Sequence[str], passage: Passage) -> bool:
    said = [*(word.folded for word in words_in(passage.text)), *passage.context]
    return any(stands_among(name, said) for name in names)


def _states_alike(value: Value, passage: Passage) -> bool:
    """Whether a passage states another value of the same unit; how soon is a span, too."""
    units = _SPANS if value.readings == {"soon"} or value.unit in _SPANS else (value.unit,)
    return any(other.unit in units for other in passage.values if other.unit)
