"""Canned replies: a desk's ready-made texts, filled with what is known about the message."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.config.sections.reply_text import ANY_LANGUAGE
from deskhand.model.message import Message
from deskhand.model.placeholders import PLACEHOLDER, SLOT, placeholders_in
from deskhand.model.understanding import Understanding

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Canned:
    name: str
    language: str | None
    text: str
    missing: tuple[str, ...]
    """Placeholders without a value; they stay in the text for the reviewer to fill."""


def canned_replies(
    texts: Mapping[str, Mapping[str, str]], language: str | None, values: Mapping[str, str]
) -> list[Canned]:
    """Each reply once: in the message's language, else the one for all, else the first there is."""
    replies: list[Canned] = []
    for title, by_language in texts.items():
        choices = (language or ANY_LANGUAGE, ANY_LANGUAGE, next(iter(by_language)))
        spoken = next(choice for choice in choices if choice in by_language)
        template = by_language[spoken]
        text = PLACEHOLDER.sub(lambda match: values.get(match[1]) or match[0], template)
        missing = [name for name in placeholders_in(template) if not values.get(name)]
        replies.append(Canned(title, spoken or None, text, tuple(dict.fromkeys(missing))))
    return replies


def values_for(
    message: Message | None, outputs: Mapping[str, Any], *, reviewer: str, desk: str
) -> dict[str, str]:
    """What placeholders stand for; what the customer wrote comes in as one short line."""
    values = {"reviewer": reviewer, "desk": desk}
    if message is not None:
        values |= {"name": _line(message.sender.name), "subject": _line(message.subject)}
    for name, value in Understanding(outputs).slots.items():
        if isinstance(value, str | int | float):
            values[f"{SLOT}{name}"] = _line(str(value))
    return values


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
