"""Who wrote a reply, kept in a run's metadata: what a model wrote is checked before it leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

WRITTEN = "written"
"""Metadata: by whom the run's reply was written, and what it says that it rests on."""
BY_MODEL = "model_wrote"
"""Metadata: whether a model wrote any words in this run that may reach the customer."""
AGENT, DESK_PLAN, MOCK = "agent", "plan", "mock"
"""Writers beside the brains: a model that works with tools; a plan that no model made; code that
stands in for a stage."""
_NOT_MODELS = frozenset(("embedded", "scripted", DESK_PLAN, MOCK))
"""They say nothing but what the desk's owner wrote and what is quoted word for word."""
MOST_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Written:
    """A reply's writer, and what it says of its reply."""

    by: str
    sources: tuple[tuple[str, str], ...] = ()
    """Ids of articles and results, each with the words taken from it."""
    hand_over: bool = False
    reason: str = ""
    confidence: float | None = None

    @property
    def by_model(self) -> bool:
        return is_model(self.by)

    @classmethod
    def of(cls, fields: Mapping[str, Any], by: str) -> "Written":
        """From the fields of a draft, of an agent's last words or of a call."""
        confidence = fields.get("confidence")
        is_share = isinstance(confidence, int | float) and not isinstance(confidence, bool)
        return cls(
            by,
            tuple(_sources_in(fields.get("sources"))),
            fields.get("hand_over") is True,
            str(fields.get("reason") or ""),
            float(confidence) if is_share else None,  # type: ignore[arg-type]
        )

    def as_metadata(self, text: str) -> dict[str, Any]:
        """The entry for a run's metadata, bound to the reply's text."""
        return {
            "by": self.by,
            "text": _digest(text),
            "sources": [list(source) for source in self.sources],
            "hand_over": self.hand_over,
            "reason": self.reason,
            "confidence": self.confidence,
        }


def is_model(by: str) -> bool:
    """Whether a brain of this name writes words of its own."""
    return by not in _NOT_MODELS


def writer_of(metadata: Mapping[str, Any], text: str) -> Written | None:
    """Who wrote this very text; None where nothing says so."""
    kept = metadata.get(WRITTEN)
    if not isinstance(kept, dict) or kept.get("text") != _digest(text):
        return None
    fields = cast(dict[str, Any], kept)
    named = [{"id": source[0], "quote": source[1]} for source in fields.get("sources", ())]
    return Written.of({**fields, "sources": named}, str(fields.get("by")))


def is_model_text(metadata: Mapping[str, Any], text: str) -> bool:
    """Whether a model may have written a text: it did, or one wrote something in this run and
    nobody says who wrote this."""
    written = writer_of(metadata, text)
    return bool(metadata.get(BY_MODEL)) if written is None else written.by_model


def _sources_in(listed: Any) -> list[tuple[str, str]]:
    sources: list[tuple[str, str]] = []
    for source in listed if isinstance(listed, list) else ():
        if isinstance(source, Mapping):
            id_, quote = source.get("id"), source.get("quote")
            if isinstance(id_, str) and isinstance(quote, str):
                sources.append((id_, quote))
    return sources[:MOST_SOURCES]


def _digest(text: str) -> str:
    return sha256(text.strip().encode("utf-8", "replace")).hexdigest()
