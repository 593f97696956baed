"""Keeps a conversation to the person who began it, where a sender names it himself."""

from hashlib import sha256
from typing import Protocol

from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn

_LATEST = 2**62
_LOOKED_AT = 20
"""Turns of a conversation. All have one author, unless two began it in the same moment."""
_LONGEST = 900
"""Characters of the name that is kept before the digest."""


class Conversations(Protocol):
    """What is asked of a store."""

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]: ...


async def in_own_conversation(message: Message, store: Conversations) -> Message:
    """The message in the conversation that it names, or in one of its author's own.

    A conversation shows a run what was said in it, and lets it answer what was asked there. So
    whoever names somebody else's gets another one, the same each time.
    """
    turns = await store.conversation(message.conversation, before=_LATEST, limit=_LOOKED_AT)
    if all(turn.message.author == message.author for turn in turns):
        return message
    digest = sha256(f"{message.conversation}\0{message.author}".encode()).hexdigest()[:32]
    return message.changed(conversation=f"{message.conversation[:_LONGEST]};{digest}")
