"""The customer's message as models read it: when it came and in which language, then, fenced in,
who wrote it and what."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.brain.fencing import as_data
from deskhand.language.identify import identify
from deskhand.language.language_names import language_name

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_SURE = 0.5
_LOOKED_AT = 600
"""Characters whose language is told: the first lines decide."""
_LONGEST_ATTACHMENT = 4000


def arrival(received_at: Any, text: str, time_zone: str) -> str:
    """One line that we vouch for: `The message came on Monday, 16 November 2026, 14:32
    (Europe/Prague), in Czech.` Empty where neither time nor language is known."""
    moment = _moment(received_at)
    language = language_in(text)
    came = "" if moment is None else f" came on {_written(moment, time_zone)}"
    written = "" if language is None else f" in {language}"
    if not came and not written:
        return ""
    return f"The message{came or ' is written'}{',' if came and written else ''}{written}."


def written_moment(moment: datetime) -> str:
    """In English whatever the locale: `Monday, 16 November 2026, 14:32`."""
    day = f"{_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    return f"{day}, {moment:%H:%M}"


def message_block(message: Mapping[str, Any], text: str) -> str:
    """Sender, subject, attachments and the text, fenced in as one."""
    lines = [*_headers(message), "", text.strip()] if message else [text.strip()]
    return as_data("\n".join(lines).strip("\n"), "message")


def language_in(text: str) -> str | None:
    """The language of a text by its name; None where that is not clear."""
    return _language_in(text[:_LOOKED_AT])


@lru_cache(maxsize=512)
def _language_in(text: str) -> str | None:
    language = identify(text)
    if language.code is None or language.confidence < _SURE:
        return None
    return language_name(language.code)


def _headers(message: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if sender := _sender(message):
        lines.append(f"From: {sender}")
    if subject := " ".join(str(message.get("subject") or "").split()):
        lines.append(f"Subject: {subject}")
    for attachment in message.get("attachments") or ():
        lines.append(f"Attached: {attachment.get('name')} ({attachment.get('type')})")
        if attachment.get("text"):
            lines.append(str(attachment["text"])[:_LONGEST_ATTACHMENT])
    return lines


def _sender(message: Mapping[str, Any]) -> str:
    """The customer whom a preprocessor found behind a helpdesk, else whoever sent it."""
    prepared = message.get("prepared")
    if isinstance(prepared, Mapping) and prepared.get("address") and not prepared.get("failed"):
        return _person(prepared)
    sender = message.get("sender")
    return _person(sender) if isinstance(sender, Mapping) else ""


def _person(fields: Mapping[str, Any]) -> str:
    name, address = str(fields.get("name") or ""), str(fields.get("address") or "")
    return f"{name} <{address}>" if name else address


def _moment(received_at: Any) -> datetime | None:
    if isinstance(received_at, datetime):
        moment = received_at
    else:
        try:
            moment = datetime.fromisoformat(str(received_at))
        except ValueError:
            return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _written(moment: datetime, time_zone: str) -> str:
    """`Monday, 16 November 2026, 14:32 (Europe/Prague)`"""
    return f"{written_moment(moment.astimezone(ZoneInfo(time_zone)))} ({time_zone})"
