"""What earlier exchanges teach, and how much of them somebody else's prompt may hold.

A reply to another customer is that customer's affair. What may be used of it are the sentences that
colleagues have let go to several different people: those are the company's own words. See
docs/decisions/0028-similar-messages.md.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

from deskhand.knowledge.text_normalization import words
from deskhand.model.exchanges import Exchange, LearnedExchange
from deskhand.model.principal import Principal
from deskhand.ports import Embeds

SHARED_BY = 3
"""So many different people must have been told a sentence before it may be told in another's
matter. Whoever was not proven to be himself counts as nobody."""
LONGEST_TEXT = 4000
_FEWEST_WORDS = 4
"""Shorter sentences (`Thank you.`) say nothing worth finding again."""
_END = re.compile(r"(?<=[.!?…])\s+|\n+")


def sentences(text: str) -> list[str]:
    """The sentences of a reply that say something, without the marks of quotations and lists."""
    pieces = [piece.strip().lstrip(">-*• ").strip() for piece in _END.split(text)]
    return [piece for piece in pieces if len(words(piece)) >= _FEWEST_WORDS]


def digest_of(sentence: str) -> str:
    """A sentence's digest, the same however it is capitalised and punctuated."""
    return _digest(" ".join(words(sentence)))


def person_of(address: str) -> str:
    return _digest(f"person:{address.strip().lower()}")


def owner_of(principal: Principal) -> str | None:
    """Whose earlier exchanges are his own to see again: only of somebody who was proven to be
    himself."""
    return _digest(f"owner:{principal.name}") if principal.owns else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def learned(exchange: Exchange, embedder: Embeds) -> LearnedExchange:
    """The exchange ready to be kept. What the desk sent by itself teaches no words: it would
    only learn from itself."""
    vector = embedder.embed([exchange.question[:LONGEST_TEXT]], "query")[0]
    said = (
        ()
        if exchange.how == "sent"
        else tuple(dict.fromkeys(map(digest_of, sentences(exchange.answer))))
    )
    return LearnedExchange(exchange, vector.astype("<f2").tobytes(), said)


def shareable(answer: str, told_to: Callable[[str], int], least: int = SHARED_BY) -> list[str]:
    """The sentences of a reply that at least so many different people were told."""
    return [sentence for sentence in sentences(answer) if told_to(digest_of(sentence)) >= least]


def digests_in(answers: Sequence[str]) -> list[str]:
    """Every sentence that might be shared, to be counted at once."""
    return list(dict.fromkeys(digest_of(said) for answer in answers for said in sentences(answer)))


def counter(counts: Mapping[str, int]) -> Callable[[str], int]:
    return lambda digest: counts.get(digest, 0)
