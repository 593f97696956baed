"""Everything a person needs to decide a review, from the records and never from a model."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from deskhand.engine.canned_replies import Canned, canned_replies, values_for
from deskhand.engine.journal import State
from deskhand.engine.story import Document, read_records, tool_calls
from deskhand.model.attached_files import StoredFile
from deskhand.model.message import Message
from deskhand.model.queue import BegunEdit
from deskhand.model.run import Event, Review, Run
from deskhand.model.understanding import drafted_output
from deskhand.ports import Store

_ABOUT_REVIEWS = "review."
_OWN = "embedded"
"""The brain that always names what it quotes."""


@dataclass(frozen=True, slots=True)
class ReviewFile:
    review: Review
    run: Run
    message: Message | None
    """None once it was erased."""
    outputs: Mapping[str, Any]
    tool_calls: Sequence[Document]
    sources: Sequence[Document]
    """What the draft was drawn from, as the stages named it."""
    history: Sequence[Event]
    """What people did with the run's reviews, oldest first: notes, snoozes, decisions."""
    edits: Sequence[BegunEdit]
    asks: Sequence[Document] = ()
    """What the message asks, each with the article drafted for it and whether that is sure."""
    revisions: int = 0
    """How often it was drafted again by somebody's instruction."""
    files: Sequence[StoredFile] = ()
    """What is kept of the message's attachments, and what reviewers brought."""

    def canned(self, texts: Mapping[str, Mapping[str, str]], reviewer: str) -> list[Canned]:
        """The desk's canned replies, ready to insert."""
        values = values_for(self.message, self.outputs, reviewer=reviewer, desk=self.review.desk)
        return canned_replies(texts, self.review.facts.get("language"), values)


async def read_review_file(store: Store, review_id: str) -> ReviewFile:
    """Collect it from the store; NotFound when the review does not exist."""
    review = await store.review(review_id)
    records, edits, files = await asyncio.gather(
        read_records(store, review.run_id),
        store.begun_edits(review_id),
        store.files(review.run_id),
    )
    states = records.states
    outputs = states[-1].after.outputs if states else {}
    return ReviewFile(
        review,
        records.run,
        records.message,
        outputs,
        tool_calls(states),
        used_sources(states),
        [event for event in records.events if event.kind.startswith(_ABOUT_REVIEWS)],
        edits,
        read_asks(states),
        _revisions(states),
        files,
    )


def _revisions(states: Sequence[State]) -> int:
    return int(states[-1].after.metadata.get("revisions") or 0) if states else 0


def read_asks(states: Sequence[State]) -> list[Document]:
    """The asks that the draft was written for, as its stage names them."""
    drafting = _drafting(states) if states else None
    own = None if drafting is None else drafted_output(drafting.after.outputs)
    return [] if own is None else _listed(states[-1].after.outputs.get(own), "asks")


def used_sources(states: Sequence[State]) -> list[Document]:
    """What the draft was drawn from, each source once.

    A drafting stage that names its sources has used those. The embedded brain always names them;
    a model may have used whatever earlier stages had found for it.
    """
    if not states:
        return []
    outputs = states[-1].after.outputs
    drafting = _drafting(states)
    own = None if drafting is None else drafted_output(drafting.after.outputs)
    was_embedded = drafting is not None and (drafting.result.answered or {}).get("brain") == _OWN
    names_all = own is not None and (was_embedded or bool(_listed(outputs.get(own))))
    stages = [own] if own is not None and names_all else list(outputs)
    sources: dict[str, Document] = {}
    for stage in stages:
        for source in _listed(outputs.get(stage)):
            sources.setdefault(_identity(source), {"stage": stage, **source})
    return list(sources.values())


def _drafting(states: Sequence[State]) -> State | None:
    """The step that drafted the reply last; None where none did."""
    drafted_by = states[-1].after.metadata.get("drafted_by")
    return next((state for state in reversed(states) if state.row.name == drafted_by), None)


def _listed(output: Any, name: str = "sources") -> list[Document]:
    """The `sources` of a stage's output that can be shown, or another list of it."""
    listed = output.get(name) if isinstance(output, dict) else None
    if not isinstance(listed, list):
        return []
    return [cast(Document, entry) for entry in listed if isinstance(entry, dict)]


def _identity(source: Document) -> str:
    """The same for two mentions of one place: an article's section, or the same words."""
    article = source.get("article") or source.get("title")
    if article:
        return json.dumps([article, source.get("heading_path")], default=str)
    return json.dumps(source, sort_keys=True, default=str)
