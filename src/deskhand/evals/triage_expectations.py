"""Expectations about tickets: what triage found out, and where a message went."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.ticket_sections import NEW

FIELDS: Mapping[str, tuple[str, ...]] = {
    "urgency": ("triage_result", "urgency"),
    "ticket_type": ("supervisor_decision", "ticket_type"),
    "action": ("triage_result", "recommended_action"),
    "language": ("triage_result", "extracted_info", "language"),
    "sentiment": ("triage_result", "extracted_info", "sentiment"),
    "issue": ("reading", "category"),
}
"""Where each field of `expect: {triage: ...}` stands in a run's outputs."""
EARLIER = "earlier_tickets"
"""The field of an eval's run document with the tickets of the turns before."""


def triage_of(outputs: Mapping[str, Any]) -> Document:
    """What a run found out about its ticket, by field; None for what it did not."""
    return {field: _at(outputs, path) for field, path in FIELDS.items()}


def ticket_of(outputs: Mapping[str, Any], earlier: Sequence[str | None] = ()) -> Document | None:
    """Where a run's message went, as `expect: {ticket: ...}` speaks of it; None for nowhere.

    `earlier` are the tickets of the turns before.
    """
    placed = outputs.get("ticket")
    if not isinstance(placed, Mapping):
        return None
    matching = placed.get("matching") or {}
    return {
        "joins": NEW if placed.get("is_new") else placed.get("ticket_id"),
        "same_as": turns_with(placed.get("ticket_id"), earlier),
        "evidence": matching.get("evidence"),
        "reopens": bool(matching.get("reopens")),
    }


def turns_with(ticket: str | None, earlier: Sequence[str | None]) -> list[int]:
    """The numbers of the turns whose message went to this ticket."""
    return [number for number, other in enumerate(earlier, 1) if other == ticket]


def _at(outputs: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = outputs
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
