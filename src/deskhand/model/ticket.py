"""A ticket: one matter of one customer, told by the events that made it what it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from deskhand.model.frozen import Frozen
from deskhand.model.ids import random_bytes
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.model.ticket_state import AskStatus, Rating, TicketState, UrgencyLevel

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: no I, L, O or U, which are taken for other signs."""
_PREFIX = "TKT-"
_WRITTEN = re.compile(r"TKT[-\u2010-\u2015 ]?([0-9A-Z]{8})", re.I)
_CITED = re.compile(r"(?<![0-9A-Za-z])TKT-?[0-9A-Za-z]{8}(?![0-9A-Za-z])", re.I)
_MISREAD = str.maketrans("ILO", "110")
"""How a person may have copied a 1 or a 0."""

DESK = "desk"
"""Who changed a ticket where no person did."""
LONGEST_NOTE = 20_000
MOST_TAGS = 50


def new_ticket_id() -> str:
    """`TKT-` and eight signs: 40 random bits. The store sees to it that no two are alike."""
    number = int.from_bytes(random_bytes()[:5])
    signs = (_ALPHABET[number >> shift & 31] for shift in range(35, -1, -5))
    return _PREFIX + "".join(signs)


def ticket_id_of(written: str) -> str | None:
    """The id that somebody wrote, as the store knows it; None for what is none."""
    match = _WRITTEN.fullmatch(written.strip())
    if match is None:
        return None
    signs = match[1].upper().translate(_MISREAD)
    return None if "U" in signs else _PREFIX + signs


def cited_ticket_ids(text: str) -> tuple[str, ...]:
    """The ids of tickets that a text names, each once; whose they are is another question."""
    ids = (ticket_id_of(match[0]) for match in _CITED.finditer(text))
    return tuple(dict.fromkeys(filter(None, ids)))


def without_ticket_ids(text: str) -> str:
    """The text as it reads without the ids: their letters mean nothing, and a model that reads
    words would look for some meaning in them."""
    return _CITED.sub(" ", text)


class TicketEventKind(StrEnum):
    OPENED = "opened"
    JOINED = "joined"
    """A message came to it."""
    STATE = "state"
    ASSIGNED = "assigned"
    TAGGED = "tagged"
    NOTED = "noted"
    MERGED = "merged"
    """Became part of another ticket."""
    ABSORBED = "absorbed"
    """Took in another ticket."""
    SPLIT = "split"
    """Gave some of its messages to a new ticket."""
    UNDONE = "undone"
    """A merge or a split was taken back."""
    ERASED = "erased"
    """Messages of it were erased or deleted for their age."""
    TRIAGED = "triaged"
    """Somebody said how urgent it is and what it is about."""
    ANSWERED = "answered"
    """An answer to one of its messages has left."""
    WARNED = "warned"
    """A deadline is near."""
    BREACHED = "breached"
    """A deadline has passed."""
    ASKED = "asked"
    """What one of its messages asks for was read."""
    SETTLED = "settled"
    """Something asked for was answered, deferred or escalated."""
    SURVEYED = "surveyed"
    """The customer was asked how it was."""
    RATED = "rated"
    """The customer said how it was."""


class TicketAsk(Frozen):
    """One thing that a message of a ticket asks for, and what became of it."""

    run: str
    place: int
    """Its place among what the message asks, from 1."""
    text: str
    """In the customer's words; empty where those were erased."""
    status: AskStatus = AskStatus.OPEN
    group: str = ""
    """The group whose matter it is."""
    article: str | None = None
    """The article that answers it surely."""
    by: str = ""
    """Who settled it."""
    why: str = ""
    at: float = 0.0

    @property
    def id(self) -> str:
        return f"{self.run}.{self.place}"


