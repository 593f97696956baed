"""Why a person must look at a reply before it leaves, by the settings of a review stage.

The same reasons hold for every way a reply takes.
"""

import asyncio
import textwrap
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

from deskhand.agents.replying.sending import ReviewReason, ReviewReasonsFor
from deskhand.brain.task_inputs import own_words
from deskhand.config.sections.plans import RESULTS
from deskhand.language.clean_text import TOO_LONG, is_too_long
from deskhand.language.concerns import Concern, concerns_in
from deskhand.language.instructions import spoken_to_machine
from deskhand.model.authorship import writer_of
from deskhand.model.causes import Cause
from deskhand.model.envelope import Envelope
from deskhand.model.message import CHAT, DELIVER, HIDDEN, REPLY
from deskhand.model.principal import PrincipalKind
from deskhand.model.spec import AgentSpec, always_ask_in
from deskhand.model.understanding import Understanding
from deskhand.ports import Store
from deskhand.tools.calendar_tools import ASK_PERSON, SLOT_TAKEN

REVIEW = "review"
"""The service whose stages say what a person looks at."""

_CONCERNS = {
    Concern.COMPLAINT: "the message may complain",
    Concern.LEGAL: "the message may threaten legal steps",
    Concern.MEDICAL: "the message may ask for medical advice",
    Concern.CANCELLATION: "the message may cancel something",
    Concern.MACHINE: "the message may speak to a machine",
}
_SHOWN = 160

KnownSender = Callable[[Envelope], Awaitable[bool]]
"""Whether the desk has answered this message's sender before."""


def answered_before(store: Store) -> KnownSender:
    """Looks for earlier replies in the store.

    A sender whose identity nobody has proven counts as known in the same conversation only: the
    address may be borrowed.
    """

    async def known_sender(envelope: Envelope) -> bool:
        message = envelope.message
        if message is None:
            return False
        conversation = message.conversation
        if await store.replies_since(conversation, DELIVER, 0.0, beside=envelope.run_id):
            return True
        if message.principal.kind is PrincipalKind.ANONYMOUS:
            return False
        sender = message.sender.address
        return await store.replies_to(sender, DELIVER, 0.0, beside=conversation) > 0

    return known_sender


async def never_answered(envelope: Envelope) -> bool:
    """Stands in at a desk that does not remember whom it answered."""
    return False


async def review_reasons(
    envelope: Envelope,
    settings: Mapping[str, Any],
    answered_before: KnownSender = never_answered,
) -> list[ReviewReason]:
    """All reasons for a person, the weightiest first; empty where the reply may pass."""
    reasons = _doubted_address(envelope)
    if settings.get("wary"):  # a long message takes long to look through
        reasons += await asyncio.to_thread(_reasons_by_settings, envelope, settings)
    else:
        reasons += _reasons_by_settings(envelope, settings)
    reasons += await _concerns(envelope, settings.get("concerns") or ())
    if settings.get("ask_first_contact") and not await answered_before(envelope):
        reasons.append((Cause.FIRST_CONTACT, "the desk has never answered this sender"))
    return reasons


def review_reasons_of(
    stages: Iterable[AgentSpec], answered_before: KnownSender = never_answered
) -> ReviewReasonsFor:
    """What the review stages of a flow ask, for a reply that does not come by them."""
    reviewing = [stage.settings for stage in stages if stage.service == REVIEW]
    return partial(_all_reasons, reviewing, answered_before)


async def _all_reasons(
    reviewing: Iterable[Mapping[str, Any]], answered_before: KnownSender, envelope: Envelope
) -> list[ReviewReason]:
    reasons: list[ReviewReason] = []
    for settings in reviewing:
        reasons += await review_reasons(envelope, settings, answered_before)
    return reasons


def _doubted_address(envelope: Envelope) -> list[ReviewReason]:
    """The gate asks about it as well; here, whoever decides for another reason sees it."""
    message, reply = envelope.message, envelope.output(REPLY)
    goes = None if message is None else message.reply_addresses
    if goes is None or goes.doubt is None or not isinstance(reply, dict):
        return []
    same = (reply.get("to"), tuple(reply.get("cc") or ())) == (goes.to, goes.cc)
    return [(Cause.RECIPIENT, goes.doubt)] if same else []


