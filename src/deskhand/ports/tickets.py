"""Tickets: their events and archive, and the store of those that are worked on."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Protocol

from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, Run, RunStatus
from deskhand.model.ticket import (
    CustomerTickets,
    NewestMessage,
    Ticket,
    TicketCheckpoint,
    TicketEvent,
    TicketMessage,
    TicketView,
)
from deskhand.model.ticket_request import TakenTurn, TicketTurn
from deskhand.model.ticket_state import TicketFilter, TicketOrder


class TicketDeadline(Protocol):
    @property
    def at(self) -> float: ...
    @property
    def target(self) -> str: ...
    @property
    def warn_at(self) -> float: ...


class TicketArchive(Protocol):
    """Where tickets lie that are not worked on: with their checkpoint and their messages."""

    async def save_ticket(self, ticket: Ticket, checkpoint: TicketCheckpoint) -> bool:
        """Keep the checkpoint of a ticket that is archived, and of every ticket the words by which
        it is found; False where the ticket has changed since."""
        ...

    async def save_messages(self, ticket: Ticket) -> int:
        """Say which runs' messages are the ticket's; returns how many those are."""
        ...


class TicketStore(TicketArchive, Protocol):
    """One desk's tickets: the events, which are the truth, and what is told from them."""

    desk: str

    async def of_customer(
        self,
        customers: Sequence[str],
        *,
        conversation: str = "",
        sought: Collection[str] = (),
        limit: int = 200,
    ) -> CustomerTickets:
        """The tickets of a customer that are not merged, the latest changed first; the version is
        that of the first name. Of more than `limit` those of the conversation and those with
        `sought` ids are given before others, and unfinished ones before those that are over."""
        ...

    async def write(
        self,
        customer: str,
        version: int,
        events: Sequence[TicketEvent],
        checkpoints: Mapping[str, TicketCheckpoint],
        vectors: Mapping[str, bytes] | None = None,
        deadlines: Mapping[str, TicketDeadline | None] | None = None,
    ) -> None:
        """Append events and tell the tickets' rows from them, in one transaction.

        TicketsChanged when the customer's version is another by now. `checkpoints` are those of
        the changed tickets after the events, `vectors` those of messages, by run. A ticket that
        `deadlines` does not name keeps its deadline until somebody counts it.
        """
        ...

    async def ticket(self, ticket_id: str) -> Ticket:
        """With its runs and notes; NotFound for an id that no ticket of the desk has."""
        ...

    async def version(self, customer: str) -> int: ...

    async def ticket_of_run(self, run_id: str) -> str | None: ...

    async def lead(self, ticket_ids: Sequence[str]) -> dict[str, Ticket]:
        """The tickets that these ids lead to, merged ones to what they are part of now."""
        ...

    async def events(self, ticket_id: str) -> list[TicketEvent]: ...

    async def change(self, change: str) -> list[TicketEvent]:
        """The events of one merge, split or undo."""
        ...

    async def find(
        self,
        wanted: TicketFilter,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        order: TicketOrder = TicketOrder.CHANGED,
    ) -> list[Ticket]:
        """`after` is the id of the last one before, and its `changed_at`, or its deadline where
        that orders the list."""
        ...

    async def count(self, wanted: TicketFilter) -> int: ...

    async def messages(self, runs: Sequence[str]) -> list[tuple[str, Message, bytes | None]]:
        """Messages of these runs with their vectors, oldest first; erased ones are left out."""
        ...

    async def turns_taken(
        self, customers: Sequence[str], turns: Sequence[TicketTurn], *, ticket: str | None = None
    ) -> list[TakenTurn]:
        """Where words of these turns were taken from a customer before, oldest first, whatever the
        number of his tickets. Of words that he said very often, the newest are given, those of
        `ticket` and of the turns' times before others."""
        ...

    async def turns_waiting(self, sender: Message, turns: Sequence[TicketTurn]) -> list[TakenTurn]:
        """Where words of these turns were handed in by programs for this sender and lie in no
        ticket yet, since nobody has looked at them; the ticket is the conversation then."""
        ...

    async def timeline(self, ticket_id: str) -> list[TicketMessage]:
        """A ticket's messages as people read them, oldest first."""
        ...

    async def take_up(
        self, run_id: str, runs: Sequence[str]
    ) -> tuple[Run | None, list[ConversationTurn]]:
        """Let a run take over what waits in other conversations of its ticket, whose runs these
        are: the newest question to the customer, and drafts, which become stale. Asked again, it
        returns the same."""
        ...

    async def join_hand_over(self, run_id: str, runs: Sequence[str], by: str) -> str | None:
        """The open hand-over of one of these runs, told that this run's message belongs to it too;
        None without one."""
        ...

    async def waits_for_person(self, runs: Sequence[str]) -> bool:
        """Whether a hand-over of one of these runs is open, or an answer that it promised."""
        ...

    async def checkpoint(self, ticket_id: str) -> TicketCheckpoint | None:
        """What the archive holds of it."""
        ...

    async def restore(self, ticket: Ticket, checkpoint: TicketCheckpoint, version: int) -> bool:
        """Write a ticket's row anew from what its events say; whether that changed anything.

        TicketsChanged when the customer's version is another by now.
        """
        ...

    async def newest_messages(self, ticket_ids: Sequence[str]) -> dict[str, NewestMessage]:
        """The newest message of each ticket."""
        ...

    async def facets(self) -> dict[str, list[str]]:
        """The groups, assignees and categories that tickets have."""
        ...

    async def answers_left(
        self, runs: Sequence[str] | None = None, *, limit: int = 500
    ) -> list[tuple[str, str, RunStatus, float]]:
        """Ticket, run, status and time of answers that no event of their ticket tells yet."""
        ...

    async def last_answered(self, runs: Sequence[str]) -> tuple[str, float] | None:
        """Of these runs, the one whose answer left last by the tickets' events, and when."""
        ...

    async def reply_of(self, run_id: str) -> str:
        """The last text that left to the customer in a run; empty where there is none any more."""
        ...

    async def replies_of(self, runs: Sequence[str]) -> dict[str, str]:
        """The same of several runs; those are left out in which nothing left."""
        ...

    async def untimed(self, *, limit: int = 500) -> list[Ticket]:
        """Tickets that changed since their deadline was counted."""
        ...

    async def forget_deadlines(self) -> None:
        """Have all deadlines counted again."""
        ...

    async def keep_deadline(self, ticket: Ticket, deadline: TicketDeadline | None) -> bool:
        """False where the ticket has changed since it was read."""
        ...

    async def near_deadlines(self, now: float, *, limit: int = 500) -> list[Ticket]:
        """Tickets that are late or soon will be."""
        ...

    async def order_reviews(self, runs: Sequence[str] | None = None) -> int:
        """Tell open reviews of these runs, or of all, when their tickets are due."""
        ...

    async def to_survey(
        self, solved_before: float, solved_after: float, *, limit: int = 50
    ) -> list[Ticket]:
        """Solved tickets whose customers were never asked how it was."""
        ...

    async def thumbs(self, since: float, *, limit: int = 500) -> list[tuple[str, str, float]]:
        """Tickets that are over and were not rated, with `up` or `down` from a chat and when."""
        ...

    async def satisfaction(self) -> dict[str, int]:
        """How many customers were asked, and how many said `good` and `bad`."""
        ...

    async def views(self) -> list[TicketView]: ...

    async def save_view(self, name: str, query: str, by: str) -> TicketView: ...

    async def remove_view(self, name: str) -> None: ...

    async def ids(self, *, after: str = "", limit: int = 500) -> list[str]:
        """The ids of all tickets, by their events."""
        ...


