"""How messages come in and replies go out."""

from typing import Protocol

from deskhand.model.message import Message, Reply
from deskhand.model.run import Accepted, ConversationTurn, EffectKey


class Outbox(Protocol):
    """Where replies leave. `key` names the effect: sending again under it changes nothing,
    `find` says if it left."""

    async def send(self, reply: Reply, key: str) -> str: ...

    async def find(self, key: str) -> str | None: ...


class Intake(Protocol):
    """What a channel hands its messages to."""

    async def hand_in(self, message: Message) -> Accepted:
        """Durable when it returns; the same message again gives the same run."""
        ...

    def well(self) -> None:
        """The channel is connected and has read what there was."""
        ...


class Channel(Protocol):
    """Where messages come from."""

    name: str

    async def listen(self, intake: Intake) -> None:
        """Hand in what arrives until cancelled; raises when the connection is lost."""
        ...

    async def check(self) -> str:
        """Connect and log in, changing nothing: what was found, in words; raises what is wrong."""
        ...

    async def close(self) -> None: ...


class Drafts(Protocol):
    """Where replies wait for a person in a mail program, keyed like those that leave."""

    async def keep_draft(self, reply: Reply, key: str) -> str: ...

    async def find_draft(self, key: str) -> str | None: ...


class Threads(Protocol):
    """What has been said in which conversation: to place a mail. What was erased is not known
    any more."""

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        """The message that was accepted under this id."""
        ...

    async def reply_sent(self, key: EffectKey) -> ConversationTurn | None:
        """The message that was answered by this delivery, if there was one."""
        ...

    async def messages_from(
        self, address: str, *, since: float, limit: int = 20
    ) -> list[ConversationTurn]:
        """The latest messages that name this address as their sender, newest first."""
        ...

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]: ...
