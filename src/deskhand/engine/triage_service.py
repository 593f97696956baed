"""Triage as one call: a ticket in, what was found out about it back."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol
from weakref import WeakValueDictionary

from deskhand.engine.known_turns import KnownTurns
from deskhand.engine.story import read_records
from deskhand.errors import Conflict, NotFound, StoreUnavailable
from deskhand.mail.message_files import message_from
from deskhand.model.contact import CustomerInfo
from deskhand.model.frozen import Frozen
from deskhand.model.message import HANDED_BACK, REPLY, Message
from deskhand.model.principal import ANONYMOUS
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_request import TICKET_HEADER, HandedIn, TicketRequest, handed_in
from deskhand.model.triage import TicketType, TriageResult
from deskhand.ports import Dispatcher, Store
from deskhand.tickets.service import Tickets

ASSERTED = ("customer_id", "customer_info")
"""What counts only from somebody who may say who a customer is."""

_LOCKS: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()
"""By desk and customer, while somebody holds one or waits for it."""


class TriageAnswer(Frozen):
    """What is known of a ticket by now; without `result` its run is still at work."""

    run_id: str
    status: RunStatus
    ticket_id: str | None = None
    ticket_type: TicketType | None = None
    matching: dict[str, Any] | None = None
    result: TriageResult | None = None
    delivery: str = "none"
    """`handed_back`: the answer is yours to give. `waits`: it waits for a person. `none`."""
    response: str | None = None
    """The answer that was handed back: as a person changed it, where one did."""
    review: str | None = None
    """The review that the answer waits in."""
    ignored: tuple[str, ...] = ()
    """What was given and counts for nothing, since the key may not assert customers."""


class WakingDispatcher(Dispatcher, Protocol):
    def wake(self) -> None:
        """Look for work now."""
        ...


class TriagingDesk(Protocol):
    """What the service needs of a desk that is served."""

    @property
    def store(self) -> Store: ...
    @property
    def dispatcher(self) -> WakingDispatcher: ...
    @property
    def tickets(self) -> Tickets: ...


@dataclass(frozen=True, slots=True)
class TriageService:
    """`await TriageService(desk).triage_ticket(ticket)` for somebody who vouches for customers."""

    desk: TriagingDesk
    vouched_by: str = "TriageService"
    via: str | None = None
    """The key of a caller who may not say who the customer is; None for one who may."""

    async def triage_ticket(
        self, ticket: TicketRequest | Mapping[str, Any], wait: float = 30.0
    ) -> TriageAnswer:
        """Hand the ticket in and wait for its run, at most so many seconds.

        Messages that were taken before are not taken again; where none is new, the answer is that
        of the run that took the last one. NotFound for a ticket of another customer, Conflict
        where no message is from the customer.
        """
        request = TicketRequest.model_validate(ticket)
        if not any(turn.is_customers for turn in request.messages):
            raise Conflict("none of the messages is the customer's; write `role: customer`")
        async with self._lock_of(self._sender(request).author):
            run_id = await self._take(request)
        answer = await self._at_rest(run_id, wait)
        return answer.changed(ignored=self._ignored(request))

    async def answer_of(self, run_id: str) -> TriageAnswer:
        """What is known of a run's ticket by now; NotFound for a run of another kind, or one that
        another key handed in."""
        await self._own_message(run_id)
        run = await self.desk.store.run(run_id)
        records = await read_records(self.desk.store, run_id)
        outputs = records.states[-1].after.outputs if records.states else {}
        placed = outputs.get("ticket") or {}
        decision = outputs.get("supervisor_decision") or {}
        holder = await self.desk.tickets.store.ticket_of_run(run_id)  # after a merge or a split
        answer = TriageAnswer(
            run_id=run_id,
            status=run.status,
            ticket_id=holder or placed.get("ticket_id"),
            ticket_type=decision.get("ticket_type"),
            matching=placed.get("matching"),
        )
        if run.status.is_active or not outputs.get("triage_result"):
            return answer
        result = TriageResult.model_validate(outputs["triage_result"])
        if run.status is RunStatus.ANSWERED:
            reply = outputs.get(REPLY) or {}
            return answer.changed(result=result, delivery="handed_back", response=reply.get("text"))
        review = await self._open_review(run_id)
        if review is None:
            return answer.changed(result=result)
        return answer.changed(result=result, delivery="waits", review=review.id)

    async def report_sent(
        self, run_id: str, text: str | None = None, wait: float = 30.0
    ) -> TriageAnswer:
        """The caller has sent the answer that waits, perhaps as `text`: nobody need decide any
        more, and the ticket is filed. Reporting it again changes nothing.

        Conflict where no answer waits.
        """
        answer = await self.answer_of(run_id)
        if answer.status is RunStatus.ANSWERED:
            return answer
        review = await self._open_review(run_id)
        if review is None or review.kind is not ReviewKind.REPLY:
            raise Conflict(f"no answer of {run_id} waits: its run is {answer.status}")
        await self.desk.store.decide(review.id, _sent(review, text, self.vouched_by))
        self.desk.dispatcher.wake()
        return await self._at_rest(run_id, wait)

    async def _at_rest(self, run_id: str, wait: float) -> TriageAnswer:
        waiting = asyncio.ensure_future(self.desk.dispatcher.wait(run_id))
        await asyncio.wait({waiting}, timeout=wait)
        if not waiting.done():
            waiting.cancel()
        with suppress(asyncio.CancelledError, StoreUnavailable):
            await waiting
        return await self.answer_of(run_id)

    async def _open_review(self, run_id: str) -> Review | None:
        wanted = ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        reviews = await self.desk.store.find_reviews(wanted)
        return reviews[-1] if reviews else None

    async def _own_message(self, run_id: str) -> None:
        message = await self.desk.store.message(run_id)
        is_own = self.via is None or (message is not None and message.principal.via == self.via)
        if message is None or message.channel != HANDED_BACK or not is_own:
            raise NotFound(f"there is no ticket run {run_id!r}")

    # --- the message

    def _lock_of(self, author: str) -> asyncio.Lock:
        """Held from looking for what is known to taking what is new, so that two requests of one
        customer at once are taken one after the other."""
        key = (id(self.desk), author)
        lock = _LOCKS.get(key)
        if lock is None:
            lock = _LOCKS[key] = asyncio.Lock()
        return lock

    async def _take(self, request: TicketRequest) -> str:
        """Hand in what is new; the run that has the request's last message of the customer."""
        known_turns = await self._known_turns(request)
        new = known_turns.new_places(request.messages)
        if not new:
            return known_turns.run_of_last(request.messages)
        message = self._message(request, new, known_turns)
        return (await self.desk.dispatcher.submit(message)).run_id

    def _ignored(self, request: TicketRequest) -> tuple[str, ...]:
        if self.via is None:
            return ()
        return tuple(name for name in ASSERTED if getattr(request, name) is not None)

    def _sender(self, request: TicketRequest) -> Message:
        """A message of this customer without words: whom it would be from."""
        info = request.customer_info or CustomerInfo()
        fields: dict[str, Any] = {
            "id": "none",
            "channel": HANDED_BACK,
            "from": request.customer_id,
            "customer_id": request.customer_id,
            "customer_info": info.model_dump(exclude_none=True),
        }
        if self.via is None:
            return message_from(fields, vouched_by=self.vouched_by)
        return message_from(fields).changed(principal=ANONYMOUS.changed(via=self.via))

    async def _known_turns(self, request: TicketRequest) -> KnownTurns:
        """What was taken before of this customer's words."""
        sender = self._sender(request)
        named = await self._named(request, sender.author)
        ticket_id = None if named is None else named.id
        own = [turn for turn in request.messages if turn.is_customers]
        store = self.desk.tickets.store
        waiting = await store.turns_waiting(sender, own)  # first: what is placed meanwhile is taken
        taken = await store.turns_taken([sender.author], own, ticket=ticket_id)
        placed = {turn.run for turn in taken}
        taken += [turn for turn in waiting if turn.run not in placed]
        if ticket_id is None:
            return KnownTurns(taken)
        return KnownTurns(taken, ticket_id, await self._conversation_of(ticket_id))

    async def _conversation_of(self, ticket_id: str) -> str | None:
        """The conversation in which programs handed in a ticket's newest message; None where that
        came another way."""
        newest = await self.desk.tickets.store.newest_messages([ticket_id])
        message = newest[ticket_id].message if ticket_id in newest else None
        if message is None or handed_in(message) is None:
            return None
        return message.conversation

    async def _named(self, request: TicketRequest, author: str) -> Ticket | None:
        """The ticket that the caller names, a merged one as what it became part of; NotFound where
        it is not the customer's."""
        if request.ticket_id is None:
            return None
        named = await self.desk.tickets.find(request.ticket_id)
        led = await self.desk.tickets.store.lead([named.id])
        ticket = led.get(named.id, named)
        if ticket.customer != author:
            raise NotFound(f"there is no ticket {request.ticket_id}")
        return ticket

    def _message(
        self, request: TicketRequest, new: Sequence[int], known_turns: KnownTurns
    ) -> Message:
        turns = [request.messages[place] for place in new]
        said = [turn for turn in turns if turn.is_customers]
        body = "\n\n".join(turn.content for turn in said)
        times = [turn.timestamp for turn in said if turn.timestamp is not None]
        before = sum(turn.is_customers for turn in request.messages) - len(said)
        sender = self._sender(request)
        name = [sender.author, known_turns.named or "", str(before), body, *map(str, times[-1:])]
        digest = sha256("\n".join(name).encode()).hexdigest()[:32]
        kept = HandedIn(
            ticket_id=known_turns.named,
            messages=request.messages,
            taken=tuple(new),
            metadata=request.metadata,
        )
        message = sender.changed(
            id=f"triage-{digest}",
            conversation=known_turns.conversation(request.messages) or f"triage-{digest}",
            body=body,
            headers={**sender.headers, TICKET_HEADER: kept.model_dump_json()},
        )
        return message.changed(received_at=_not_in_future(times[-1])) if times else message


def _sent(review: Review, text: str | None, by: str) -> Verdict:
    shown = str((review.payload.get(REPLY) or {}).get("text") or "")
    as_shown = Verdict(Decision.APPROVE, by, review.version, review.payload_hash, reported=True)
    if text is None or text.strip() == shown.strip():
        return as_shown
    return replace(as_shown, decision=Decision.EDIT, edit={"text": text})


def _not_in_future(at: datetime) -> datetime:
    return min(at, datetime.now(at.tzinfo))
