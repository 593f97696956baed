"""Values of the queue in words, for a page: everything a customer wrote stays text."""

import re
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from deskhand.knowledge.prose import unwrapped
from deskhand.model.causes import Cause
from deskhand.model.run import REASSIGN_TO, Decision, Review, ReviewKind, ReviewState

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""What turns the direction of reading or is not seen at all."""

CAUSES: dict[Cause, str] = {
    Cause.EVERY_REPLY: "every reply",
    Cause.BELOW_THRESHOLD: "not sure enough",
    Cause.ALWAYS_ASK: "always a person's",
    Cause.FIRST_CONTACT: "first contact",
    Cause.TO_A_MACHINE: "speaks to a machine",
    Cause.NO_ANSWER: "no answer known",
    Cause.WITHOUT_LLM: "model away",
    Cause.UNBACKED_PROMISE: "unbacked promise",
    Cause.OUTGOING_CONTENT: "names something foreign",
    Cause.MODE: "draft mode",
    Cause.ON_REQUEST: "older mail",
    Cause.PACE: "many replies",
    Cause.UNDO_WINDOW: "about to leave",
    Cause.HELD_BACK: "held back",
    Cause.DELIVERY: "not delivered yet",
    Cause.GATE_HOLD: "held by the gate",
    Cause.BUDGET: "over a cap",
    Cause.STOPPED: "desk stopped",
    Cause.EMERGENCY: "EMERGENCY",
    Cause.ESCALATED: "escalated",
    Cause.REVISIONS: "revised too often",
    Cause.STEP_LIMIT: "step limit",
    Cause.TAKEN_OVER: "taken over",
    Cause.AUTOMATIC: "maybe automatic",
    Cause.BOUNCED: "bounced",
    Cause.EFFECT_UNKNOWN: "outcome unknown",
    Cause.EXPIRED: "nobody decided",
    Cause.ERROR: "error",
}
CAUSES |= {cause: cause.replace("_", " ") for cause in Cause if cause not in CAUSES}
KINDS = {
    ReviewKind.REPLY: "reply",
    ReviewKind.TOOL_CALL: "action",
    ReviewKind.HAND_OVER: "hand-over",
    ReviewKind.STOPPED: "stopped",
}
FALLBACKS = {
    Decision.REJECT: "it is rejected",
    Decision.CLOSE: "it is closed",
    Decision.APPROVE: "it leaves by itself",
    Decision.HAND_OVER: "it is handed over",
}
"""What becomes of a review that nobody decides in time."""
ORIGINS = {
    "principal": "the customer's own",
    "operator": "set by the desk",
    "message": "from the message",
    "model": "the model's own",
}


def visible(text: Any) -> str:
    """Text that others wrote, with what is not seen made visible."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def age(seconds: float) -> str:
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "now"


def expiry(review: Review, now: float) -> str | None:
    """How long something still waits for a person, and what becomes of it then; None where it
    waits for ever."""
    if review.state is not ReviewState.OPEN or review.expires_at is None or review.leaves_by_itself:
        return None
    left = max(0.0, review.expires_at - now)
    then = FALLBACKS.get(review.fallback) if review.fallback is not None else None
    if review.fallback is Decision.REASSIGN:
        then = f"it goes to {visible(review.facts.get(REASSIGN_TO))}"
    return f"in {age(left)}" + (f", then {then}" if then else "") if left >= 60 else "now"


def quotes_as_prose(text: Any) -> str:
    """A reply as it was written, the articles that it quotes as paragraphs."""
    lines: list[str] = []
    for quoted, group in groupby(str(text).splitlines(), key=lambda line: line.startswith(">")):
        own = list(group)
        article = (
            unwrapped("\n".join(line[1:].strip() for line in own)).splitlines() if quoted else []
        )
        lines += [f"> {line}".rstrip() for line in article] if quoted else own
    return "\n".join(lines)


def origin(where: str) -> str:
    """Where an argument came from."""
    kind, _, number = where.partition(":")
    return f"from result {number}" if kind == "result" else ORIGINS.get(kind, "")


def clock(at: float) -> str:
    """A moment for people whose browser runs no script; with one it is shown in their own time."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
