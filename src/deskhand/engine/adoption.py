"""What a run takes over from earlier ones: a question that it answers, messages that it answers
too."""

from collections.abc import Sequence
from typing import Any

from deskhand.engine.journal import fold, result_of
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.run import ConversationTurn, Run
from deskhand.ports import Store
from deskhand.tickets.service import Tickets


async def adoption(store: Store, parked: Run) -> StageResult | None:
    """The outputs of the run that asked the customer, and the stage to go on at; None where it is
    erased."""
    message = await store.message(parked.id)
    rows = await store.rows(parked.id)
    if message is None or not rows:
        return None
    state = fold(Envelope.of(message, run_id=parked.id), rows)
    asked = result_of(rows[-1])
    metadata: dict[str, Any] = {
        **state.metadata,
        "adopted_from": parked.id,
        "asked": _asked(asked),
    }
    return StageResult(
        delta=Delta(outputs=state.outputs, metadata=metadata),
        next=asked.resume or rows[-1].name,
    )


def answering_also(
    adopted: StageResult | None, earlier: Sequence[ConversationTurn], envelope: Envelope
) -> StageResult | None:
    """What a run begins with that also answers these earlier messages."""
    if not earlier:
        return adopted
    adopted = adopted or StageResult()
    texts = [turn.message.words for turn in earlier]
    metadata = {**adopted.delta.metadata, "also_answers": [turn.run.id for turn in earlier]}
    raw_input = "\n\n".join([*texts, envelope.raw_input])
    return adopted.changed(delta=adopted.delta.changed(raw_input=raw_input, metadata=metadata))


class TicketTakeUp:
    """For a message that joins a ticket from another channel: what waits elsewhere is its own."""

    def __init__(self, store: Store, tickets: Tickets) -> None:
        self._store, self._tickets = store, tickets

    async def __call__(self, ticket_id: str, envelope: Envelope) -> StageResult | None:
        """What the message's run takes over; None where nothing waits in other conversations."""
        ticket = await self._tickets.find(ticket_id)
        others = [run for run in ticket.runs if run != envelope.run_id]
        if not others:
            return None
        parked, earlier = await self._tickets.store.take_up(envelope.run_id, others)
        adopted = None if parked is None else await adoption(self._store, parked)
        return answering_also(adopted, earlier, envelope)


def _asked(result: StageResult) -> dict[str, Any]:
    return {"param": result.ask.param, "text": result.ask.text} if result.ask else {}
