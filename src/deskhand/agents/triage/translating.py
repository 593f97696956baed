"""The translator: which language a ticket is in, and what it says in English."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agents.triage.parts import TRANSLATION, TriageParts, message_in
from deskhand.language.identify import identify
from deskhand.language.sentiment import LANGUAGES
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.tasks import Task, TaskKind
from deskhand.model.ticket_request import handed_in
from deskhand.model.triage import TranslationResult, as_document
from deskhand.ports import StageContext
from deskhand.tickets.message_hints import told_meaning
from deskhand.tools.services import ServiceFunction, ServiceResult

ENGLISH = "en"
UNKNOWN = "und"
_SURE = 0.5
_MOST_APART = 10
"""Messages that are translated each by itself; more are taken together."""


def language_code(text: str) -> str:
    """The language of a text; where it is unclear, the likeliest that feelings are read in."""
    identified = identify(text)
    if identified.code is not None and identified.confidence >= _SURE:
        return identified.code
    narrowed = identify(text, LANGUAGES)
    return narrowed.code or identified.code or UNKNOWN


def ticket_language(envelope: Envelope) -> str:
    """What the translator found, else what the message itself says."""
    translation = envelope.output(TRANSLATION)
    if isinstance(translation, dict) and translation.get("original_language"):
        return str(translation["original_language"])
    return language_code(told_meaning(message_in(envelope)))


def translate_through(parts: TriageParts) -> ServiceFunction:
    """The service `translate`. The originals stay; a translation needs a model."""

    async def translate(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        message = message_in(envelope)
        originals = _originals(message)
        language = await asyncio.to_thread(language_code, told_meaning(message))
        if language == ENGLISH:
            result = TranslationResult(
                original_language=language,
                is_english=True,
                original_messages=originals,
                reason="it is in English already",
            )
            return ServiceResult(output=as_document(result))
        stage = str(settings.get("stage") or "translator")
        translated, reason, answered = await _translated(parts, originals, stage, ctx)
        result = TranslationResult(
            original_language=language,
            is_english=False,
            translated_messages=translated,
            original_messages=originals,
            reason=reason,
        )
        return ServiceResult(output=as_document(result), answered=answered)

    return translate


def _originals(message: Message) -> tuple[str, ...]:
    """The customer's messages word for word: several where a program handed several in."""
    request = handed_in(message)
    said: list[str] = []
    if request is not None and message.prepared is None:
        said = [turn.content for turn in request.taken_turns if turn.is_customers]
    if not 1 < len(said) <= _MOST_APART:
        return (message.words,)
    return tuple(said)


async def _translated(
    parts: TriageParts, originals: Sequence[str], stage: str, ctx: StageContext
) -> tuple[tuple[str, ...], str, dict[str, Any]]:
    """All of them in English, in their order, or none with the reason; and who translated."""
    translated: list[str] = []
    answered: dict[str, Any] = {}
    for original in originals:
        answer = await parts.asked_brain().answer(
            Task(
                kind=TaskKind.TRANSLATE,
                stage=stage,
                run_id=ctx.run_id,
                text=original,
                inputs={"target_language": ENGLISH},
                without_model=ctx.goes_on_without_model,
            )
        )
        answered = dict(answer.answered)
        fields = answer.data
        if fields.get("translated") is False:
            return (), str(fields.get("reason") or "nobody could translate it"), answered
        translated.append(str(fields["text"]))
    return tuple(translated), "", answered
