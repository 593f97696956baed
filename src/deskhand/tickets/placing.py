"""Bringing a message to its ticket: one that it continues, or a new one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from deskhand.language.ticket_facts import follow_up_score
from deskhand.model.contact import Contact
from deskhand.model.message import Message
from deskhand.model.ticket import (
    DESK,
    CustomerTickets,
    MessageFacts,
    Ticket,
    TicketCheckpoint,
    new_ticket_id,
)
from deskhand.model.ticket_match import MatchResult, PlacedMessage
from deskhand.model.ticket_request import handed_in
from deskhand.tickets.candidates import Candidate, Incoming
from deskhand.tickets.checkpoints import grow, read_text
from deskhand.tickets.fold import fold
from deskhand.tickets.matching import is_candidate, match, match_by_signs, reachable
from deskhand.tickets.message_hints import cited_in, facts_of, follow_up_words, told_matter
from deskhand.tickets.model_matching import AskedMatch, TicketMatcher
from deskhand.tickets.rules import joined, opened
from deskhand.tickets.service import Tickets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deskhand.ports import Contacts, Embeds

ReadsContinuations = Callable[[str, Sequence[str]], Sequence[float]]
"""How likely a message continues each of some tickets, which are given as texts."""
MOST_READ = 6
"""Tickets that are read with a message: the newest, each costs some milliseconds."""

AnsweredRun = Callable[[Message], Awaitable[str | None]]
"""The run whose reply a mail answers, by the Message-ID that we gave the reply."""


async def answers_nothing(message: Message) -> str | None:
    """For channels whose messages carry no Message-ID of ours."""
    return None


@dataclass(frozen=True, slots=True)
class TicketCustomer:
    """Under which names the tickets of a sender stand; new ones stand under the first."""

    names: tuple[str, ...]
    is_proven: bool

    @property
    def name(self) -> str:
        return self.names[0]


def customer_of(message: Message, contact: Contact | None) -> TicketCustomer:
    """The customer who wrote; `contact` is what the company wrote down about a proven address.

    Somebody for whom nobody vouched, or only a forwarder, is a customer of his own: nobody else's
    tickets are ever looked at for him.
    """
    principal = message.principal
    if not principal.may_act:
        return TicketCustomer((message.author,), is_proven=False)
    known_id = None if contact is None else contact.customer_id
    customer_id = principal.customer_id or known_id
    if customer_id is None:
        return TicketCustomer((principal.name,), is_proven=True)
    names = [f"customer:{customer_id}"]
    if principal.address is not None and customer_id == known_id:
        names.append(f"address:{principal.address.strip().lower()}")
    return TicketCustomer(tuple(names), is_proven=True)


@dataclass(frozen=True, slots=True)
class TicketPlacing:
    """Finds the ticket of each message among its customer's own, or opens one."""

    tickets: Tickets
    contacts: "Contacts | None" = None
    embedder: "Embeds | None" = None
    answered_run: AnsweredRun = answers_nothing
    continuations: ReadsContinuations | None = None
    matcher: TicketMatcher | None = None
    """Asks the desk's model; None for a desk without one."""

    async def place(
        self, run_id: str, message: Message, *, without_model: bool = False
    ) -> PlacedMessage:
        """The message's ticket. Asked again for the same run, it is the same one.

        Opening and joining are compare-and-set for the customer: whoever was slower reads the
        customer's tickets again, and so finds the ticket that the faster one opened.
        """
        placed = await self._placed_before(run_id)
        if placed is not None:
            return placed
        customer = await self._customer(message)
        vector = await self._vector(message)
        raw = None if vector is None else vector.astype("<f2").tobytes()
        facts = facts_of(run_id, message, raw)

        async def attempt() -> PlacedMessage:
            seen = await self.tickets.seen_by(customer.names, facts.conversation)
            incoming = await self._incoming(message, customer, facts, vector)
            unseen = incoming.tickets_named - {ticket.id for ticket in seen.tickets}
            if unseen:  # he has more tickets than are read at once
                seen = await self.tickets.seen_by(customer.names, facts.conversation, unseen)
            candidates = await self._candidates(message, incoming.named, customer, seen)
            asked = await self._asked(run_id, incoming, candidates, without_model)
            result = asked.result or match(incoming, candidates)
            chosen = next((t for t in seen.tickets if t.id == result.matched_ticket_id), None)
            if chosen is not None and result.joins:
                placed = await self._join(chosen, result, facts, seen, customer)
            else:
                placed = await self._open(result, facts, seen, customer)
            return placed.changed(answered=asked.answered)

        return await self.tickets.retried(attempt)

    async def _asked(
        self,
        run_id: str,
        incoming: Incoming,
        candidates: Sequence[Candidate],
        without_model: bool,
    ) -> AskedMatch:
        """What the desk's model says; nothing where harder evidence decides, or there is none to
        ask."""
        if self.matcher is None or match_by_signs(incoming, candidates) is not None:
            return AskedMatch()
        own = reachable(incoming, candidates)[:MOST_READ]
        return await self.matcher.match(run_id, incoming, own, without_model=without_model)

    async def _placed_before(self, run_id: str) -> PlacedMessage | None:
        """What an earlier attempt of the same run did, mended where it was cut short."""
        ticket_id = await self.tickets.store.ticket_of_run(run_id)
        if ticket_id is None:
            return None
        events = await self.tickets.store.events(ticket_id)
        ticket = fold(events)
        joining = next((event for event in events if event.run == run_id), None)
        recorded = {} if joining is None or joining.matching is None else joining.matching
        await self.tickets.mend(ticket.customer)
        result = MatchResult.model_validate(recorded)
        return PlacedMessage(
            ticket_id=ticket_id,
            thread_id=ticket.thread_id,
            is_new=not result.joins,
            matching=result,
        )

    async def _customer(self, message: Message) -> TicketCustomer:
        address = message.principal.address
        contact = None
        if self.contacts is not None and address and message.principal.may_act:
            contact = await self.contacts.known(address)
        return customer_of(message, contact)

    async def _vector(self, message: Message) -> "NDArray[np.float32] | None":
        if self.embedder is None:
            return None
        vectors = await asyncio.to_thread(self.embedder.embed, [told_matter(message)], "query")
        return vectors[0] if vectors[0].any() else None

    async def _incoming(
        self,
        message: Message,
        customer: TicketCustomer,
        facts: MessageFacts,
        vector: "NDArray[np.float32] | None",
    ) -> Incoming:
        cited, answered = await self._led_to(message, customer)
        request = handed_in(message)
        return Incoming(
            conversation=message.conversation,
            is_proven=customer.is_proven,
            named=None if request is None else request.ticket_id,
            cited=cited,
            references=facts.references,
            follow_up=follow_up_words(message),
            answered=answered,
            vector=vector,
            comes_back=follow_up_score(vector),
            text=told_matter(message),
        )

    async def _led_to(
        self, message: Message, customer: TicketCustomer
    ) -> tuple[tuple[str, ...], str | None]:
        """The customer's own tickets that the message cites, and the one that it answers."""
        run = await self.answered_run(message)
        answered = None if run is None else await self.tickets.store.ticket_of_run(run)
        named = [*cited_in(message), *filter(None, [answered])]
        if not named:
            return (), None
        led = await self.tickets.store.lead(named)
        own = {
            first: ticket.id for first, ticket in led.items() if ticket.customer in customer.names
        }
        cited = tuple(own[first] for first in cited_in(message) if first in own)
        return cited, own.get(answered or "")

    async def _candidates(
        self,
        message: Message,
        named: str | None,
        customer: TicketCustomer,
        seen: CustomerTickets,
    ) -> Sequence[Candidate]:
        now = self.tickets.now()
        possible = []
        for ticket in seen.tickets:
            within = inf if ticket.id == named else self.tickets.reopen_within
            if is_candidate(ticket, now, within):
                possible.append(ticket)
        checkpoints = await self.tickets.checkpoints(customer.names, possible, seen)
        likely = await self._likely(message, list(checkpoints.values()))
        return [
            Candidate(
                ticket,
                checkpoints[ticket.id],
                ticket.id in seen.in_conversation,
                likely.get(ticket.id),
            )
            for ticket in possible
        ]

    async def _likely(
        self, message: Message, checkpoints: Sequence[TicketCheckpoint]
    ) -> dict[str, float]:
        """How likely the message continues the newest of these tickets, by ticket."""
        newest = sorted(checkpoints, key=lambda checkpoint: -checkpoint.newest_at)[:MOST_READ]
        if self.continuations is None or not newest:
            return {}
        texts = [read_text(checkpoint) for checkpoint in newest]
        chances = await asyncio.to_thread(self.continuations, told_matter(message), texts)
        return {
            checkpoint.ticket_id: chance for checkpoint, chance in zip(newest, chances, strict=True)
        }

    async def _join(
        self,
        ticket: Ticket,
        result: MatchResult,
        facts: MessageFacts,
        seen: CustomerTickets,
        customer: TicketCustomer,
    ) -> PlacedMessage:
        events = joined(ticket, facts.run, result, DESK, self.tickets.now())
        checkpoints = await self.tickets.checkpoints(customer.names, [ticket], seen)
        grown = {ticket.id: grow(checkpoints[ticket.id], facts)}
        await self.tickets.record(
            customer.name, seen.version, [ticket], events, grown, _vectors(facts)
        )
        return PlacedMessage(
            ticket_id=ticket.id, thread_id=ticket.thread_id, is_new=False, matching=result
        )

    async def _open(
        self,
        result: MatchResult,
        facts: MessageFacts,
        seen: CustomerTickets,
        customer: TicketCustomer,
    ) -> PlacedMessage:
        ticket = Ticket(id=new_ticket_id(), customer=customer.name)
        subject = facts.subject or " ".join(facts.excerpt.split())[:120]
        at = self.tickets.now()
        events = opened(ticket.id, ticket.customer, subject, facts.run, result, DESK, at)
        begun = TicketCheckpoint(
            ticket_id=ticket.id, customer=ticket.customer, number=0, state=ticket.state
        )
        grown = {ticket.id: grow(begun, facts)}
        await self.tickets.record(
            customer.name, seen.version, [ticket], events, grown, _vectors(facts)
        )
        return PlacedMessage(
            ticket_id=ticket.id, thread_id=ticket.thread_id, is_new=True, matching=result
        )


def _vectors(facts: MessageFacts) -> dict[str, bytes]:
    return {} if facts.vector is None else {facts.run: facts.vector}
