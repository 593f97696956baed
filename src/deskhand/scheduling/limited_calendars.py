"""Calendar data that strangers sent, read in a limited process: a few lines of it can describe
more time zones and repetitions than anybody can compute."""

import json
import logging
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from deskhand.limited_process import WorkStopped, limited_processes
from deskhand.scheduling.invitation_answers import answer_to
from deskhand.scheduling.invitations import Invitation, read_invitations

log = logging.getLogger("deskhand.calendar")

_INVITATIONS = TypeAdapter(list[Invitation])
READING_SECONDS, ANSWERING_SECONDS = 0.2, 0.1
"""Computing for the calendar files of one message, and for the answer to an invitation in them."""
_REMEMBERED = 64
"""Messages whose invitations are remembered: several stages ask, and hostile data costs the
whole limit each time."""


def invitations_of(texts: Sequence[str], zone: ZoneInfo) -> list[Invitation]:
    """The events of a message's `text/calendar` parts, all parts within one limit.

    Nothing where they cannot be read. It waits for another process: not for the event loop.
    """
    return list(_read(tuple(texts), zone.key)) if texts else []


def limited_answer_to(
    text: str, answer: str, ours: Collection[str], sender: str, now: datetime
) -> str | None:
    """As `answer_to`, within limits; None also where the invitation cannot be read in them."""
    question = [text, answer, sorted(ours), sender, now.isoformat()]
    try:
        written = limited_processes.call(
            f"{__name__}:answer_packed", _packed(question), ANSWERING_SECONDS
        )
    except WorkStopped as stopped:
        log.warning("an invitation cannot be answered: %s", stopped)
        return None
    return written.decode() or None


@lru_cache(maxsize=_REMEMBERED)
def _read(texts: tuple[str, ...], zone: str) -> tuple[Invitation, ...]:
    try:
        packed = limited_processes.call(
            f"{__name__}:read_packed", _packed([texts, zone]), READING_SECONDS
        )
    except WorkStopped as stopped:
        log.warning("a calendar file cannot be read: %s", stopped)
        return ()
    return tuple(_INVITATIONS.validate_json(packed))


def _packed(question: object) -> bytes:
    return json.dumps(question).encode()


# --- inside the limited process


def prepare() -> None:
    """Import what reading and answering need, outside the limit of a call."""
    import icalendar  # noqa: F401


def read_packed(question: bytes) -> bytes:
    texts, zone = json.loads(question)
    invitations: list[Invitation] = []
    for text in texts:
        invitations += read_invitations(text, ZoneInfo(zone))
    return _INVITATIONS.dump_json(invitations)


def answer_packed(question: bytes) -> bytes:
    text, answer, ours, sender, now = json.loads(question)
    written = answer_to(text, answer, ours, sender, datetime.fromisoformat(now))
    return (written or "").encode()
