"""What a desk keeps of conversations beside their runs: who answers, what is forgotten, and the
lines of chats."""

from collections.abc import Sequence
from typing import Protocol

from deskhand.model.chats import (
    Chat,
    ChatCode,
    ChatFile,
    ChatLine,
    ChatMail,
    ChatMailKind,
    ChatSpending,
    ChatStanding,
    ChatUse,
)
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

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        """The message of this id, with its run; None where it did not come."""
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


class Chats(Protocol):
    """The chats of one desk. Every process sees the same."""

    async def open(self, token: str, customer: str | None, network: str) -> Chat:
        """The chat of this token, opened if there is none; whoever has the token holds it."""
        ...

    async def find(self, token: str) -> Chat | None:
        """The chat that this token opens; None for a token that nobody was given."""
        ...

    async def chat(self, chat: str) -> Chat | None:
        """The chat of this id; None where there is none."""
        ...

    async def say(
        self, chat: str, key: str, author: str, text: str, files: Sequence[ChatFile] = ()
    ) -> bool:
        """Add a line; False where there is one under this key already, which stays as it is."""
        ...

    async def answer(self, chat: str, key: str, by: str, name: str, text: str) -> bool:
        """Add a colleague's line, make the chat his and end what waits in it, all or nothing.

        `name` is what the visitor is told. False where there is a line under this key already.
        """
        ...

    async def standing(self, chat: str) -> ChatStanding:
        """Who answers now."""
        ...

    async def leave_address(self, chat: str, address: str) -> None:
        """Mail what people answer from now on to this address, too."""
        ...

    async def rate(self, chat: str, number: int, thumb: str) -> bool:
        """Note that the visitor liked a line of the program, `up`, or not, `down`.

        A line that he did not like counts against the mode that its category has earned. False
        where there is no such line.
        """
        ...

    async def people_since(self, chat: str, message_id: str) -> str:
        """What colleagues said between this message and the visitor's next one."""
        ...

    async def codes_since(self, chat: str, thing: str, since: float) -> tuple[int, int]:
        """How many codes this chat asked for, and how many anybody asked for this thing."""
        ...

    async def keep_code(self, code: ChatCode) -> None:
        """Keep a code; earlier ones of the chat for the same thing count no more."""
        ...

    async def try_code(self, chat: str, thing: str, most: int) -> ChatCode | None:
        """The code that counts now, with this try counted; None where none counts any more."""
        ...

    async def use_code(self, code_id: str) -> bool:
        """Note that a code proved its thing; False where it did before."""
        ...

    async def queue_mail(self, mail: ChatMail) -> bool:
        """Have a mail sent; False where there is one under its key already."""
        ...

    async def mails_since(self, chat: str, kind: ChatMailKind, since: float) -> int: ...

    async def take_mails(self) -> list[ChatMail]:
        """Those that are due, taken by the caller alone for a while."""
        ...

    async def settle_mail(self, key: str, *, again_at: float | None, trouble: str = "") -> None:
        """Note that a mail has left, or when it is tried again."""
        ...

    async def marks(self, chats: Sequence[str]) -> dict[str, str]:
        """By chat, a text that differs once a line, a run or a colleague has come or gone."""
        ...

    async def lines(self, chat: str, after: int = 0, limit: int = 200) -> list[ChatLine]:
        """The lines after this number, in order."""
        ...

    async def said(self, key: str) -> bool:
        """Whether there is a line under this key."""
        ...

    async def spent(self, chat: str | None, network: str, since: float) -> ChatSpending:
        """What models have cost since then for this chat, this network and all chats."""
        ...

    async def use(self, chat: str | None, network: str, since: float) -> ChatUse:
        """What was said and opened since then."""
        ...
