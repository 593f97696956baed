"""Context from the desk's own memory: articles, the sender's earlier mail, replies to messages
like this one."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from deskhand.agents.retrieval import Asked, ContextPiece, Source
from deskhand.brain.informed import ApprovedReplies
from deskhand.brain.task_inputs import said_in
from deskhand.knowledge.exchanges import (
    LONGEST_TEXT,
    counter,
    digests_in,
    owner_of,
    person_of,
    shareable,
)
from deskhand.knowledge.text_normalization import question_text
from deskhand.language.clean_text import is_too_long
from deskhand.mail.reply import visible_reply
from deskhand.model.exchanges import Exchange, ExchangeQuery, FoundExchange
from deskhand.model.tasks import Task
from deskhand.ports import Embeds, Exchanges, SearchesKnowledge, Store

_MOST_TURNS = 4
_LONGEST = 1500
_LIKE = 0.86
"""The cosine from which two messages are worth showing beside each other."""
_HOW = {
    "sent": "answered",
    "approved": "answered with a colleague's approval",
    "edited": "answered in a colleague's words",
}


def knowledge_source(knowledge: SearchesKnowledge, limit: int = 3) -> Source:
    """The desk's articles that fit best."""

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        hits = await knowledge.search(asked.text, limit=limit)
        return [
            ContextPiece(
                f"{hit.title}: {hit.text}",
                hit.article,
                hit.similarity,
                {"title": hit.title, "language": hit.language},
            )
            for hit in hits
        ]

    return Source("knowledge", find)


def conversation_source(store: Store, exchanges: Exchanges) -> Source:
    """What the sender said in this conversation before, and what he was answered.

    Who may join a conversation is settled when a message comes in; here it is asked again.
    """

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        run = await store.run(asked.run_id)
        turns = await store.conversation(
            asked.message.conversation, before=run.position, limit=_MOST_TURNS, remembered=True
        )
        turns = [turn for turn in turns if turn.message.author == asked.message.author]
        answers = await exchanges.of_runs([turn.run.id for turn in turns])
        pieces: list[ContextPiece] = []
        for turn in reversed(turns):
            said = await asyncio.to_thread(visible_reply, turn.message.body) or turn.message.body
            text = (
                f"The sender wrote on {_day(turn.message.received_at.timestamp())}:"
                f" {said[:_LONGEST]}"
            )
            answer = answers.get(turn.run.id)
            if answer is not None:
                text += f"\nWe answered: {answer.answer[:_LONGEST]}"
            pieces.append(ContextPiece(text, turn.run.id))
        return pieces

    return Source("conversation", find)


def own_source(exchanges: Exchanges, limit: int = 3) -> Source:
    """The sender's own earlier exchanges in other conversations, whole; only for one who was
    proven to be himself."""

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        owner = owner_of(asked.principal)
        if owner is None:
            return []
        return [_own(exchange) for exchange in await exchanges.of_owner(owner, limit)]

    return Source("own_messages", find)


def similar_source(exchanges: Exchanges, embedder: Callable[[], Embeds], limit: int = 3) -> Source:
    """How messages like this one were answered: a pointer for a reviewer, for a draft only what
    several were told."""

    async def find(asked: Asked) -> Sequence[ContextPiece]:
        said = await asyncio.to_thread(visible_reply, asked.message.body) or asked.text
        text = asked.text if is_too_long(said) else question_text(said[:LONGEST_TEXT])
        vector = (await asyncio.to_thread(lambda: embedder().embed([text], "query")))[0]
        person = person_of(asked.message.sender.address)
        similar = await exchanges.similar(
            ExchangeQuery(vector, person, owner_of(asked.principal), limit)
        )
        near = [hit for hit in similar if hit.similarity >= _LIKE]
        if not near:
            return []
        counts = await exchanges.told_to(digests_in([hit.exchange.answer for hit in near]))
        return [_similar(hit, shareable(hit.exchange.answer, counter(counts))) for hit in near]

    return Source("similar_messages", find)


def approved_replies(
    exchanges: Exchanges, embedder: Callable[[], Embeds], limit: int = 3
) -> ApprovedReplies:
    """Finds what colleagues let go to messages like a task's: only the sentences that several
    people were told, so that nobody reads about anybody else."""

    async def find(task: Task) -> Sequence[str]:
        fields = task.inputs.get("message")
        if not isinstance(fields, dict) or "sender" not in fields:
            return []
        text = question_text(said_in(task)[:LONGEST_TEXT])
        vector = (await asyncio.to_thread(lambda: embedder().embed([text], "query")))[0]
        person = person_of(str(fields["sender"].get("address") or ""))
        hits = await exchanges.similar(ExchangeQuery(vector, person, None, limit))
        near = [hit.exchange.answer for hit in hits if hit.similarity >= _LIKE]
        if not near:
            return []
        people_told = counter(await exchanges.told_to(digests_in(near)))
        replies = [" ".join(shareable(answer, people_told))[:_LONGEST] for answer in near]
        return [reply for reply in dict.fromkeys(replies) if reply]

    return find


def _own(exchange: Exchange) -> ContextPiece:
    text = (
        f"On {_day(exchange.answered_at)} the sender asked: {exchange.question[:_LONGEST]}\n"
        f"We answered: {exchange.answer[:_LONGEST]}"
    )
    return ContextPiece(text, exchange.run_id)


def _similar(hit: FoundExchange, shared: Sequence[str]) -> ContextPiece:
    exchange = hit.exchange
    text = (
        f"A message like this one ({exchange.category or 'no category'}) was"
        f" {_HOW[exchange.how]} on {_day(exchange.answered_at)}."
    )
    if shared:
        text += f" Of that reply: {' '.join(shared)[:_LONGEST]}"
    return ContextPiece(text, exchange.run_id, hit.similarity, {"how": exchange.how})


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
