"""What becomes of a ticket after the flow: archived as solved or open, or kept active."""

from collections.abc import Mapping
from typing import Any

from deskhand.agents.triage.asking import settle_all, settle_run
from deskhand.agents.triage.parts import TRIAGE_RESULT, TriageParts, ticket_id_in
from deskhand.errors import PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind, RunStatus
from deskhand.model.ticket import DESK
from deskhand.model.ticket_state import AskStatus, TicketState
from deskhand.model.triage import RecommendedAction, TriageResult
from deskhand.outgoing.holding import is_holding_reply
from deskhand.ports import StageContext
from deskhand.tickets.asks import open_asks
from deskhand.tickets.handling import person_has
from deskhand.tickets.rules import TicketRule, moved_to, solved_by_answer
from deskhand.tools.services import ServiceFunction, ServiceResult

KEPT = {"ticket_persisted": False, "messages_saved": 0, "redis_keys_deleted": 0}
"""The ticket stays active: nothing was archived and nothing cleared."""


def file_through(parts: TriageParts) -> ServiceFunction:
    """The service `file`. The archive comes first, then the active store is cleared."""

    async def file(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        result = _result(envelope)
        ticket_id = await ticket_id_in(parts, envelope, ctx.run_id)
        if ticket_id is None:
            raise PermanentError("no `service: match_ticket` stage has placed the message")
        if result.recommended_action is RecommendedAction.ESCALATE_HUMAN:
            return await _file_for_person(parts, ticket_id, ctx.run_id, result)
        reply = reply_left(envelope)
        if reply is None:
            return ServiceResult(output=dict(KEPT))
        output = await _file_answered(parts, ticket_id, ctx.run_id, reply)
        return ServiceResult(output=output)

    return file


async def _file_for_person(
    parts: TriageParts, ticket_id: str, run_id: str, result: TriageResult
) -> ServiceResult:
    """Give the ticket to a person, with one hand-over however often its customer writes."""
    tickets, why = parts.tickets, result.reasoning[:500]
    await settle_all(parts, ticket_id, AskStatus.ESCALATED, why)
    output = await _archived(
        parts,
        ticket_id,
        lambda ticket: moved_to(ticket, TicketState.OPEN, DESK, why, tickets.now()),
    )
    ticket = await tickets.find(ticket_id)
    held_by = await tickets.store.join_hand_over(run_id, ticket.runs, DESK)
    if held_by is not None:
        return _joined(output, held_by)
    return _handed_over(output, result)


async def _file_answered(
    parts: TriageParts, ticket_id: str, run_id: str, reply: tuple[str, str | None]
) -> dict[str, Any]:
    """Solve the ticket whose answer has left, unless something else in it waits.

    What a person has stays that person's, and what a person ended meanwhile stays so.
    """
    tickets, why = parts.tickets, "the answer has left"
    answer = None if is_holding_reply(*reply) else reply[0]
    ticket = await settle_run(parts, ticket_id, run_id, answer)
    if ticket.state.is_active:
        left = len(open_asks(ticket))
        if answer is None or left:
            return {**KEPT, "open_asks": left}
        if await person_has(tickets, ticket):
            return {**KEPT, "waits_for_person": True}
    return await _archived(
        parts, ticket_id, lambda ticket: solved_by_answer(ticket, DESK, why, tickets.now())
    )


def reply_left(envelope: Envelope) -> tuple[str, str | None] | None:
    """The words and the language of this run's reply; None while it is not with the customer."""
    reply = envelope.output(REPLY)
    sent = any(
        isinstance(output, dict) and output.get("sent") is True
        for output in envelope.outputs.values()
    )
    if not sent or not isinstance(reply, dict):
        return None
    return str(reply.get("text") or ""), reply.get("language")


def _result(envelope: Envelope) -> TriageResult:
    result = envelope.output(TRIAGE_RESULT)
    if not isinstance(result, dict):
        raise PermanentError("no specialist has looked at the ticket; nothing can be filed")
    return TriageResult.model_validate(result)


async def _archived(parts: TriageParts, ticket_id: str, events_of: TicketRule) -> dict[str, Any]:
    archived = await parts.tickets.archive(ticket_id, events_of)
    return {
        "ticket_persisted": True,
        "messages_saved": archived.messages,
        "redis_keys_deleted": archived.cleared,
    }


def _joined(output: dict[str, Any], review: str) -> ServiceResult:
    """A person has the ticket already: one hand-over holds all that its customer writes."""
    reason = f"the hand-over that is open for this ticket holds this message, too: {review}"
    output = {**output, "hand_over": review}
    return ServiceResult(output=output, status=RunStatus.DONE, reason=reason)


def _handed_over(output: dict[str, Any], result: TriageResult) -> ServiceResult:
    ask = Ask(kind=ReviewKind.HAND_OVER, reason=result.reasoning, causes=(Cause.ESCALATED,))
    return ServiceResult(
        output=output,
        outcome=Outcome.TERMINATE,
        status=RunStatus.NEEDS_REVIEW,
        reason=result.reasoning,
        ask=ask,
    )
