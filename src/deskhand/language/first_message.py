"""What a message states for slots before anybody has asked: values, and the customer's own words
where they say by themselves what they are about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from deskhand.language.turn_addresses import unasked_words
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turns import MOST_TEXT, TurnReader


def stated_in(
    reader: TurnReader, text: str, names: Sequence[str], received_at: datetime
) -> dict[str, Any]:
    """The value of each of these slots that the text states."""
    if len(text) > MOST_TEXT:
        return {}
    question = OpenQuestion(asked=(), slots=tuple(names))
    stated = reader.values(text, question, received_at)
    values = dict(stated.values)
    for name in reader.texts(question):
        words = unasked_words(reader.about(name), text, stated.spans)
        if words:
            values[name] = words
    return values
