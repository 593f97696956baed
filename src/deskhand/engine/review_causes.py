"""Why a review was opened, and what was known about its message then."""

from typing import Any

from deskhand.engine.loop import End
from deskhand.model.causes import Cause, cause_of_error
from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY
from deskhand.model.understanding import Understanding


def causes_of(end: End) -> tuple[Cause, ...]:
    """What the asking stage said, else what the error says."""
    if end.ask is not None and end.ask.causes:
        return end.ask.causes
    return (cause_of_error(end.error.code if end.error else None),)


def facts_of(envelope: Envelope | None) -> dict[str, Any]:
    """`category`, `confidence`, `threshold` and `language`, as far as some stage has found them."""
    if envelope is None:
        return {}
    understanding = Understanding.of(envelope)
    of_reply = Understanding({REPLY: envelope.output(REPLY)})
    facts = {
        "category": understanding.topic,
        "confidence": understanding.confidence,
        "threshold": understanding.threshold,
        "language": of_reply.language or understanding.language,
    }
    return {name: value for name, value in facts.items() if value is not None}
