"""The service `retrieve`: what the desk knows that bears on a message, each piece with where it
comes from."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.errors import PermanentError
from deskhand.language.clean_text import is_too_long
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.model.tasks import tokens_of
from deskhand.model.understanding import Understanding
from deskhand.ports import StageContext
from deskhand.tools.services import ServiceFunction

log = logging.getLogger("deskhand.retrieval")

BUDGET = 2000
"""Tokens of context, where a stage says nothing else."""
_BEGINNING = 400
"""Characters of a message too long for the models by which something is looked for."""
PATIENCE = 10.0
"""Seconds a source may take before it is done without."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The message that context is wanted for, as sources see it."""

    run_id: str
    message: Message
    text: str
    """The sender's own words, below the subject."""
    category: str | None
    principal: Principal


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """One piece of context. `ref` leads a person to where it comes from."""

    text: str
    ref: str
    score: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Source:
    """Where pieces come from, best first; `categories` limits it to messages it can help with."""

    name: str
    find: Callable[[Asked], Awaitable[Sequence[ContextPiece]]]
    categories: frozenset[str] | None = None


def retrieve_from(sources: Sequence[Source], *, patience: float = PATIENCE) -> ServiceFunction:
    """`with: {budget: 2000, sources: [knowledge, contact]}` limits how much is taken from where."""
    by_name = {source.name: source for source in sources}

    async def retrieve(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        if envelope.message is None:
            raise PermanentError("there is no message to retrieve anything for")
        asked = await asyncio.to_thread(_asked, envelope.message, envelope, ctx)
        wanted = [by_name[name] for name in settings.get("sources", by_name) if name in by_name]
        fitting = [
            source_wanted
            for source_wanted in wanted
            if source_wanted.categories is None or asked.category in source_wanted.categories
        ]
        answers = await asyncio.gather(*(_pieces(source, asked, patience) for source in fitting))
        return _within(int(settings.get("budget", BUDGET)), fitting, answers)

    return retrieve


def _asked(message: Message, envelope: Envelope, ctx: StageContext) -> Asked:
    own = visible_reply(envelope.raw_input) or envelope.raw_input
    if is_too_long(own):  # a person reads it; its beginning finds what it is about
        own = own[:_BEGINNING]
    text = f"{message.subject}\n{own}".strip()
    return Asked(ctx.run_id, message, text, Understanding.of(envelope).topic, ctx.principal)


async def _pieces(source: Source, asked: Asked, patience: float) -> Sequence[ContextPiece] | str:
    """What the source has, or in words why it could not say: the others go on without it."""
    try:
        async with asyncio.timeout(patience):
            return await source.find(asked)
    except TimeoutError:
        problem = f"no answer within {patience:g} s"
    except Exception as error:  # whatever a source is made of, a message is worked without it
        problem = f"{type(error).__name__}: {error}"[:300]
    log.warning("%s could not be asked: %s", source.name, problem, extra={"run_id": asked.run_id})
    return problem


def _within(
    budget: int, sources: Sequence[Source], answers: Sequence[Sequence[ContextPiece] | str]
) -> dict[str, Any]:
    """The best piece of every source, then the second of each, until the budget is spent."""
    skipped: list[dict[str, str]] = []
    lists: list[tuple[Source, Sequence[ContextPiece]]] = []
    for source, answer in zip(sources, answers, strict=True):
        if isinstance(answer, str):
            skipped.append({"source": source.name, "reason": answer})
        else:
            lists.append((source, answer))
    ranks = max((len(pieces) for _, pieces in lists), default=0)
    turns = [
        (source.name, pieces[rank])
        for rank in range(ranks)
        for source, pieces in lists
        if rank < len(pieces)
    ]
    kept: list[dict[str, Any]] = []
    spent = left_out = 0
    seen: set[str] = set()
    for name, piece in turns:
        if piece.ref in seen and name != "knowledge":
            continue
        seen.add(piece.ref)
        cost = tokens_of(piece.text)
        if spent + cost > budget:
            left_out += 1
            continue
        spent += cost
        kept.append(_source_fields(name, piece))
    counts = Counter(piece["source"].replace("_", " ") for piece in kept)
    summary = ", ".join(f"{count} {name}" for name, count in counts.items())
    return {
        "found": summary or "nothing",
        "context": [piece["text"] for piece in kept],
        "sources": kept,
        "skipped": skipped,
        "left_out": left_out,
        "tokens": spent,
    }


def _source_fields(name: str, piece: ContextPiece) -> dict[str, Any]:
    fields = {"source": name, "ref": piece.ref, "text": piece.text, **piece.details}
    return fields if piece.score is None else {**fields, "score": round(piece.score, 4)}
