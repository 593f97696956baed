"""Labels and values of the console; everything a customer wrote stays text."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from markupsafe import Markup

from deskhand.knowledge.prose import unwrapped
from deskhand.model.causes import QUIET, RED, Cause, Rank
from deskhand.model.contact import Contact
from deskhand.model.run import REASSIGN_TO, Decision, Review, ReviewKind, ReviewState
from deskhand.model.value_readings import DOUBTS
from deskhand.web.console.translation import Phrase

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Characters that are invisible or change the direction of reading."""

_TWO_YEARS = 24
"""Months from which on they are told as years."""

_GAP = re.compile(r"(\{[a-z_ ]+\})")

CAUSES: dict[Cause, str] = {
    Cause.EVERY_REPLY: "every reply",
    Cause.BELOW_THRESHOLD: "not sure enough",
    Cause.ALWAYS_ASK: "needs a person",
    Cause.FIRST_CONTACT: "first contact",
    Cause.TO_A_MACHINE: "speaks to a machine",
    Cause.CONCERN: "for a person to see",
    Cause.NO_ANSWER: "no answer found",
    Cause.WITHOUT_LLM: "model unavailable",
    Cause.UNBACKED_PROMISE: "unbacked promise",
    Cause.UNBACKED_CLAIM: "unbacked claim",
    Cause.OUTGOING_CONTENT: "unknown address or data",
    Cause.RECIPIENT: "check the address",
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
    Cause.ANSWERED_BEFORE: "answered before",
    Cause.BOUNCED: "bounced",
    Cause.EFFECT_UNKNOWN: "outcome unknown",
    Cause.MODEL_AWAY: "model away",
    Cause.EXPIRED: "nobody decided",
    Cause.ANSWER_OWED: "answer owed",
    Cause.ERROR: "error",
}
CAUSES |= {cause: cause.replace("_", " ") for cause in Cause if cause not in CAUSES}
KINDS = {
    ReviewKind.REPLY: "reply",
    ReviewKind.TOOL_CALL: "action",
    ReviewKind.HAND_OVER: "hand-over",
    ReviewKind.STOPPED: "stopped",
    ReviewKind.FOLLOW_UP: "follow-up",
    ReviewKind.DELIVERY: "delivery",
}
LOOKS: dict[Cause, str] = {
    **dict.fromkeys(Cause, "warn"),
    **dict.fromkeys(RED, "bad"),
    **dict.fromkeys(QUIET, ""),
    Cause.GATE_HOLD: "bad",
    Cause.EMERGENCY: "solid",
}
"""How the chip of a cause looks."""
WRITTEN_IN = {
    "cs": "in Czech",
    "de": "in German",
    "en": "in English",
    "es": "in Spanish",
    "fr": "in French",
    "it": "in Italian",
    "pl": "in Polish",
    "sk": "in Slovak",
}
LANES = {
    Rank.EMERGENCY: "Look closely",
    Rank.DANGER: "Look closely",
    Rank.DOUBT: "Look closely",
    Rank.ACTION: "Actions to allow",
    Rank.ROUTINE: "Only draft mode holds these",
}
"""Under which heading the queue shows what has a rank."""
RISKS = {
    Rank.EMERGENCY: ("urgent", "bad", "highest risk"),
    Rank.DANGER: ("high", "bad", "high risk"),
    Rank.DOUBT: ("normal", "warn", "some risk"),
    Rank.ACTION: ("high", "bad", "high risk"),
    Rank.ROUTINE: ("low", "dim", "little risk"),
}
"""The sign, the colour and the words for a rank."""
FALLBACKS = {
    Decision.REJECT: "it is rejected",
    Decision.CLOSE: "it is closed",
    Decision.APPROVE: "it leaves by itself",
    Decision.HAND_OVER: "it is handed over",
    Decision.RETRY: "its copy is looked for again",
}
"""What becomes of a review that nobody decides in time."""
ORIGINS = {
    "principal": "the customer's own",
    "operator": "set by the desk",
    "message": "from the message",
    "model": "the model's own",
}
ORIGIN_LOOKS = {"principal": "own", "model": "model", "result": "result"}
"""How the origin of an argument looks."""


