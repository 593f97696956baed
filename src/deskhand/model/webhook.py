"""Webhooks: which addresses are told of which events, and what became of each delivery."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from deskhand.model.access import ANY_DESK

if TYPE_CHECKING:
    from deskhand.model.message import Message
    from deskhand.model.run import Review, Run
    from deskhand.model.ticket import Ticket

FROM_DESK_FILE = "desk.yaml:"
"""How the id of an address begins that stands in a desk.yaml; the desk's name follows."""


class WebhookEvent(StrEnum):
    """What an address can be told of."""

    RUN_ENDED = "run.ended"
    """A message has been worked to its end: answered, done, rejected, failed or cancelled."""
    RUN_ANSWERED = "run.answered"
    """A reply to a message has left."""
    REVIEW_OPENED = "review.opened"
    """Something began to wait for a person."""
    REVIEW_CLOSED = "review.closed"
    """It was decided, or ceased to wait for another reason."""
    HANDED_OVER = "conversation.handed_over"
    """The desk cannot go on: a person must answer."""
    SLA_WARNING = "ticket.sla_warning"
    """A ticket's deadline is near."""
    SLA_BREACHED = "ticket.sla_breached"
    """A ticket's deadline has passed."""
    TEST = "webhook.test"
    """Somebody wants to see whether it arrives."""


RUN_ENDED = "run.ended"
REVIEW_OPENED, REVIEW_CLOSED = "review.opened", "review.closed"
TICKET_BREACHED = "ticket.breached"
"""Kinds of facts that triggers write down."""

CHOSEN = tuple(event for event in WebhookEvent if event is not WebhookEvent.TEST)
"""What can be asked for; a test comes to every address."""


class DeliveryState(StrEnum):
    DUE = "due"
    DONE = "done"
    FAILED = "failed"
    """Tried until the last attempt, or not to be tried any more."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that is told of events; its secret is made from a key that is stored nowhere."""

    id: str
    url: str
    desks: tuple[str, ...]
    """Names of desks, or `*` for all."""
    events: tuple[str, ...]
    content: bool
    """Whether it is told who wrote, the subject, and why in words."""
    generation: int
    """Counts its secrets; each rotation gives the next."""
    created_at: float
    created_by: str
    rotated_at: float | None = None
    """While the earlier secret is still used beside the new one."""
    key_check: str = ""
    """A digest of the secret, which says whether the key is still the one it was made from."""
    disabled_at: float | None = None
    disabled_because: str = ""
    failing_since: float | None = None
    """When deliveries began to fail, with none that arrived since."""

    @property
    def is_from_desk_file(self) -> bool:
        return self.id.startswith(FROM_DESK_FILE)

    def touches(self, desk: str) -> bool:
        return ANY_DESK in self.desks or desk in self.desks

    def wants(self, event: str, desk: str, at: float) -> bool:
        """Nobody is told of what was before they asked."""
        return event in self.events and self.touches(desk) and at >= self.created_at


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to one address, or what became of it."""

    endpoint: str
    id: str
    """The event's id, the same at every attempt: whoever gets it twice knows it by this."""
    desk: str
    type: str
    state: DeliveryState
    attempts: int
    created_at: float
    next_at: float
    payload: dict[str, Any] | None = None
    """None once the person was erased whom it was about."""
    tried_at: float | None = None
    status: int | None = None
    """What the last attempt was answered with; None where there was no answer."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of posting once."""

    status: int | None = None
    error: str = ""
    """Empty where it arrived."""
    retry_after: float | None = None
    """Seconds that the other side asks to be left alone for."""

    @property
    def arrived(self) -> bool:
        return not self.error

    @property
    def is_gone(self) -> bool:
        """The other side says that nobody listens there any more."""
        return self.status == 410


@dataclass(frozen=True, slots=True)
class Happened:
    """A fact that a trigger wrote down, with the record it is about as it is now."""

    kind: str
    desk: str
    reference: str
    """The id of a run, a review or a ticket."""
    detail: str
    """What tells it from others of the same record: a status, the number of a ticket's event."""
    at: float
    record: "Run | Review | Ticket"
    message: "Message | None" = None
    deadline: str = ""
    """Of a ticket: which one is meant and until when, as `resolution 1767225600`."""

    @property
    def run_id(self) -> str | None:
        """The run it is about, or whose review it is; None for tickets."""
        if self.kind == RUN_ENDED:
            return self.reference
        return getattr(self.record, "run_id", None)


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """An event as an address may be told of it."""

    id: str
    type: WebhookEvent
    at: float
    data: dict[str, Any]
    content: dict[str, Any]
    """What only those are told who asked for content."""

    def payload(self, *, content: bool, timestamp: str) -> dict[str, Any]:
        data = {**self.data, **(self.content if content else {})}
        return {"type": self.type, "timestamp": timestamp, "data": data}


Describe: TypeAlias = Callable[[Happened], list[ToldEvent]]
"""The events that a fact makes."""
