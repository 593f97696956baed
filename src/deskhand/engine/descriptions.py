"""Decisions and events in words: the same in the console, in a terminal and in errors."""

from collections.abc import Callable, Mapping
from typing import Any

from deskhand.model.run import EXPIRY, Decision, Event, Review

DECIDED: dict[Decision, str] = {
    Decision.APPROVE: "approved",
    Decision.EDIT: "edited and approved",
    Decision.ACKNOWLEDGE: "acknowledged and kept open",
    Decision.REVISE: "sent back for another draft",
    Decision.REJECT: "rejected",
    Decision.TAKE_OVER: "taken over",
    Decision.RETRY: "sent on",
    Decision.CLOSE: "closed",
    Decision.ANSWER: "answered",
    Decision.LEFT: "confirmed as sent",
    Decision.SEND_AGAIN: "sent again",
    Decision.HAND_OVER: "handed over",
    Decision.REASSIGN: "given to somebody else",
}
"""What became of a review, as in "approved by ann"."""

_DESK = "the desk"
ACTORS = {"reply.bounced": "the reply", "reply.complained": "the customer"}
ACTIONS = {
    "review.approve": "approved it",
    "review.edit": "edited and approved it",
    "review.acknowledge": "acknowledged it and kept it open",
    "review.revise": "asked for another draft",
    "review.reject": "rejected it",
    "review.take_over": "took the conversation over",
    "review.retry": "sent it on",
    "review.close": "closed it",
    "review.answer": "answered it",
    "review.left": "confirmed that it had left",
    "review.send_again": "had it sent again",
    "review.hand_over": "handed it over",
    "review.signed": "approved it, the first of two",
    "review.undo": "stopped it from leaving",
    "review.note": "noted",
    "review.attached": "attached a file",
    "reply.bounced": "came back",
    "reply.complained": "complained about the reply",
    "run.answered_by_person": "answered from a mail program",
    "run.cancelled": "cancelled the run",
}


def describe_confidence(facts: Mapping[str, Any]) -> str:
    """How sure the desk is, and of what: "category 0.98, answer 0.71"; empty where unknown."""
    named = (("category", "confidence"), ("answer", "answer_confidence"))
    named_values = [(name, facts[fact]) for name, fact in named if facts.get(fact) is not None]
    return ", ".join(f"{name} {value:.2f}" for name, value in named_values)


def describe_decision(review: Review) -> str:
    """What became of a decided review, and by whom: "approved by ann"."""
    assert review.decision is not None
    outcome = DECIDED[review.decision]
    if review.decided_by == EXPIRY:
        return f"{outcome}, because nobody decided in time"
    return f"{outcome} by {review.decided_by}"


def actor_of(event: Event) -> str:
    """Who or what did it; the desk where no person did."""
    if event.kind in ACTORS:
        return ACTORS[event.kind]
    return _DESK if event.by in (None, "", EXPIRY) else str(event.by)


def describe_event(event: Event, show_time: Callable[[float], str]) -> str:
    """What the actor did, as in "gave it to otto"; `show_time` writes a moment for the reader."""
    about = event.payload
    if event.kind == "review.snoozed":
        until = about.get("until")
        return f"snoozed it until {show_time(until)}" if until else "brought it back"
    if event.kind == "review.assigned":
        return _with_detail(_assigned(about.get("to")), about.get("note"))

    action = ACTIONS.get(event.kind, event.kind.partition(".")[2].replace("_", " "))
    if event.kind == "reply.complained":
        return f"{action} (run {about.get('in')})"
    detail = about.get("text") or about.get("name") or about.get("note") or about.get("reason")
    return _with_detail(action, detail)


def _assigned(name: Any) -> str:
    return f"gave it to {name}" if name else "gave it back to all"


def _with_detail(action: str, detail: Any) -> str:
    return f"{action}: {detail}" if detail else action