def visible(text: Any) -> str:
    """Text that others wrote, with a visible sign in place of each invisible character."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def gravest(causes: Iterable[Cause]) -> list[Cause]:
    """The causes with the most alarming first, else in their order."""
    order = ("solid", "bad", "warn", "")
    return sorted(causes, key=lambda cause: order.index(LOOKS[cause]))


def initials(name: Any) -> str:
    """One or two letters that stand for somebody: "IN" for Ida Nováková."""
    words = re.findall(r"[^\W\d_]+", str(name).partition("@")[0])
    letters = [word[0] for word in (words[:1] + words[1:][-1:])]
    return "".join(letters).upper() or "?"


def as_sentence(words: str) -> str:
    """The same words, begun as a sentence begins."""
    return words[:1].upper() + words[1:]


def spaced(name: Any) -> str:
    """A name of desk.yaml as words: "meeting request"."""
    return str(name).replace("_", " ")


def only_name(sender: Any) -> str:
    """The name in `Mia Lund <mia@lund.example>`; the address where there is no name."""
    name, _, address = str(sender).partition(" <")
    return name.strip('" ') or address.rstrip(">")


def gaps(text: Any) -> Markup:
    """A text of ours with what a person has yet to fill in marked: `{answer}`."""
    marked = Markup('<mark class="gap">{}</mark>')
    pieces = _GAP.split(visible(text))
    pieces[1::2] = map(marked.format, pieces[1::2])
    return Markup("").join(pieces)


def condition_lines(condition: Mapping[str, Any] | None) -> list[str]:
    """A condition of desk.yaml as YAML writes it, a line a test."""
    return [f"{name}: {as_yaml(value)}" for name, value in (condition or {}).items()]


def as_yaml(value: Any) -> str:
    """A plain value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(condition_lines(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    return {True: "true", False: "false", None: "null"}.get(value, str(value))


def age(seconds: float) -> Phrase:
    if seconds >= 86400:
        return Phrase("{count} d", count=int(seconds // 86400))
    if seconds >= 3600:
        return Phrase("{count} h", count=int(seconds // 3600))
    return Phrase("{count} min", count=int(seconds // 60)) if seconds >= 60 else Phrase("now")


def duration(seconds: float) -> Phrase:
    """How long something took, in two units at most."""
    if seconds < 60:
        return Phrase("{count} s", count=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 60:
        return Phrase("{count} min", count=minutes)
    if minutes < 24 * 60:
        hours, left = divmod(minutes, 60)
        whole = Phrase("{count} h", count=hours)
        return Phrase("{hours} h {minutes} min", hours=hours, minutes=left) if left else whole
    return Phrase("{count} d", count=round(minutes / (24 * 60)))


def file_size(count: int) -> str:
    """How large a file is, in words: "14 kB"."""
    for length, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= length:
            return f"{count / length:.3g} {unit}"
    return Phrase("{count} bytes", count=count)


def expiry(review: Review, now: float) -> Phrase | None:
    """When a review expires that nobody decides; None where it waits for ever."""
    if review.state is not ReviewState.OPEN or review.expires_at is None or review.leaves_by_itself:
        return None
    left = max(0.0, review.expires_at - now)
    return Phrase("in {age}", age=age(left)) if left >= 60 else Phrase("now")


def due(review: Review, now: float) -> Phrase | None:
    """How long the customer is owed an answer yet: "due in 5 h", "overdue for 2 d"."""
    if review.state is not ReviewState.OPEN or review.due_at is None:
        return None
    left = review.due_at - now
    if left <= -60:
        return Phrase("overdue for {age}", age=age(-left))
    return Phrase("due in {age}", age=age(left)) if left >= 60 else Phrase("due now")


def expiry_with_outcome(review: Review, now: float) -> Phrase | None:
    """The same, with what happens then: "in 5 h, then it is rejected"."""
    left = expiry(review, now)
    outcome = _fallback_words(review)
    if left is None or left == "now" or outcome is None:
        return left
    return Phrase("in {age}, then {outcome}", age=left.values["age"], outcome=outcome)


def _fallback_words(review: Review) -> Phrase | None:
    if review.fallback is Decision.REASSIGN:
        return Phrase("it goes to {who}", who=visible(review.facts.get(REASSIGN_TO)))
    words = None if review.fallback is None else FALLBACKS.get(review.fallback)
    return None if words is None else Phrase(words)


def quotes_as_prose(text: Any) -> str:
    """A reply with the articles it quotes unwrapped into paragraphs."""
    lines: list[str] = []
    for quoted, group in groupby(str(text).splitlines(), key=lambda line: line.startswith(">")):
        own = list(group)
        lines += _unwrapped_quote(own) if quoted else own
    return "\n".join(lines)


def _unwrapped_quote(lines: Iterable[str]) -> list[str]:
    article = unwrapped("\n".join(line[1:].strip() for line in lines))
    return [f"> {line}".rstrip() for line in article.splitlines()]


def origin(where: str, read: str = "") -> list[Phrase]:
    """Where an argument came from and how it was read; nothing where neither is known."""
    kind, _, number = where.partition(":")
    phrases: list[Phrase] = []
    if kind == "result":
        phrases.append(Phrase("from result {number}", number=number))
    elif kind in ORIGINS:
        phrases.append(Phrase(ORIGINS[kind]))
    if read in DOUBTS:
        phrases.append(Phrase(DOUBTS[read]))
    return phrases


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def written_in(language: str) -> str:
    """The language of a reply in words; its code where we have no name for it."""
    return WRITTEN_IN.get(language) or Phrase("in {language}", language=visible(language))


def customer_for(contact: Contact) -> Phrase | None:
    """For how long somebody has been a customer, as people wrote it down; None where nobody did."""
    months = contact.tenure_months
    if months is None:
        return None
    if months < _TWO_YEARS:
        return Phrase("a customer for {count} months", count=months)
    return Phrase("a customer for {count} years", count=months // 12)
