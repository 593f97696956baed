"""What the chat needs from the database."""

from typing import Protocol

from deskhand.model.chats import Chat, ChatLine, ChatUse


class Chats(Protocol):
    """The chats of one desk. Every process sees the same."""

    async def open(self, token: str, customer: str | None, network: str) -> Chat:
        """A new chat; whoever has the token holds it."""
        ...

    async def find(self, token: str) -> Chat | None:
        """The chat that this token opens; None for a token that nobody was given."""
        ...

    async def say(self, chat: str, key: str, author: str, text: str) -> bool:
        """Add a line; False where there is one under this key already, which stays as it is."""
        ...

    async def lines(self, chat: str, after: int = 0, limit: int = 200) -> list[ChatLine]:
        """The lines after this number, in order."""
        ...

    async def use(self, chat: str | None, network: str, since: float) -> ChatUse:
        """What was said and opened since then."""
        ...
