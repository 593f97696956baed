"""The services every desk has: `review` decides whether a person looks first, `dispatch` lets the reply leave."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from deskhand.agents.leaving import let_leave
from deskhand.agents.sending import Sending, category_of
from deskhand.config.expiry import ExpirySpec
from deskhand.errors import PermanentError
from deskhand.language.instructions import spoken_to_machine
from deskhand.model.causes import Cause, cause_of_rule, each_once
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import HIDDEN, REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.rules.replies import COMMITMENT, CONTENT
from deskhand.tools.services import ServiceFunction, ServiceResult

BUILT_IN = ("retrieve", "review", "dispatch")

KnownSender = Callable[[Envelope], Awaitable[bool]]
"""Whether the desk has answered this message's sender before."""


async def _unknown(envelope: Envelope) -> bool:
    return False


async def review(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any], known: KnownSender = _unknown
) -> ServiceResult:
    """Pass a confident reply on; ask a person about every other, and about all while nobody said what is confident."""
    reply = _reply(envelope)
    found = category_of(envelope)
    category, confidence = found.get("category"), found.get("confidence")
    why = _why(envelope, settings, category, confidence)
    if settings.get("ask_first_contact") and not await known(envelope):
        why.append((Cause.FIRST_CONTACT, "the desk has never answered this sender"))
    output = {"requires_approval": bool(why), "category": category, "confidence": confidence}
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
    return ServiceResult(output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason, resume=revise_at)


def _why(envelope: Envelope, settings: Mapping[str, Any], category: Any, confidence: Any) -> list[tuple[Cause, str]]:
    """All that speaks for a person, the weightiest first."""
    threshold, always_ask = settings.get("auto_send_at"), settings.get("always_ask")
    if threshold is None and always_ask is None:
        return [(Cause.EVERY_REPLY, "every reply is looked at by a person")]
    found: list[tuple[Cause, str]] = []
    if settings.get("wary") and (words := _to_a_machine(envelope)) is not None:
        found.append((Cause.TO_A_MACHINE, f"the message speaks to a machine: “{words}”"))
    if category in (always_ask or ()):
        found.append((Cause.ALWAYS_ASK, f"{category} is always looked at by a person"))
    if (held := _handed_over(envelope)) is not None:
        found.append(held)
    if threshold is not None and not (isinstance(confidence, int | float) and confidence >= threshold):
        known = f"{confidence:g}" if isinstance(confidence, int | float) else "unknown"
        found.append((Cause.BELOW_THRESHOLD, f"confidence {known} is below {threshold:g}"))
    return found


def review_through(gate: ToolGate, known: KnownSender = _unknown) -> ServiceFunction:
    async def reviewed(envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]) -> ServiceResult:
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
    """How long a reply waits for a person, where the stage says so itself; what leaves by itself keeps its own time."""
    ask, limit = result.ask, settings.get("expire")
    if ask is None or limit is None or ask.expires_in is not None:
        return result
    expiry = ExpirySpec.model_validate(limit)
    fallback = expiry.fallback(ReviewKind(ask.kind))
    return result.changed(ask=ask.changed(expires_in=expiry.after, fallback=fallback, reassign_to=expiry.to))


def dispatch_through(gate: ToolGate, sending: Sending | None = None) -> ServiceFunction:
    sending = sending or Sending()

    async def dispatch(envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]) -> ServiceResult:
        """Deliver the reply once, when nothing keeps it any more; the run ends as sent."""
        result = limited(await let_leave(envelope, _reply(envelope), sending, gate, ctx), settings)
        if result.ask is None or result.ask.kind != ReviewKind.REPLY:
            return result
        return result.changed(resume=envelope.metadata.get("drafted_by"))  # where a reviewer's instruction leads

    return dispatch


def _reply(envelope: Envelope) -> dict[str, Any]:
    reply = envelope.output(REPLY)
    if not isinstance(reply, dict) or not str(reply.get("text", "")).strip():
        raise PermanentError("there is no reply to review or send; a `task: draft` stage before this one writes it")
    return cast(dict[str, Any], reply)


def _to_a_machine(envelope: Envelope) -> str | None:
    """Words of the message or of what is attached to it that are meant for no person."""
    message = envelope.message
    texts: list[str] = []
    if message is not None:
        texts = [message.subject, message.headers.get(HIDDEN, ""), *(one.text or "" for one in message.attachments)]
    return next((found for text in (envelope.raw_input, *texts) if (found := spoken_to_machine(text))), None)


def _handed_over(envelope: Envelope) -> tuple[Cause, str] | None:
    """Why some stage's answer must not pass without a person: it says so itself, or an LLM could not be had for it."""
    for name, output in envelope.outputs.items():
        fields = cast(dict[str, Any], output) if isinstance(output, dict) else {}
        if fields.get("held"):
            return Cause.WITHOUT_LLM, f"{name} was answered without an LLM: {fields['held']}"
        if fields.get("hand_over") is True:
            return Cause.NO_ANSWER, f"{name} hands over: {fields.get('reason') or 'it has no answer'}"
    return None
