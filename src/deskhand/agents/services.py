"""The services every desk has: `review` decides whether a person looks first, `dispatch` lets
the reply leave."""

from collections.abc import Mapping
from typing import Any, cast

from deskhand.agents.leaving import let_leave
from deskhand.agents.reasons import KnownSender, reasons_for, unknown
from deskhand.agents.sending import Sending
from deskhand.config.sections.expiry import ExpirySpec
from deskhand.errors import PermanentError
from deskhand.model.causes import cause_of_rule, each_once
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind
from deskhand.model.understanding import Understanding
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.rules.replies import COMMITMENT, CONTENT
from deskhand.tools.services import ServiceFunction, ServiceResult

BUILT_IN = ("retrieve", "review", "dispatch")


async def review(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any], known: KnownSender = unknown
) -> ServiceResult:
    """Pass a confident reply on; ask a person about every other, and about all while nobody said
    what is confident."""
    reply = _reply(envelope)
    understanding = Understanding.of(envelope)
    why = await reasons_for(envelope, settings, known)
    output = {
        "requires_approval": bool(why),
        "category": understanding.category,
        "confidence": understanding.confidence,
    }
    if settings.get("auto_send_at") is not None:
        output["threshold"] = settings["auto_send_at"]
    if not why:
        return ServiceResult(output=output)
    reason = "; ".join(words for _, words in why)
    ask = Ask(
        kind=ReviewKind.REPLY,
        reason=reason,
        text=str(reply.get("text", "")),
        payload={"reply": reply},
        causes=each_once(cause for cause, _ in why),
    )
    revise_at = envelope.metadata.get("drafted_by")
    return ServiceResult(
        output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason, resume=revise_at
    )


def review_through(gate: ToolGate, known: KnownSender = unknown) -> ServiceFunction:
    async def reviewed(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        """The same, and whoever is asked sees what speaks against the reply."""
        result = limited(await review(envelope, ctx, settings, known), settings)
        if result.ask is None:
            return result
        findings = await gate.look_through(_reply(envelope), ctx)
        if not findings:
            return result
        broken = (COMMITMENT if one.get("rule") == COMMITMENT else CONTENT for one in findings)
        causes = (*result.ask.causes, *map(cause_of_rule, broken))
        payload = {**result.ask.payload, "findings": list(findings)}
        return result.changed(ask=result.ask.changed(payload=payload, causes=each_once(causes)))

    return reviewed


def limited(result: ServiceResult, settings: Mapping[str, Any]) -> ServiceResult:
    """How long a reply waits for a person, where the stage says so itself; what leaves by itself
    keeps its own time."""
    ask, limit = result.ask, settings.get("expire")
    if ask is None or limit is None or ask.expires_in is not None:
        return result
    expiry = ExpirySpec.model_validate(limit)
    fallback = expiry.fallback(ReviewKind(ask.kind))
    return result.changed(
        ask=ask.changed(expires_in=expiry.after, fallback=fallback, reassign_to=expiry.to)
    )


def dispatch_through(gate: ToolGate, sending: Sending | None = None) -> ServiceFunction:
    sending = sending or Sending()

    async def dispatch(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        """Deliver the reply once, when nothing keeps it any more; the run ends as sent."""
        result = limited(await let_leave(envelope, _reply(envelope), sending, gate, ctx), settings)
        if result.ask is None or result.ask.kind != ReviewKind.REPLY:
            return result
        return result.changed(
            resume=envelope.metadata.get("drafted_by")
        )  # where a reviewer's instruction leads

    return dispatch


def _reply(envelope: Envelope) -> dict[str, Any]:
    reply = envelope.output(REPLY)
    if not isinstance(reply, dict) or not str(reply.get("text", "")).strip():
        raise PermanentError(
            "there is no reply to review or send; a `task: draft` stage before this one writes it"
        )
    return cast(dict[str, Any], reply)
