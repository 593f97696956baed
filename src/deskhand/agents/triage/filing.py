"""What becomes of a ticket after the flow: archived as solved or open, or kept active."""

from collections.abc import Mapping
from typing import Any

from deskhand.agents.triage.asking import settle_all, settle_run
from deskhand.agents.triage.parts import TICKET, TRIAGE_RESULT, TriageParts
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
from deskhand.tools.services import ServiceFunction, ServiceResult

KEPT = {"ticket_persisted": False, "messages_saved": 0, "redis_keys_deleted": 0}
"""The ticket stays active: nothing was archived and nothing cleared."""


def file_through(parts: TriageParts) -> ServiceFunction:
    """The service `file`. The archive comes first, then the active store is cleared."""

    async def file(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        placed, result = envelope.output(TICKET), _result(envelope)
        if not isinstance(placed, dict):
            raise PermanentError("no `service: match_ticket` stage has placed the message")
        ticket_id = str(placed["ticket_id"])
        if result.recommended_action is RecommendedAction.ESCALATE_HUMAN:
            await settle_all(parts, ticket_id, AskStatus.ESCALATED, result.reasoning[:500])
            output = await _archived(parts, ticket_id, TicketState.OPEN, result.reasoning)
            ticket = await parts.tickets.find(ticket_id)
            held_by = await parts.tickets.store.join_hand_over(ctx.run_id, ticket.runs, DESK)
            if held_by is not None:
                return _joined(output, held_by)
            return _handed_over(output, result)
        reply = reply_left(envelope)
        if reply is None:
            return ServiceResult(output=dict(KEPT))
        answer = None if is_holding_reply(*reply) else reply[0]
        ticket = await settle_run(parts, ticket_id, ctx.run_id, answer)
        if answer is None or open_asks(ticket):
            return ServiceResult(output={**KEPT, "open_asks": len(open_asks(ticket))})
        why = "the answer has left"
        output = await _archived(parts, ticket_id, TicketState.SOLVED, why)
        return ServiceResult(output=output)

    return file


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


async def _archived(
    parts: TriageParts, ticket_id: str, state: TicketState, why: str
) -> dict[str, Any]:
    archived = await parts.tickets.archive(ticket_id, state, DESK, why[:500])
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
