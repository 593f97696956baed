"""A ticket as a program hands it in, kept with the message that it becomes."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, ValidationError

from deskhand.model.contact import CUSTOMER_INFO_HEADER, CustomerInfo, read_customer_info
from deskhand.model.frozen import Frozen, Moment
from deskhand.model.message import HANDED_BACK, Message
from deskhand.model.principal import PrincipalKind

TICKET_HEADER = "x-deskhand-ticket"
"""The header under which it is kept, as JSON; it counts only for what came over this API."""
MOST_MESSAGES = 100
MOST_PARTS = 20
"""Paragraphs of a mail that are known when a program hands them in as messages of their own."""
CUSTOMER = ("customer", "user")
"""Roles under which the customer himself speaks."""


class TicketTurn(Frozen):
    role: Literal["customer", "user", "agent", "assistant", "system"]
    content: str = Field(min_length=1, max_length=100_000, pattern=r"\S")
    timestamp: Moment | None = None

    @property
    def is_customers(self) -> bool:
        return self.role in CUSTOMER

    @property
    def words(self) -> str:
        """What was said, as it is compared."""
        return self.content.strip()

    @property
    def at(self) -> float | None:
        return None if self.timestamp is None else self.timestamp.timestamp()


class TicketRequest(Frozen):
    """What `POST /api/triage` takes."""

    customer_id: str = Field(min_length=1, max_length=1000, pattern=r"\S")
    ticket_id: str | None = Field(default=None, max_length=200)
    customer_info: CustomerInfo | None = None
    messages: tuple[TicketTurn, ...] = Field(min_length=1, max_length=MOST_MESSAGES)
    metadata: dict[str, Any] = Field(default_factory=dict)


class HandedIn(Frozen):
    """What a message keeps of the request that it came by."""

    ticket_id: str | None = None
    """The ticket that the caller named: his customer's, as was checked when it came."""
    messages: tuple[TicketTurn, ...] = ()
    """All that were given, the agents' too."""
    taken: tuple[int, ...] = ()
    """Which of them were new: the others lie with earlier runs."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def taken_turns(self) -> list[TicketTurn]:
        return [self.messages[place] for place in self.taken if place < len(self.messages)]


def handed_in(message: Message) -> HandedIn | None:
    """The request behind a message; None for one that came another way."""
    written = message.headers.get(TICKET_HEADER)
    if written is None or message.channel != HANDED_BACK:
        return None
    try:
        return HandedIn.model_validate_json(written)
    except ValidationError:
        return None


def asserted_info(message: Message) -> CustomerInfo:
    """What the program that vouches for the customer said about him with the message."""
    if message.principal.kind is not PrincipalKind.ASSERTED:
        return CustomerInfo()
    return read_customer_info(message.headers.get(CUSTOMER_INFO_HEADER))


@dataclass(frozen=True, slots=True)
class TakenWords:
    """Words of the customer that a message brought."""

    content: str
    at: float | None = None
    """When he wrote them, where the program that handed them in says so."""
    conversation: str | None = None
    """None for what came another way than over this API."""


@dataclass(frozen=True, slots=True)
class TakenTurn:
    """Words of the customer that a run has taken."""

    words: TakenWords
    run: str
    ticket: str
    """The conversation where the run's message lies in no ticket yet."""


def words_taken(message: Message) -> list[TakenWords]:
    """What a message brought, as a program may hand it in again."""
    request = handed_in(message)
    if request is None:
        whole = message.words.strip()
        parts = whole.split("\n\n")[:MOST_PARTS]
        contents = [whole, *(part.strip() for part in parts if part.strip())]
        return [TakenWords(content) for content in dict.fromkeys(contents)]
    own = [turn for turn in request.taken_turns if turn.is_customers]
    return [TakenWords(turn.words, turn.at, message.conversation) for turn in own]
