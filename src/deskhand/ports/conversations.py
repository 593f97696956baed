"""What a desk keeps of conversations beside their runs: who answers, and what is forgotten."""

from typing import Protocol

from deskhand.model.queue import TakenOver
from deskhand.model.run import ConversationTurn


class Conversations(Protocol):
    """The conversations of a desk."""

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20, remembered: bool = False
    ) -> list[ConversationTurn]:
        """Earlier turns, oldest first; with `remembered` only those after the last that somebody
        made the desk forget."""
        ...

    async def conversations(
        self, *, limit: int = 50, before: int | None = None
    ) -> list[ConversationTurn]:
        """The newest turn of each conversation, the latest first.

        `before` is the position of the last run of the page before.
        """
        ...

    async def forget(self, conversation: str, by: str) -> int:
        """Make the desk forget what was said here so far, and drop what it waits for; returns how
        many messages that were. Conflict while one of them is worked on.

        Nothing is deleted: `erase` does that.
        """
        ...

    async def take_over(self, conversation: str, by: str) -> None:
        """Keep the desk silent in this conversation until it is given back."""
        ...

    async def give_back(self, conversation: str, by: str) -> bool:
        """Let the desk answer in a conversation that a person had taken over."""
        ...

    async def taken_over_by(self, conversation: str) -> str | None: ...

    async def taken_over(self) -> list[TakenOver]:
        """Every conversation that a person has, the latest first."""
        ...
