"""What becomes of a ticket after the flow: archived as solved or open, or kept active."""

from collections.abc import Mapping
from typing import Any

from deskhand.agents.triage.parts import DESK, TICKET, TRIAGE_RESULT, TriageParts
from deskhand.errors import PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind, RunStatus
from deskhand.model.ticket_state import TicketState
from deskhand.model.triage import RecommendedAction, TriageResult
from deskhand.outgoing.holding import is_holding_reply
from deskhand.ports import StageContext
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
            output = await _archived(parts, ticket_id, TicketState.OPEN, result.reasoning)
            return _handed_over(output, result)
        if not has_left(envelope):
            return ServiceResult(output=dict(KEPT))
        why = "the answer has left"
        output = await _archived(parts, ticket_id, TicketState.SOLVED, why)
        return ServiceResult(output=output)

    return file


def has_left(envelope: Envelope) -> bool:
    """Whether an answer of this run is with the customer, and is more than the promise of one."""
    reply = envelope.output(REPLY)
    sent = any(
        isinstance(output, dict) and output.get("sent") is True
        for output in envelope.outputs.values()
    )
    if not sent or not isinstance(reply, dict):
        return False
    return not is_holding_reply(str(reply.get("text") or ""), reply.get("language"))


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


def _handed_over(output: dict[str, Any], result: TriageResult) -> ServiceResult:
    ask = Ask(kind=ReviewKind.HAND_OVER, reason=result.reasoning, causes=(Cause.ESCALATED,))
    return ServiceResult(
        output=output,
        outcome=Outcome.TERMINATE,
        status=RunStatus.NEEDS_REVIEW,
        reason=result.reasoning,
        ask=ask,
    )
