"""Decisions and events as phrases that can be said in the reader's language."""

from typing import Any

from deskhand.engine.descriptions import ACTIONS, ACTORS, DECIDED, actor_of
from deskhand.model.run import EXPIRY, Event, Review
from deskhand.web.console.labels import iso
from deskhand.web.console.translation import Phrase

_NOBODY = "the desk"


def actor_words(event: Event) -> str:
    """Who or what did it: a person by name, all else by a phrase."""
    name = actor_of(event)
    return Phrase(name) if name in (_NOBODY, *ACTORS.values()) else name


def event_words(event: Event) -> str:
    """What the actor did, with what they said about it."""
    about = event.payload
    if event.kind == "review.snoozed":
        until = about.get("until")
        if until:
            return Phrase("snoozed it until {when}", when=iso(until))
        return Phrase("brought it back")
    if event.kind == "review.assigned":
        to = about.get("to")
        given = Phrase("gave it to {who}", who=to) if to else Phrase("gave it back to all")
        return _with_detail(given, about.get("note"))
    words = ACTIONS.get(event.kind, event.kind.partition(".")[2].replace("_", " "))
    detail = about.get("text") or about.get("name") or about.get("note") or about.get("reason")
    return _with_detail(Phrase(words), detail)


def decision_words(review: Review) -> Phrase:
    """What became of a decided review, and by whom."""
    assert review.decision is not None
    outcome = Phrase(DECIDED[review.decision])
    if review.decided_by == EXPIRY:
        return Phrase("{what}, because nobody decided in time", what=outcome)
    return Phrase("{what} by {who}", what=outcome, who=review.decided_by)


def _with_detail(words: Phrase, detail: Any) -> Phrase:
    return Phrase("{what}: {detail}", what=words, detail=detail) if detail else words
