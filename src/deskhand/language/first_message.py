"""What a message states for slots before anybody has asked: values, and the customer's own words
where they say by themselves what they are about."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from deskhand.language.turn_addresses import unasked_address_in
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turn_texts import Span, summary_in, unasked_reason_in
from deskhand.language.turns import MOST_TEXT, TurnReader

_READ_UNASKED: Mapping[str | None, Callable[[str, Sequence[Span]], str | None]] = {
    "address": unasked_address_in,
    "reason": unasked_reason_in,
    "summary": summary_in,
    None: lambda text, spans: None,
}
"""How words are found that were not asked for, by what they are about."""


def stated_in(
    reader: TurnReader, text: str, names: Sequence[str], received_at: datetime
) -> dict[str, Any]:
    """The value of each of these slots that the text states."""
    if len(text) > MOST_TEXT:
        return {}
    question = OpenQuestion(asked=(), slots=tuple(names))
    values, spans, _ = reader.values(text, question, received_at)
    for name in reader.texts(question):
        words = _READ_UNASKED[reader.about(name)](text, spans)
        if words:
            values[name] = words
    return values
