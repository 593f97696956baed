"""The services every desk has: `review` decides whether a person looks first, `dispatch` lets the reply leave."""

from collections.abc import Mapping
from typing import Any, cast

from deskhand.agents.leaving import let_leave
from deskhand.agents.sending import Sending, category_of
from deskhand.errors import PermanentError
from deskhand.language.instructions import spoken_to_machine
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.services import ServiceFunction, ServiceResult

BUILT_IN = ("retrieve", "review", "dispatch")


async def review(envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]) -> ServiceResult:
    """Pass a confident reply on; ask a person about every other, and about all while nobody said what is confident."""
    reply = _reply(envelope)
    found = category_of(envelope)
    category, confidence = found.get("category"), found.get("confidence")
    threshold, always_ask = settings.get("auto_send_at"), settings.get("always_ask")
    reason = None
    if threshold is None and always_ask is None:
        reason = "every reply is looked at by a person"
    elif settings.get("wary") and (words := _to_a_machine(envelope)) is not None:
        reason = f"the message speaks to a machine: “{words}”"
    elif (held := _handed_over(envelope)) is not None:
        reason = held
    elif category in (always_ask or ()):
        reason = f"{category} is always looked at by a person"
    elif threshold is not None and not (isinstance(confidence, int | float) and confidence >= threshold):
        known = f"{confidence:g}" if isinstance(confidence, int | float) else "unknown"
        reason = f"confidence {known} is below {threshold:g}"
    output = {"requires_approval": reason is not None, "category": category, "confidence": confidence}
    if reason is None:
        return ServiceResult(output=output)
    ask = Ask(kind=ReviewKind.REPLY, reason=reason, text=str(reply.get("text", "")), payload={"reply": reply})
    revise_at = envelope.metadata.get("drafted_by")
    return ServiceResult(output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason, resume=revise_at)


def review_through(gate: ToolGate) -> ServiceFunction:
    async def reviewed(envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]) -> ServiceResult:
        """The same, and whoever is asked sees what speaks against the reply."""
        result = await review(envelope, ctx, settings)
        if result.ask is None:
            return result
        findings = await gate.look_through(_reply(envelope), ctx)
        marked = {**result.ask.payload, "findings": list(findings)} if findings else result.ask.payload
        return result.changed(ask=result.ask.changed(payload=marked))

    return reviewed


def dispatch_through(gate: ToolGate, sending: Sending | None = None) -> ServiceFunction:
    sending = sending or Sending()

    async def dispatch(envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]) -> ServiceResult:
        """Deliver the reply once, when nothing keeps it any more; the run ends as sent."""
        return await let_leave(envelope, _reply(envelope), sending, gate, ctx)

    return dispatch


def _reply(envelope: Envelope) -> dict[str, Any]:
    reply = envelope.output(REPLY)
    if not isinstance(reply, dict) or not str(reply.get("text", "")).strip():
        raise PermanentError("there is no reply to review or send; a `task: draft` stage before this one writes it")
    return cast(dict[str, Any], reply)


def _to_a_machine(envelope: Envelope) -> str | None:
    """Words of the message or of what is attached to it that are meant for no person."""
    message = envelope.message
    texts = [] if message is None else [message.subject, *(one.text or "" for one in message.attachments)]
    return next((found for text in (envelope.raw_input, *texts) if (found := spoken_to_machine(text))), None)


def _handed_over(envelope: Envelope) -> str | None:
    """Why some stage's answer must not pass without a person: it says so itself, or an LLM could not be had for it."""
    for name, output in envelope.outputs.items():
        fields = cast(dict[str, Any], output) if isinstance(output, dict) else {}
        if fields.get("held"):
            return f"{name} was answered without an LLM: {fields['held']}"
        if fields.get("hand_over") is True:
            return f"{name} hands over: {fields.get('reason') or 'it has no answer'}"
    return None
