"""A chat as it is kept: who holds it, its lines, and the mails that leave for it."""

from datetime import UTC, datetime
from enum import StrEnum

from deskhand.model.frozen import Frozen
from deskhand.model.message import CHAT, Address, Attachment, Message
from deskhand.model.principal import Principal, PrincipalKind

VISITOR, DESK, PERSON = "visitor", "desk", "person"
"""Who said a line: the visitor, the program, or a colleague."""
WANTS_PERSON = "x-deskhand-wants-person"
"""A header of messages by which a visitor asks for a person: no stage works them."""


class Chat(Frozen):
    """One visitor's chat with a desk. Its id is the conversation of its messages."""

    id: str
    customer: str | None = None
    """The customer that a login token named; None for a visitor whom nobody knows."""
    proven: tuple[str, ...] = ()
    """The ids of what a visitor whom nobody knows has proven to be his, by mailed codes."""
    address: str | None = None
    """Where a person's answers are mailed, as the visitor said; it proves nothing."""


class ChatFile(Frozen):
    """A file that a visitor sent with a line."""

    name: str
    type: str
    size: int


class ChatLine(Frozen):
    """One line of a chat. Numbers begin at 1 and have no gaps: they are the ids of its events."""

    number: int
    author: str
    """`visitor`, `desk` or `person`."""
    text: str
    at: float
    id: str | None = None
    """The visitor's own id of what he said; None for what others said."""
    name: str | None = None
    """The colleague who wrote it, as the visitor is told."""
    files: tuple[ChatFile, ...] = ()
    thumb: str | None = None
    """What the visitor thought of it: `up` or `down`."""


class ChatStanding(Frozen):
    """Who answers in a chat now."""

    taken_over_by: str | None = None
    """The colleague, as the visitor is told; None while the program answers."""
    waits_for_person: bool = False


class ChatCode(Frozen):
    """A code that was mailed to a visitor."""

    id: str
    chat: str
    thing: str
    """What it is to prove, as the visitor called it."""
    object: str | None
    """The id of the thing; None where there is none, so that no code proves it."""
    salt: bytes
    digest: bytes
    tries: int = 0
    expires_at: float


class ChatUse(Frozen):
    """How much is going on, for the limits."""

    turns_of_chat: int = 0
    turns_of_network: int = 0
    turns_of_desk: int = 0
    chats_of_network: int = 0
    chats_of_desk: int = 0


class ChatSpending(Frozen):
    """What models have cost for chats, for the limits."""

    of_chat: float = 0.0
    of_network: float = 0.0
    of_desk: float = 0.0


class ChatMailKind(StrEnum):
    ANSWER = "answer"
    TRANSCRIPT = "transcript"


class ChatMail(Frozen):
    """A mail that a chat sends."""

    key: str
    chat: str
    kind: ChatMailKind
    address: str
    subject: str
    text: str
    until: float
    """When it is of no use any more."""
    tries: int = 0


def chat_message(
    chat: Chat, message_id: str, text: str, how: str, files: tuple[Attachment, ...] = ()
) -> Message:
    """What a visitor said, with the authority that was proven and no other; `how` says by what."""
    principal = Principal(via=chat.id, how="a visitor of the chat, not logged in")
    if chat.customer is not None:
        principal = Principal(kind=PrincipalKind.LOGIN, customer_id=chat.customer, how=how)
    elif chat.proven:
        proof = "a code mailed to its address on file"
        principal = Principal(kind=PrincipalKind.CODE, only=chat.proven, via=chat.id, how=proof)
    return Message(
        id=f"{chat.id}/{message_id}",
        channel=CHAT,
        conversation=chat.id,
        sender=Address(address=chat.id),
        principal=principal,
        body=text,
        attachments=files,
        received_at=datetime.now(UTC),
    )
