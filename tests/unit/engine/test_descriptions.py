"""Decisions and events read the same wherever they are shown."""

import pytest

from deskhand.engine.descriptions import DECIDED, actor_of, describe_event
from deskhand.model.run import DECISIONS, Decision, Event


def sentence(event: Event) -> str:
    return f"{actor_of(event)} {describe_event(event, lambda at: f'moment {at:.0f}')}"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event("review.approve", by="ida"), "ida approved it"),
        (Event("review.reject", by="ida", payload={"note": "rude"}), "ida rejected it: rude"),
        (
            Event("review.reject", by="expiry", payload={"note": "nobody decided in time"}),
            "the desk rejected it: nobody decided in time",
        ),
        (Event("review.take_over", by="ida"), "ida took the conversation over"),
        (Event("review.signed", by="ida"), "ida approved it, the first of two"),
        (Event("review.undo", by="ida"), "ida stopped it from leaving"),
        (Event("review.note", by="ida", payload={"text": "She called."}), "ida noted: She called."),
        (
            Event("review.snoozed", by="ida", payload={"until": 7.0}),
            "ida snoozed it until moment 7",
        ),
        (Event("review.snoozed", by="ida", payload={"until": None}), "ida brought it back"),
        (Event("review.assigned", by="ida", payload={"to": "otto"}), "ida gave it to otto"),
        (Event("review.assigned", by="ida", payload={"to": None}), "ida gave it back to all"),
        (
            Event("reply.bounced", payload={"reason": "no such mailbox"}),
            "the reply came back: no such mailbox",
        ),
        (
            Event("reply.complained", payload={"in": "run_2"}),
            "the customer complained about the reply (run run_2)",
        ),
        (Event("run.answered_by_person", by="ann"), "ann answered from a mail program"),
        (Event("run.cancelled", by="ann"), "ann cancelled the run"),
        (Event("review.something_new"), "the desk something new"),
    ],
)
def test_an_event_is_a_sentence(event: Event, words: str) -> None:
    assert sentence(event) == words


def test_every_decision_of_a_person_has_words() -> None:
    assert set(DECIDED) == set(Decision)
    for decision in {decision for choices in DECISIONS.values() for decision in choices}:
        described = sentence(Event(f"review.{decision}", by="ida"))
        assert described != f"ida {decision}"
