"""A ticket's checkpoint: what it is about, in a size that does not grow with its messages."""

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from deskhand.language.message_sentences import without_frame
from deskhand.model.ticket import MessageFacts, Ticket, TicketCheckpoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_REFERENCES = 60
_LONGEST_BEGINNING = 400
_LONGEST_LATER = 240
_LATER_KEPT = 4
_LONGEST_REPLY = 240
_REPLY_MARK = "» "
_BETWEEN = "\n"


def begin(ticket: Ticket) -> TicketCheckpoint:
    """The checkpoint of a ticket before its first message."""
    return TicketCheckpoint(
        ticket_id=ticket.id, customer=ticket.customer, number=0, state=ticket.state
    )


def grow(checkpoint: TicketCheckpoint, message: MessageFacts) -> TicketCheckpoint:
    """The checkpoint after one more message."""
    references = dict.fromkeys((*checkpoint.references, *message.references))
    return checkpoint.changed(
        summary=_summary(checkpoint.summary, message.excerpt),
        matter=_summary(matter_of(checkpoint), message.matter or message.excerpt),
        references=tuple(references)[-MOST_REFERENCES:],
        messages=checkpoint.messages + 1,
        newest_at=max(checkpoint.newest_at, message.at),
        vector=_sum(checkpoint.vector, message.vector),
    )


def replied(checkpoint: TicketCheckpoint, reply: str, at: float) -> TicketCheckpoint:
    """The checkpoint after an answer that left at this time: the one that left last counts."""
    text = " ".join(without_frame(reply).split())[:_LONGEST_REPLY].rstrip()
    if at < checkpoint.replied_at:
        return checkpoint
    return checkpoint.changed(reply=text, replied_at=at)


def told_of(checkpoint: TicketCheckpoint, ticket: Ticket) -> TicketCheckpoint:
    """The checkpoint with what the ticket is now: state, subject, newest event."""
    return checkpoint.changed(
        number=ticket.number,
        state=ticket.state,
        subject=ticket.subject,
        customer=ticket.customer,
    )


def build(
    ticket: Ticket,
    messages: Iterable[MessageFacts],
    replies: Iterable[tuple[str, float]] = (),
) -> TicketCheckpoint:
    """The checkpoint of a ticket from all its messages and from what we said with its time, as
    growing would have made it."""
    checkpoint = begin(ticket)
    for message in messages:
        checkpoint = grow(checkpoint, message)
    for reply, at in replies:
        checkpoint = replied(checkpoint, reply, at)
    return told_of(checkpoint, ticket)


def matter_of(checkpoint: TicketCheckpoint) -> str:
    """What its messages say, without greetings and signatures where they were told apart."""
    return checkpoint.matter or checkpoint.summary


def read_text(checkpoint: TicketCheckpoint) -> str:
    """A ticket as the reading model reads it beside a message: subject, messages, our last reply.
    The model was trained on this form."""
    reply = f"{_REPLY_MARK}{checkpoint.reply}" if checkpoint.reply else ""
    parts = (checkpoint.subject, matter_of(checkpoint), reply)
    return _BETWEEN.join(part for part in parts if part)


def search_text(checkpoint: TicketCheckpoint) -> str:
    """What a search for words looks through."""
    from deskhand.language.slots.folded_text import fold

    parts = (checkpoint.ticket_id, checkpoint.subject, checkpoint.summary)
    return fold("\n".join((*parts, " ".join(checkpoint.references))))


def _summary(so_far: str, excerpt: str) -> str:
    """The first words stay, since they say what the matter is; of the rest, the newest."""
    text = " ".join(excerpt.split())
    if not text:
        return so_far
    if not so_far:
        return text[:_LONGEST_BEGINNING]
    first, *later = so_far.split(_BETWEEN)
    kept = [*later, text[:_LONGEST_LATER]][-_LATER_KEPT:]
    return _BETWEEN.join((first, *kept))


def _sum(so_far: str, vector: bytes | None) -> str:
    import numpy as np

    if vector is None:
        return so_far
    added = np.frombuffer(vector, dtype="<f2").astype("<f4")
    if so_far:
        held = np.frombuffer(base64.b64decode(so_far), dtype="<f4")
        if held.shape == added.shape:
            added = held + added
    return base64.b64encode(added.tobytes()).decode()


def direction(checkpoint: TicketCheckpoint) -> "NDArray[np.float32] | None":
    """The unit vector of a ticket; None where none of its messages has one."""
    import numpy as np

    if not checkpoint.vector:
        return None
    summed = np.frombuffer(base64.b64decode(checkpoint.vector), dtype="<f4")
    length = np.float32(np.linalg.norm(summed))
    return (summed / length).astype(np.float32) if length > 0 else None


def read_checkpoint(raw: Mapping[str, Any] | None) -> TicketCheckpoint | None:
    """A checkpoint as it was stored; None where there is none, or something else in its place."""
    if raw is None:
        return None
    try:
        return TicketCheckpoint.model_validate(raw)
    except ValidationError:
        return None
