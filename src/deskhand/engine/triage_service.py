"""Triage as one call: a ticket in, what was found out about it back."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol

from pydantic import AwareDatetime, Field

from deskhand.engine.story import read_records
from deskhand.errors import Conflict, NotFound, StoreUnavailable
from deskhand.mail.message_files import message_from
from deskhand.model.contact import CustomerInfo
from deskhand.model.frozen import Frozen
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState, RunStatus
from deskhand.model.triage import TicketType, TriageResult
from deskhand.ports import Dispatcher, Store
from deskhand.tickets.service import Tickets

MOST_MESSAGES = 100
CUSTOMER = ("customer", "user")
"""Roles under which the customer himself speaks."""


class TicketTurn(Frozen):
    role: str = Field(pattern=r"^(customer|user|agent|assistant|system)$")
    content: str = Field(min_length=1, max_length=100_000, pattern=r"\S")
    timestamp: AwareDatetime | None = None


class TicketRequest(Frozen):
    """A ticket as a program hands it in."""

    customer_id: str = Field(min_length=1, max_length=1000, pattern=r"\S")
    ticket_id: str | None = Field(default=None, max_length=200)
    customer_info: CustomerInfo | None = None
    messages: tuple[TicketTurn, ...] = Field(min_length=1, max_length=MOST_MESSAGES)
    metadata: dict[str, Any] = Field(default_factory=dict)


class TriageAnswer(Frozen):
    """What is known of a ticket by now; without `result` its run is still at work."""

    run_id: str
    status: RunStatus
    ticket_id: str | None = None
    ticket_type: TicketType | None = None
    matching: dict[str, Any] | None = None
    result: TriageResult | None = None
    delivery: str = "none"
    """`sent`, `waits` for a person, or `none`."""
    review: str | None = None
    """The review that the answer waits in."""


class TriagingDesk(Protocol):
    """What the service needs of a desk that is served."""

    @property
    def store(self) -> Store: ...
    @property
    def dispatcher(self) -> Dispatcher: ...
    @property
    def tickets(self) -> Tickets: ...


@dataclass(frozen=True, slots=True)
class TriageService:
    """`await TriageService(desk).triage_ticket(ticket)` for somebody who vouches for customers."""

    desk: TriagingDesk
    vouched_by: str = "TriageService"

    async def triage_ticket(
        self, ticket: TicketRequest | Mapping[str, Any], wait: float = 30.0
    ) -> TriageAnswer:
        """Hand the ticket in and wait for its run, at most so many seconds.

        The same messages again lead to the same run. NotFound for a ticket of another customer,
        Conflict where no message is from the customer.
        """
        request = TicketRequest.model_validate(ticket)
        message = await self._message(request)
        accepted = await self.desk.dispatcher.submit(message)
        waiting = asyncio.ensure_future(self.desk.dispatcher.wait(accepted.run_id))
        await asyncio.wait({waiting}, timeout=wait)
        if not waiting.done():
            waiting.cancel()
        with suppress(asyncio.CancelledError, StoreUnavailable):
            await waiting
        return await self.answer_of(accepted.run_id)

    async def answer_of(self, run_id: str) -> TriageAnswer:
        """What is known of a run's ticket by now."""
        run = await self.desk.store.run(run_id)
        records = await read_records(self.desk.store, run_id)
        outputs = records.states[-1].after.outputs if records.states else {}
        placed = outputs.get("ticket") or {}
        decision = outputs.get("supervisor_decision") or {}
        answer = TriageAnswer(
            run_id=run_id,
            status=run.status,
            ticket_id=placed.get("ticket_id"),
            ticket_type=decision.get("ticket_type"),
            matching=placed.get("matching"),
        )
        if run.status.is_active or not outputs.get("triage_result"):
            return answer
        result = TriageResult.model_validate(outputs["triage_result"])
        review = await self._open_review(run_id)
        delivery = "none" if review is None else "waits"
        if run.status in (RunStatus.SENT, RunStatus.ANSWERED):
            delivery = "sent"
        return answer.changed(result=result, delivery=delivery, review=review)

    async def _open_review(self, run_id: str) -> str | None:
        wanted = ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        reviews = await self.desk.store.find_reviews(wanted)
        return reviews[-1].id if reviews else None

    async def _message(self, request: TicketRequest) -> Message:
        said = [turn for turn in request.messages if turn.role in CUSTOMER]
        if not said:
            raise Conflict("none of the messages is the customer's; write `role: customer`")
        known = await self._known(request)
        new = [turn for turn in said if turn.content.strip() not in known] or said
        body = "\n\n".join(turn.content for turn in new)
        name = f"{request.customer_id}\n{request.ticket_id or ''}\n{body}"
        times = [turn.timestamp for turn in new if turn.timestamp is not None]
        if times:
            name += str(times[-1])
        digest = sha256(name.encode()).hexdigest()[:32]
        info = request.customer_info or CustomerInfo()
        fields: dict[str, Any] = {
            "id": f"triage-{digest}",
            "channel": "chat",
            "conversation": f"triage-{digest}",
            "from": request.customer_id,
            "subject": request.ticket_id or "",
            "body": body,
            "customer_id": request.customer_id,
            "customer_info": info.model_dump(exclude_none=True),
        }
        if times:
            fields["received_at"] = _not_in_future(times[-1])
        return message_from(fields, vouched_by=self.vouched_by)

    async def _known(self, request: TicketRequest) -> set[str]:
        """What the named ticket holds already; NotFound where it is not the customer's."""
        if request.ticket_id is None:
            return set()
        ticket = await self.desk.tickets.find(request.ticket_id)
        if ticket.customer != f"customer:{request.customer_id}":
            raise NotFound(f"there is no ticket {request.ticket_id}")
        timeline = await self.desk.tickets.store.timeline(ticket.id)
        known: set[str] = set()
        for message in timeline:
            known.update(part.strip() for part in [message.text, *message.text.split("\n\n")])
        return known


def _not_in_future(at: datetime) -> datetime:
    return min(at, datetime.now(at.tzinfo))
