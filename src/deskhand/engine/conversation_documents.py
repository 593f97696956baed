"""Conversations as the command line and the API show them: the same fields in both."""

from collections.abc import Collection, Mapping
from typing import Any

from deskhand.engine.conversation_memory import MemoryLimits, RowMemory
from deskhand.errors import NotFound
from deskhand.model.documents import iso_at
from deskhand.model.message import iso
from deskhand.model.queue import TakenOver
from deskhand.model.run import ConversationTurn
from deskhand.ports import Store
from deskhand.routing.redacted_slots import HIDDEN, texts_of, without_values

_EVER = 2**62


def listed(turn: ConversationTurn, taken: Mapping[str, TakenOver]) -> dict[str, Any]:
    """One conversation by its newest message; `taken` are those that people answer."""
    run = turn.run
    held = taken.get(run.conversation)
    by, at = (None, None) if held is None else (held.by, iso_at(held.at))
    return {
        "conversation": run.conversation,
        "run": run.id,
        "status": str(run.status),
        "sender": turn.message.sender.address,
        "subject": turn.message.subject,
        "received_at": iso(turn.message.received_at),
        "taken_over_by": by,
        "taken_over_at": at,
    }


async def list_conversations(
    store: Store, *, limit: int, before: int | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """The conversations, the latest first, each with the position to go on from."""
    turns = await store.conversations(limit=limit, before=before)
    taken = {taken_over.conversation: taken_over for taken_over in await store.taken_over()}
    return [(turn.run.position, listed(turn, taken)) for turn in turns]


async def show_conversation(
    store: Store,
    conversation: str,
    limits: MemoryLimits | None = None,
    hidden: Collection[str] = (),
) -> dict[str, Any]:
    """What the desk would remember if the last writer wrote again, without the values of the slots
    that are `hidden`; NotFound where nobody wrote in such a conversation."""
    newest = await store.conversation(conversation, before=_EVER, limit=1)
    if not newest:
        raise NotFound(f"there is no conversation {conversation!r} on desk {store.desk}")
    message = newest[0].message
    memory = await RowMemory(store, limits).before(conversation, _EVER, message)
    fields: dict[str, Any] = {"messages": 0, "waits_for": None, "values": {}}
    fields |= {"summary": [], "turns": []}
    if memory is not None:
        written = memory.model_dump(mode="json")
        fields = {name: written[name] for name in fields}
    shown = _without(fields, hidden)
    return {"conversation": conversation, "author": message.author, **shown}


def _without(fields: dict[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """The fields without the values of these slots, wherever they stand."""
    values = {name: said for name, said in fields["values"].items() if name in hidden}
    shown: dict[str, Any] = without_values(fields, frozenset(texts_of(list(values.values()))))
    for name in values:
        shown["values"][name] = [HIDDEN]
    return shown
