"""A chat as it is kept: who holds it, and its lines."""

from datetime import UTC, datetime

from deskhand.model.frozen import Frozen
from deskhand.model.message import CHAT, Address, Message
from deskhand.model.principal import Principal, PrincipalKind

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


def chat_message(chat: Chat, message_id: str, text: str, how: str) -> Message:
    """What a visitor said, with the authority that was proven and no other; `how` says by what."""
    principal = Principal(via=chat.id, how="a visitor of the chat, not logged in")
    if chat.customer is not None:
        principal = Principal(kind=PrincipalKind.LOGIN, customer_id=chat.customer, how=how)
    return Message(
        id=f"{chat.id}/{message_id}",
        channel=CHAT,
        conversation=chat.id,
        sender=Address(address=chat.id),
        principal=principal,
        body=text,
        received_at=datetime.now(UTC),
    )
