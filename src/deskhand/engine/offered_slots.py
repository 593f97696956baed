"""The times that a conversation was offered before: customers often answer only "the second"."""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.journal import fold
from deskhand.model.booking import OFFERED
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.run import Run, RunStatus
from deskhand.model.understanding import Understanding
from deskhand.ports import Store

_MOST_TURNS = 5
_LEFT = (RunStatus.SENT, RunStatus.ANSWERED)


async def offered_before(store: Store, run: Run, message: Message) -> dict[str, Any]:
    """What a run knows from its beginning; nothing where no offer has left in its conversation."""
    if run.conversation == message.id:
        return {}
    for turn in reversed(
        await store.conversation(
            run.conversation, before=run.position, limit=_MOST_TURNS, remembered=True
        )
    ):
        if turn.run.status not in _LEFT or turn.message.author != message.author:
            continue
        rows = await store.rows(turn.run.id)
        slots = _slots(fold(Envelope.of(turn.message, run_id=turn.run.id), rows).outputs)
        if slots:
            return {OFFERED: slots}
    return {}


def _slots(outputs: Mapping[str, Any]) -> list[dict[str, str]]:
    """Id and beginning of the latest times that a tool found."""
    for result in Understanding(outputs).results:
        data = result.get("data")
        slots = data.get("slots") if isinstance(data, Mapping) else None
        if isinstance(slots, list) and slots:
            return [
                {"id": str(slot["id"]), "start": str(slot["start"])}
                for slot in slots
                if isinstance(slot, Mapping) and "id" in slot and "start" in slot
            ]
    return []
