"""Why a review was opened, and what was known about its message then."""

from math import isfinite
from typing import Any

from deskhand.engine.loop import End
from deskhand.model.causes import Cause, cause_of_error
from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY
from deskhand.model.understanding import Understanding, drafted_output


def causes_of(end: End) -> tuple[Cause, ...]:
    """What the asking stage said, else what the error says."""
    if end.ask is not None and end.ask.causes:
        return end.ask.causes
    return (cause_of_error(end.error.code if end.error else None),)


def _answer_confidence(envelope: Envelope) -> float | None:
    """How sure the stage is that drafted the reply; None where it did not say."""
    drafted = envelope.output(drafted_output(envelope.outputs) or "") or {}
    confidence: Any = drafted.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    return float(confidence) if isfinite(confidence) else None


def facts_of(envelope: Envelope | None) -> dict[str, Any]:
    """What is known about a message and its reply, as far as some stage has found it.

    `confidence` is how sure the desk is of the `category`, and `answer_confidence` of the answer.
    """
    if envelope is None:
        return {}
    understanding = Understanding.of(envelope)
    of_reply = Understanding({REPLY: envelope.output(REPLY)})
    facts = {
        "category": understanding.topic,
        "confidence": understanding.confidence,
        "answer_confidence": _answer_confidence(envelope),
        "threshold": understanding.threshold,
        "language": of_reply.language or understanding.language,
    }
    return {name: value for name, value in facts.items() if value is not None}
