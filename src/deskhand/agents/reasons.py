"""Why a person looks at a reply before it leaves, by what a review stage says: the same for
every way a reply takes."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

from deskhand.agents.sending import ReasonsFor
from deskhand.language.instructions import spoken_to_machine
from deskhand.model.causes import Cause
from deskhand.model.envelope import Envelope
from deskhand.model.message import HIDDEN
from deskhand.model.spec import AgentSpec, always_ask_in
from deskhand.model.understanding import Understanding

REVIEW = "review"
"""The service whose stages say what a person looks at."""

KnownSender = Callable[[Envelope], Awaitable[bool]]
"""Whether the desk has answered this message's sender before."""


async def unknown(envelope: Envelope) -> bool:
    return False


async def reasons_for(
    envelope: Envelope, settings: Mapping[str, Any], known: KnownSender = unknown
) -> list[tuple[Cause, str]]:
    """All that speaks for a person, the weightiest first; all replies while nobody said what is
    confident."""
    why = _why(envelope, settings, Understanding.of(envelope))
    if settings.get("ask_first_contact") and not await known(envelope):
        why.append((Cause.FIRST_CONTACT, "the desk has never answered this sender"))
    return why


def reasons_in(stages: Iterable[AgentSpec], known: KnownSender = unknown) -> ReasonsFor:
    """What the review stages of a flow ask, for a reply that does not come by them."""
    return partial(
        _all_reasons, [stage.settings for stage in stages if stage.service == REVIEW], known
    )


async def _all_reasons(
    reviewing: Iterable[Mapping[str, Any]], known: KnownSender, envelope: Envelope
) -> list[tuple[Cause, str]]:
    return [one for settings in reviewing for one in await reasons_for(envelope, settings, known)]


def _why(
    envelope: Envelope, settings: Mapping[str, Any], understanding: Understanding
) -> list[tuple[Cause, str]]:
    threshold = settings.get("auto_send_at")
    always_ask = always_ask_in(settings)
    if threshold is None and always_ask is None:
        return [(Cause.EVERY_REPLY, "every reply is looked at by a person")]
    found: list[tuple[Cause, str]] = []
    if settings.get("wary") and (words := _to_a_machine(envelope)) is not None:
        found.append((Cause.TO_A_MACHINE, f"the message speaks to a machine: “{words}”"))
    if (topic := understanding.topic_in(always_ask or ())) is not None:
        found.append((Cause.ALWAYS_ASK, f"{topic} is always looked at by a person"))
    if (held := _handed_over(envelope)) is not None:
        found.append(held)
    confidence = understanding.confidence
    if threshold is not None and (confidence is None or confidence < threshold):
        shown = "unknown" if confidence is None else f"{confidence:g}"
        found.append((Cause.BELOW_THRESHOLD, f"confidence {shown} is below {threshold:g}"))
    return found


def _to_a_machine(envelope: Envelope) -> str | None:
    """Words of the message or of what is attached to it that are meant for no person."""
    message = envelope.message
    texts: list[str] = []
    if message is not None:
        texts = [
            message.subject,
            message.headers.get(HIDDEN, ""),
            *(one.text or "" for one in message.attachments),
        ]
    return next(
        (found for text in (envelope.raw_input, *texts) if (found := spoken_to_machine(text))), None
    )


def _handed_over(envelope: Envelope) -> tuple[Cause, str] | None:
    """Why some stage's answer must not pass without a person: it says so itself, or an LLM could
    not be had for it."""
    for name, output in envelope.outputs.items():
        fields = cast(dict[str, Any], output) if isinstance(output, dict) else {}
        if fields.get("held"):
            return Cause.WITHOUT_LLM, f"{name} was answered without an LLM: {fields['held']}"
        if fields.get("hand_over") is True:
            return (
                Cause.NO_ANSWER,
                f"{name} hands over: {fields.get('reason') or 'it has no answer'}",
            )
    return None