class ActiveTickets(Protocol):
    """The checkpoints of tickets that are worked on. It may lose them: they are told from the
    events again. StoreUnavailable while it is away.

    A `customer_id` may be written with its kind (`customer:CUST-001`, `address:ann@example.com`),
    as tickets have it, or as the bare number of a customer (`CUST-001`).
    """

    async def scan_activated_ticket_ids(self, customer_id: str) -> list[str]:
        """The tickets of this customer that have a checkpoint here."""
        ...

    async def get_raw_checkpoint_data(
        self, customer_id: str, ticket_id: str
    ) -> dict[str, Any] | None: ...

    async def delete_ticket_checkpoints(self, customer_id: str, ticket_id: str) -> int:
        """Returns how many keys were deleted."""
        ...

    async def put_checkpoint(
        self, customer_id: str, ticket_id: str, data: Mapping[str, Any]
    ) -> None: ...

    async def checkpoints_of(self, customer_id: str) -> dict[str, dict[str, Any]]:
        """All of one customer's, by ticket."""
        ...

    def all_checkpoints(self) -> AsyncIterator[tuple[str, str]]:
        """Customer and ticket of every checkpoint. Keys of other programs are passed by."""
        ...

    async def foreign_keys(self) -> list[str]:
        """Keys where checkpoints should be named, and where another program has something."""
        ...

    async def close(self) -> None: ...
