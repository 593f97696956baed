"""What a reviewer is told beside the thing itself: why it is here, and what was known about the
message."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

from deskhand.agents.sending import category_of
from deskhand.engine.loop import End
from deskhand.model.causes import Cause, cause_of_error
from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY


def causes_of(end: End) -> tuple[Cause, ...]:
    """What the asking stage said, else what the error says."""
    if end.ask is not None and end.ask.causes:
        return end.ask.causes
    return (cause_of_error(end.error.code if end.error else None),)


def facts_of(envelope: Envelope | None) -> dict[str, Any]:
    """`category`, `confidence`, `threshold` and `language`, as far as some stage has found them."""
    if envelope is None:
        return {}
    found = category_of(envelope)
    facts = {
        "category": found.get("category"),
        "confidence": found.get("confidence"),
        "threshold": _newest(envelope, "threshold"),
        "language": _field(envelope.output(REPLY), "language") or _newest(envelope, "language"),
    }
    return {name: value for name, value in facts.items() if _is_told(value)}


def _is_told(value: Any) -> bool:
    """A word or a number; what a stage wrote in their place is left out."""
    return isinstance(value, str) or (isinstance(value, int | float) and isfinite(value))


def _newest(envelope: Envelope, name: str) -> Any:
    found = (_field(output, name) for output in reversed(list(envelope.outputs.values())))
    return next((value for value in found if value is not None), None)


def _field(output: Any, name: str) -> Any:
    return cast(Mapping[str, Any], output).get(name) if isinstance(output, Mapping) else None