class TicketEvent(Frozen):
    """One change of a ticket: what changed, who did it and why.

    A field that is None says nothing about its part of the ticket.
    """

    ticket: str
    kind: TicketEventKind
    by: str
    why: str = ""
    at: float
    number: int = 0
    """Its place among the events of its ticket, from 1; the store gives it."""
    change: str | None = None
    """What the events of one merge, split or undo have in common."""
    undoes: str | None = None
    """The change that is taken back."""
    customer: str | None = None
    subject: str | None = None
    state: TicketState | None = None
    run: str | None = None
    """The run whose message came."""
    added: tuple[str, ...] = ()
    """Runs whose messages belong to the ticket from now on."""
    removed: tuple[str, ...] = ()
    merged_into: str | None = None
    """Empty: it is a ticket of its own again."""
    assignee: str | None = None
    """Empty for nobody."""
    group: str | None = None
    tags_added: tuple[str, ...] = ()
    tags_removed: tuple[str, ...] = ()
    note: str | None = None
    """For colleagues alone: no model and no customer reads it."""
    matching: dict[str, Any] | None = None
    """With `joined`: what matched, how sure that is and by what evidence."""
    urgency: UrgencyLevel | None = None
    category: str | None = None
    language: str | None = None
    plan: str | None = None
    """What the customer pays for, as far as deadlines depend on it."""
    asked_at: float | None = None
    """With `absorbed` and its undo: since when a message waits for an answer; 0 for none."""
    deadline: str | None = None
    """With `warned` and `breached`: which one and until when, as `resolution 1767225600`."""
    due: str | None = None
    """With `answered`: the deadline that ran for the response, written like `deadline`."""
    asks: tuple[TicketAsk, ...] = ()
    """Those that are new or changed, as they are from now on."""
    survey: str | None = None
    """With `surveyed`: the digest of the secret in the customer's link."""
    rating: Rating | None = None


class TicketNote(Frozen):
    text: str
    by: str
    at: float


class Ticket(Frozen):
    """What the events of a ticket add up to."""

    id: str
    customer: str
    """Whose it is, in one word: `customer:ID`, `address:ADDRESS` or how an unproven sender is
    known. Never another person's."""
    state: TicketState = TicketState.ACTIVE
    subject: str = ""
    number: int = 0
    """Its newest event."""
    opened_at: float = 0.0
    changed_at: float = 0.0
    solved_at: float | None = None
    """When it was last solved or closed; None for a ticket that is neither."""
    merged_into: str | None = None
    assignee: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[TicketNote, ...] = ()
    asks: tuple[TicketAsk, ...] = ()
    """What its messages ask for, in their order."""
    runs: tuple[str, ...] = ()
    """The runs whose messages belong to it, oldest first."""
    messages: int = 0
    """How many those are, also where they were not read."""
    urgency: UrgencyLevel | None = None
    category: str | None = None
    language: str | None = None
    plan: str | None = None
    asked_at: float | None = None
    """When the oldest message came that nobody has answered; None where all are answered."""
    heard_at: float | None = None
    """When the newest message came."""
    answered_at: float | None = None
    """When the first answer left."""
    pauses: tuple[tuple[float, float | None], ...] = ()
    """When it waited for the customer or was over: from and until, None while it goes on."""
    surveyed_at: float | None = None
    """When the customer was asked how it was; that is once for each ticket."""
    survey: str = ""
    """The digest of the secret in the link; only where the whole ticket was read."""
    rating: Rating | None = None
    told: str = ""
    """The newest deadline that was warned of or passed, so that it is told once."""
    due_at: float | None = None
    """Its next deadline. The store keeps it beside the row; the events do not tell it."""
    due_for: str | None = None
    """What is due then: `first_response`, `next_response` or `resolution`."""

    @property
    def customer_id(self) -> str:
        """The customer as people and programs outside know him."""
        return customer_id_of(self.customer)

    @property
    def thread_id(self) -> str:
        """`{customer_id}:{ticket_id}`. The part after the last colon is the ticket."""
        return f"{self.customer_id}:{self.id}"


_KINDS_OF_CUSTOMERS = ("customer", "address", "unproven", "forwarded", "proven")


