"""What a ticket asks for: each ask is given to its department, and kept until it is settled."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from deskhand.agents.triage.parts import TriageParts
from deskhand.brain.answer_chance import by_reading
from deskhand.language.answerability import shared_answer_reader
from deskhand.language.asks import Part, PartKind, read_parts
from deskhand.language.clean_text import has_words
from deskhand.language.sentiment import Sentiment
from deskhand.language.ticket_facts import sure_department_of
from deskhand.model.message import Message
from deskhand.model.ticket import DESK, Ticket, TicketAsk
from deskhand.model.ticket_state import AskStatus
from deskhand.model.triage import TicketType
from deskhand.tickets.asks import LONGEST_ASK, MOST_ASKS, asked, open_asks, settled
from deskhand.tickets.message_hints import own_words

ASKS = "asks"
SAID_AT = 0.5
"""From which chance a paragraph of a reply counts as the answer to an ask."""
_MOST_PARAGRAPHS = 12


@dataclass(frozen=True, slots=True)
class RoutedAsk:
    """One thing that a message asks for, and whose matter that is."""

    text: str
    department: TicketType
    article: str | None = None
    """The article that answers it surely."""
    is_answered: bool = False
    is_whole: bool = False
    """Whether it stands for a message that asks nothing in so many words: a report, an order."""

    def document(self, group: str) -> dict[str, Any]:
        """The ask as a run records it."""
        return {
            "ask": self.text,
            "ticket_type": self.department.value,
            "group": group,
            "article": self.article,
            "answered": self.is_answered,
        }


def asks_in(message: Message, language: str) -> list[Part]:
    """What a message asks and wishes for, in its order."""
    parts = read_parts(own_words(message), message.subject, language)
    return [part for part in parts if part.kind in (PartKind.ASK, PartKind.WISH)]


async def route_asks(
    message: Message, language: str, department: TicketType, sentiment: str
) -> list[RoutedAsk]:
    """Each ask with its own department; a message with one ask is its ticket's.

    "Nobody can log in." asks for something too, as a whole; a friendly word does not.
    """
    parts = asks_in(message, language)
    routed: list[RoutedAsk] = []
    if not parts and sentiment != Sentiment.POSITIVE and has_words(own_words(message)):
        whole = " ".join(own_words(message).split())[:LONGEST_ASK]
        return [RoutedAsk(whole, department, is_whole=True)]
    for part in parts[:MOST_ASKS]:
        own = None
        if len(parts) > 1:
            own = await asyncio.to_thread(sure_department_of, part.text)
        whose = TicketType(own) if own else department
        routed.append(RoutedAsk(part.text, whose))
    left = len(parts) - MOST_ASKS
    if left > 0:
        routed.append(RoutedAsk(f"({left} more)", department))
    return routed


async def with_answers(asks: Sequence[RoutedAsk], draft: Mapping[str, Any]) -> list[RoutedAsk]:
    """The asks, each with whether a draft that may leave by itself answers it, and from where.

    The embedded brain says it of each ask. Of what a model wrote, each of several asks is read
    together with the reply: a model that passes over a question does not say so.
    """
    listed = draft.get(ASKS)
    if isinstance(listed, list):
        by_text = _by_text(listed)
        is_sure = bool(by_text) and all(_is_known(entry) for entry in by_text.values())
        text = str(draft.get("text") or "")
        return [await _as_told(ask, by_text, is_sure, text) for ask in asks]
    if draft.get("hand_over") or not draft.get("sources"):
        return list(asks)
    said = await said_in_reply([ask.text for ask in asks], str(draft.get("text") or ""))
    article = _first_source(draft)
    answered: list[RoutedAsk] = []
    for ask, is_said in zip(asks, said, strict=True):
        by_article = replace(ask, article=article, is_answered=True)
        answered.append(by_article if is_said else ask)
    return answered


def _by_text(listed: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    entries = [cast(dict[str, Any], entry) for entry in listed if isinstance(entry, dict)]
    return {_plain(str(entry.get("ask") or "")): entry for entry in entries}


async def _as_told(
    ask: RoutedAsk, by_text: Mapping[str, Mapping[str, Any]], is_sure: bool, reply: str
) -> RoutedAsk:
    """What the brain says of an ask. Of a wish beside asks it says nothing: there the reply is
    read."""
    entry = by_text.get(_plain(ask.text))
    if ask.is_whole:
        return replace(ask, is_answered=is_sure)
    if entry is None:
        blocks = _paragraphs(reply)
        is_said = is_sure and await asyncio.to_thread(_is_said, ask.text, blocks)
        return replace(ask, is_answered=is_said)
    article = entry.get("article")
    if not _is_known(entry):
        return ask
    return replace(ask, article=article and str(article), is_answered=True)


def _is_known(entry: Mapping[str, Any]) -> bool:
    """Whether an article surely answers an ask, even if somebody has to translate it first."""
    return bool(entry.get("answered") or entry.get("foreign"))


def _first_source(draft: Mapping[str, Any]) -> str | None:
    for source in draft.get("sources") or ():
        fields = cast(dict[str, Any], source) if isinstance(source, dict) else {}
        named = fields.get("article") or fields.get("id")
        if named:
            return str(named)
    return None


async def said_in_reply(asks: Sequence[str], reply: str) -> list[bool]:
    """Whether a reply answers each ask: a single one it does, whatever its words."""
    if len(asks) < 2:
        return [True] * len(asks)
    paragraphs = _paragraphs(reply)
    return [await asyncio.to_thread(_is_said, ask, paragraphs) for ask in asks]


def _paragraphs(reply: str) -> list[str]:
    return [block.strip() for block in reply.split("\n\n") if block.strip()]


def _is_said(ask: str, paragraphs: Sequence[str]) -> bool:
    """Whether the reply takes the ask up in its own words, or a paragraph reads as its answer."""
    if any(_plain(ask) in _plain(block) for block in paragraphs):
        return True
    scores = shared_answer_reader().read(ask, paragraphs[:_MOST_PARAGRAPHS])
    return bool(scores) and by_reading(max(scores)) >= SAID_AT


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .?!,;:")


async def keep_asks(
    parts: TriageParts, ticket_id: str, run_id: str, asks: Sequence[RoutedAsk]
) -> None:
    """Keep what a message asks with its ticket, open until an answer has left."""
    kept = [
        TicketAsk(
            run=run_id,
            place=place,
            text=" ".join(ask.text.split())[:LONGEST_ASK],
            group=parts.spec.group_of(ask.department),
            article=ask.article,
        )
        for place, ask in enumerate(asks, 1)
    ]
    tickets = parts.tickets
    await tickets.changed(ticket_id, lambda ticket: asked(ticket, kept, DESK, tickets.now()))


async def settle_all(parts: TriageParts, ticket_id: str, status: AskStatus, why: str) -> Ticket:
    """Settle everything that is open."""
    return await _settle(parts, ticket_id, None, status, why)


async def settle_run(parts: TriageParts, ticket_id: str, run_id: str, reply: str | None) -> Ticket:
    """Settle what the message of a run asks, by the reply that has left; without one, the customer
    was promised an answer. Asks of earlier messages that the same article answers are answered
    with it."""
    ticket = await parts.tickets.find(ticket_id)
    own = [ask for ask in open_asks(ticket) if ask.run == run_id]
    if reply is None:
        ids = [ask.id for ask in own]
        why = "the customer was promised an answer"
        return await _settle(parts, ticket_id, ids, AskStatus.DEFERRED, why)
    said = await said_in_reply([ask.text for ask in own], reply)
    answered = [ask for ask, is_said in zip(own, said, strict=True) if is_said or ask.article]
    articles = {ask.article for ask in answered if ask.article}
    again = {_plain(ask.text) for ask in answered}
    for ask in open_asks(ticket):
        if ask.run != run_id and (ask.article in articles or _plain(ask.text) in again):
            answered.append(ask)
    ids = [ask.id for ask in answered]
    return await _settle(parts, ticket_id, ids, AskStatus.ANSWERED, "the answer has left")


async def _settle(
    parts: TriageParts, ticket_id: str, ids: Sequence[str] | None, status: AskStatus, why: str
) -> Ticket:
    tickets = parts.tickets

    def events_of(ticket: Ticket) -> Sequence[Any]:
        wanted = [ask.id for ask in open_asks(ticket)]
        if ids is not None:
            wanted = [name for name in wanted if name in ids]
        return settled(ticket, wanted, status, DESK, why, tickets.now())

    return await tickets.changed(ticket_id, events_of)