def _reasons_by_settings(envelope: Envelope, settings: Mapping[str, Any]) -> list[ReviewReason]:
    threshold = settings.get("auto_send_at")
    always_ask = always_ask_in(settings)
    if threshold is None and always_ask is None:
        return [(Cause.EVERY_REPLY, "every reply is looked at by a person")]

    understanding = Understanding.of(envelope)
    reasons: list[ReviewReason] = []
    if settings.get("wary") and (words := _words_to_a_machine(envelope)) is not None:
        reasons.append((Cause.TO_A_MACHINE, f"the message speaks to a machine: “{words}”"))
    if (topic := understanding.topic_in(always_ask or ())) is not None:
        reasons.append((Cause.ALWAYS_ASK, f"{topic} is always looked at by a person"))
    if (handed_over := _handed_over(envelope)) is not None:
        reasons.append(handed_over)
    confidence = understanding.confidence
    if threshold is not None and (confidence is None or confidence < threshold):
        shown = "unknown" if confidence is None else f"{confidence:g}"
        reasons.append(
            (Cause.BELOW_THRESHOLD, f"category confidence {shown} is below {threshold:g}")
        )
    if threshold is not None and (unsure := _unsure_writer(envelope, threshold)) is not None:
        reasons.append((Cause.BELOW_THRESHOLD, unsure))
    return reasons


async def _concerns(envelope: Envelope, named: Iterable[str]) -> list[ReviewReason]:
    """What the desk gives to people and the message holds, each with the words that show it."""
    wanted = [Concern(name) for name in named]
    if not wanted:
        return []
    message = envelope.message
    subject = "" if message is None else message.subject
    text = f"{subject}\n{envelope.raw_input}".strip()
    if is_too_long(text):  # what is quoted was looked at when it came
        own = await asyncio.to_thread(own_words, envelope.raw_input, subject)
        text = f"{subject}\n{own}".strip()
        if is_too_long(text):
            return [(Cause.CONCERN, TOO_LONG)]
    is_turn = message is not None and message.channel == CHAT
    concerns = await asyncio.to_thread(concerns_in, text, wanted, is_turn=is_turn)
    reasons: list[ReviewReason] = []
    for concern in concerns:
        cause = Cause.TO_A_MACHINE if concern.concern is Concern.MACHINE else Cause.CONCERN
        words = textwrap.shorten(concern.words, _SHOWN, placeholder=" …")
        reasons.append((cause, f"{_CONCERNS[concern.concern]}: “{words}”"))
    return reasons


def _unsure_writer(envelope: Envelope, threshold: float) -> str | None:
    """Why the model that wrote the reply doubts it; None where it does not. Its doubt counts; that
    it is sure lets nothing pass."""
    reply = envelope.output(REPLY)
    text = str(reply.get("text", "")) if isinstance(reply, dict) else ""
    written = writer_of(envelope.metadata, text)
    if written is None or not written.by_model or written.confidence is None:
        return None
    if written.confidence >= threshold:
        return None
    return f"the writer's own confidence {written.confidence:g} is below {threshold:g}"


def _words_to_a_machine(envelope: Envelope) -> str | None:
    """Words of the message or its attachments that address a machine; None where there are none."""
    texts = [envelope.raw_input]
    message = envelope.message
    if message is not None:
        texts += [message.subject, message.headers.get(HIDDEN, "")]
        texts += [attachment.text or "" for attachment in message.attachments]
    return next((words for text in texts if (words := spoken_to_machine(text))), None)


def _handed_over(envelope: Envelope) -> ReviewReason | None:
    """Why some stage's answer must not pass without a person: it says so itself, or no LLM could
    be asked for it."""
    for name, output in envelope.outputs.items():
        fields = cast(dict[str, Any], output) if isinstance(output, dict) else {}
        if fields.get("held"):
            return Cause.WITHOUT_LLM, f"{name} was answered without an LLM: {fields['held']}"
        if fields.get("hand_over") is True:
            reason = fields.get("reason") or "it has no answer"
            return Cause.NO_ANSWER, f"{name} hands over: {reason}"
        if (asked := _asked_by_tool(fields.get(RESULTS))) is not None:
            return Cause.NO_ANSWER, asked
    return None


def _asked_by_tool(results: Any) -> str | None:
    """Why a person must look, as the result of a tool says it."""
    for result in results if isinstance(results, list) else ():
        call = cast(dict[str, Any], result) if isinstance(result, dict) else {}
        data, error = call.get("data"), call.get("error")
        if isinstance(data, dict) and data.get(ASK_PERSON):
            return f"{call.get('tool')}: {data[ASK_PERSON]}"
        if isinstance(error, dict) and error.get("code") == SLOT_TAKEN:
            return f"{call.get('tool')}: {error.get('message')}"
    return None