def customer_named(written: str) -> str:
    """The customer as tickets know him. What names no kind of customer is a customer number, as
    programs outside have it."""
    kind, mark, _ = written.partition(":")
    return written if mark and kind in _KINDS_OF_CUSTOMERS else f"customer:{written}"


def customer_written(customer: str) -> str:
    """The customer as `customer_named` reads him, in the shortest form: the bare customer number
    where that is plain."""
    number = customer.removeprefix("customer:")
    return number if customer_named(number) == customer else customer


def customer_id_of(customer: str) -> str:
    kind, mark, rest = customer.partition(":")
    return rest if mark and kind in ("customer", "address") else customer


class TicketCheckpoint(Frozen):
    """What is known of a ticket without reading its messages again. It grows with each message and
    keeps its size: a ticket of 500 messages is as quick to compare as one of five."""

    ticket_id: str
    customer: str
    number: int
    """The event up to which it is told."""
    state: TicketState
    subject: str = ""
    summary: str = ""
    matter: str = ""
    """The same without greetings and signatures, as messages are compared with it. Empty in what
    was written before it was kept."""
    references: tuple[str, ...] = ()
    """Numbers of orders and invoices that its messages name, the newest last."""
    messages: int = 0
    newest_at: float = 0.0
    vector: str = ""
    """The sum of its messages' vectors: float32, little endian, base64."""
    reply: str = ""
    """The beginning of what we said last; empty where nothing has left."""
    replied_at: float = 0.0


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What a message adds to its ticket's checkpoint."""

    run: str
    at: float
    conversation: str
    subject: str
    excerpt: str
    references: tuple[str, ...]
    vector: bytes | None
    """float16, little endian; None where nobody made one."""
    matter: str = ""
    """The excerpt of the message without its greeting and signature."""


@dataclass(frozen=True, slots=True)
class CustomerTickets:
    """A customer's tickets at one moment: whoever writes names the version that he read."""

    version: int
    tickets: tuple[Ticket, ...]
    """Without their runs and notes: matching needs neither."""
    in_conversation: frozenset[str] = frozenset()
    """The tickets with a message of the conversation that was asked about."""
    archived: Mapping[str, TicketCheckpoint] = field(default_factory=dict[str, TicketCheckpoint])
    """The checkpoints of those that lie in the archive."""


@dataclass(frozen=True, slots=True)
class TicketMessage:
    """One message of a ticket, whichever way it came."""

    run: str
    status: str
    conversation: str
    channel: str
    sender: str
    subject: str
    text: str
    at: float
    erased: bool = False
    reply: str = ""
    """What we said to it last."""


@dataclass(frozen=True, slots=True)
class NewestMessage:
    """The newest message of a ticket, and what became of it."""

    run: str
    status: RunStatus
    message: Message | None
    """None where it was erased."""


@dataclass(frozen=True, slots=True)
class TicketView:
    """A choice of tickets that people keep under a name."""

    name: str
    query: str
    """The filters, as the console's address has them."""
    made_by: str
    made_at: float


@dataclass(frozen=True, slots=True)
class Archived:
    """What archiving a ticket did."""

    messages: int
    """How many messages are kept with it."""
    cleared: int
    """How many keys the active store lost."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What `rebuild` did: how many tickets there are, and what it had to mend."""

    tickets: int = 0
    active: int = 0
    archived: int = 0
    mended: int = 0
    """Tickets whose rows or checkpoints differed from what their events say."""
    cleared: int = 0
    """Checkpoints that belonged to no active ticket."""
    foreign: tuple[str, ...] = ()
    """Keys of the active store that another program took. They were left alone, so tickets whose
    checkpoints would lie there have none."""


def as_fields(value: Any) -> Mapping[str, Any]:
    """A pydantic value as a document: enumerations as words, tuples as lists."""
    fields: Mapping[str, Any] = value.model_dump(mode="json")
    return fields
