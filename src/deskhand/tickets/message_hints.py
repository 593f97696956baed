"""What a message says that may lead to a ticket: ids, numbers of orders and invoices, words of
somebody who comes back to a matter."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.config.yaml import read_yaml
from deskhand.language.message_sentences import without_frame
from deskhand.language.slots import SlotExtractor
from deskhand.language.slots.folded_text import fold
from deskhand.mail.reply import visible_reply
from deskhand.mail.threads import our_key
from deskhand.model.message import Message
from deskhand.model.run import EffectKey
from deskhand.model.ticket import MessageFacts, cited_ticket_ids, without_ticket_ids

LONGEST_READ = 20_000
_EXCERPT = 600
_MOST_REFERENCES = 20
_FOLLOW_UPS = Path(__file__).with_name("follow_ups.yaml")
_BETWEEN = r"(?:[^\s.!?]+ ){0,3}"
_LONGEST_FOLLOW_UP = 700
"""A longer message tells a matter of its own, whatever words it begins with."""
_BEGINNING = 400
_FEW_WORDS = 1
"""So many words beside those of somebody who comes back tell nothing: "still not *working*"."""
_WORD = re2.compile(r"\w+")
_FEWEST_DIGITS = 4
_LETTERED = re2.compile(r"\b([a-z]{3,6})[-#/]([0-9]{4,12})\b")
"""As in INV-20931."""
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Numbers do not depend on the day they are read."""


def own_words(message: Message) -> str:
    """What the customer wrote himself, without quoted mail."""
    return (visible_reply(message.words) or message.words)[:LONGEST_READ]


def facts_of(run: str, message: Message, vector: bytes | None) -> MessageFacts:
    words = own_words(message)
    return MessageFacts(
        run=run,
        at=message.received_at.timestamp(),
        conversation=message.conversation,
        subject=message.subject[:500],
        excerpt=words[:_EXCERPT],
        matter=without_frame(words)[:_EXCERPT],
        references=named_numbers(f"{message.subject}\n{words}"),
        vector=vector,
    )


def told_meaning(message: Message) -> str:
    """The text by whose meaning a message is judged."""
    return _meaning(message, own_words(message))


def told_matter(message: Message) -> str:
    """The text by whose meaning a message is compared with tickets: without greeting and signature.
    All that a customer writes bears his name, whichever matter it is about."""
    return _meaning(message, without_frame(own_words(message)))


def _meaning(message: Message, words: str) -> str:
    subject = without_ticket_ids(message.subject).strip(" []#:-")
    return f"{subject}\n{without_ticket_ids(words)}".strip()


def cited_in(message: Message) -> tuple[str, ...]:
    """Ids of tickets in the subject and in the customer's own words."""
    return cited_ticket_ids(f"{message.subject}\n{own_words(message)}")


def our_deliveries(message: Message) -> list[EffectKey]:
    """The mails of ours that a mail's headers say it answers, the nearest first; whether we sent
    them, the ledger knows."""
    headers = message.headers
    named = [*headers.get("in-reply-to", "").split(), *headers.get("references", "").split()[::-1]]
    keys = (our_key(name) for name in named[:_MOST_REFERENCES])
    return list(dict.fromkeys(filter(None, keys)))


def named_numbers(text: str) -> tuple[str, ...]:
    """Numbers of orders, invoices and the like, each once, as they are compared: without spaces,
    dashes and leading zeros."""
    read = text[:LONGEST_READ]
    slots = _extractor().extract(read, now=_ANY_TIME)
    written = [str(match.value) for match in slots["reference"].matches]
    written += ["".join(match.groups()) for match in _LETTERED.finditer(fold(read))]
    numbers = dict.fromkeys(_plain(number) for number in written)
    return tuple(number for number in numbers if _is_telling(number))


def _is_telling(number: str) -> bool:
    digits = sum(map(str.isdigit, number))
    return digits >= _FEWEST_DIGITS and not number.startswith("TKT")


def _plain(number: str) -> str:
    letters = "".join(sign for sign in number.upper() if sign.isalpha())
    digits = "".join(sign for sign in number if sign.isdigit()).lstrip("0")
    return letters + digits


@cache
def _extractor() -> SlotExtractor:
    return SlotExtractor({"reference": SlotSpec(name="reference", type="order_number")})


def follow_up_words(message: Message) -> str | None:
    """The words by which somebody comes back to a matter; None where there are none, or where the
    message is long enough to tell one of its own."""
    words = own_words(message)
    if len(words) > _LONGEST_FOLLOW_UP:
        return None
    text = " ".join(fold(f"{message.subject}\n{words}"[:_BEGINNING]).split())
    for pattern in _follow_ups():
        match = pattern.search(text)
        if match is not None:
            return str(match[0]).strip()
    return None


def only_comes_back(message: Message) -> bool:
    """Whether a message says no more than that its writer comes back: "still nothing", "that did
    not help". What is wrong, its ticket tells."""
    words = own_words(message)
    if len(words) > _BEGINNING:
        return False
    text = " ".join(fold(words).split())
    matches = [match for pattern in _follow_ups() if (match := pattern.search(text)) is not None]
    return any(_words_outside(text, *match.span()) <= _FEW_WORDS for match in matches)


def _words_outside(text: str, start: int, end: int) -> int:
    outside = [word for word in _WORD.finditer(text) if word.end() <= start or word.start() >= end]
    return len(outside)


@cache
def _follow_ups() -> tuple[Any, ...]:
    return tuple(_compiled())


def _compiled() -> Iterator[Any]:
    for patterns in read_yaml(_FOLLOW_UPS).data.values():
        for pattern in patterns:
            yield re2.compile(pattern.replace("~", _BETWEEN))
