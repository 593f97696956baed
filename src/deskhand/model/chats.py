"""A chat as it is kept: who holds it, and its lines."""

from deskhand.model.frozen import Frozen

VISITOR, DESK = "visitor", "desk"


class Chat(Frozen):
    """One visitor's chat with a desk. Its id is the conversation of its messages."""

    id: str
    customer: str | None = None
    """The customer that a login token named; None for a visitor whom nobody knows."""


class ChatLine(Frozen):
    """One line of a chat. Numbers begin at 1 and have no gaps: they are the ids of its events."""

    number: int
    author: str
    """`visitor` or `desk`."""
    text: str
    at: float


class ChatUse(Frozen):
    """How much is going on, for the limits."""

    turns_of_chat: int = 0
    turns_of_network: int = 0
    turns_of_desk: int = 0
    chats_of_network: int = 0
    chats_of_desk: int = 0
