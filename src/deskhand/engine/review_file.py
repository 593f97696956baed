"""Everything a person needs to decide a review, from the records and never from a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from deskhand.engine.canned_replies import Canned, canned_replies, values_for
from deskhand.engine.story import Document, read_records, tool_calls
from deskhand.model.attached_files import StoredFile
from deskhand.model.message import Message
from deskhand.model.run import BegunEdit, Event, Review
from deskhand.ports import Store

_ABOUT_REVIEWS = "review."


@dataclass(frozen=True, slots=True)
class ReviewFile:
    review: Review
    message: Message | None
    """None once it was erased."""
    outputs: Mapping[str, Any]
    tool_calls: Sequence[Document]
    sources: Sequence[Document]
    """What the draft was drawn from, as the stages named it."""
    history: Sequence[Event]
    """What people did with the run's reviews, oldest first: notes, snoozes, decisions."""
    edits: Sequence[BegunEdit]
    files: Sequence[StoredFile] = ()
    """What is kept of the message's attachments, and what reviewers brought."""

    def canned(self, texts: Mapping[str, Mapping[str, str]], reviewer: str) -> list[Canned]:
        """The desk's canned replies, ready to insert."""
        values = values_for(self.message, self.outputs, reviewer=reviewer, desk=self.review.desk)
        return canned_replies(texts, self.review.facts.get("language"), values)


async def read_review_file(store: Store, review_id: str) -> ReviewFile:
    """Collect it from the store; NotFound when the review does not exist."""
    review = await store.review(review_id)
    records = await read_records(store, review.run_id)
    events = await store.events(run_id=review.run_id)
    states = records.states
    outputs = states[-1].after.outputs if states else {}
    return ReviewFile(
        review,
        records.message,
        outputs,
        tool_calls(states),
        _sources(outputs),
        [event for event in events if event.kind.startswith(_ABOUT_REVIEWS)],
        await store.begun_edits(review_id),
        await store.files(review.run_id),
    )


def _sources(outputs: Mapping[str, Any]) -> list[Document]:
    """Every `sources` list of an output, each source with the stage that used it."""
    sources: list[Document] = []
    for stage, output in outputs.items():
        listed = output.get("sources") if isinstance(output, dict) else None
        for source in listed if isinstance(listed, list) else ():
            if isinstance(source, dict):
                sources.append({"stage": stage, **cast(Document, source)})
    return sources
