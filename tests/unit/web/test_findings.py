"""What is wrong with a reply, why it waits, and what a source says instead."""

from dataclasses import replace
from typing import Any

from deskhand.model.causes import Cause
from deskhand.model.run import REASONS, Review, ReviewKind, ReviewState
from deskhand.web.console.findings import read_findings, rules_of


def a_review(reason: str = "unsure", causes: tuple[Cause, ...] = (), **payload: Any) -> Review:
    return Review(
        id="rev_1",
        desk="shop",
        run_id="run_1",
        conversation="c1",
        seq=0,
        kind=ReviewKind.REPLY,
        reason=reason,
        payload=payload,
        payload_hash="hash",
        state=ReviewState.OPEN,
        version=1,
        created_at=0.0,
        causes=causes,
    )


def test_the_source_that_speaks_of_the_same_is_offered() -> None:
    promise = {"sentence": "Your delivery arrives before Friday.", "value": "before Friday"}
    sources = [
        ("Warranty", "Lamps have a warranty of five years."),
        (
            "Delivery",
            "A delivery arrives within ten working days. The carrier calls.",
        ),
    ]
    [finding] = read_findings(a_review(findings=[promise]), sources)
    assert (finding.source, finding.instead) == (2, "A delivery arrives within ten working days.")
    [alone] = read_findings(a_review(findings=[promise]), sources[:1])
    assert (alone.source, alone.instead) == (0, "")


def test_each_cause_has_its_own_words_whatever_stands_in_them() -> None:
    causes = (Cause.ALWAYS_ASK, Cause.UNBACKED_PROMISE)
    words = {"always_ask": "complaint; a person answers", "unbacked_promise": "nothing backs it"}
    review = a_review("complaint; a person answers; nothing backs it", causes)
    assert rules_of(replace(review, facts={REASONS: words})) == [
        (Cause.UNBACKED_PROMISE, "nothing backs it"),
        (Cause.ALWAYS_ASK, "complaint; a person answers"),
    ]


def test_one_sentence_for_all_causes_stands_with_the_first() -> None:
    causes = (Cause.ALWAYS_ASK, Cause.UNBACKED_PROMISE)
    whole = rules_of(a_review("both; at once", causes))
    assert whole == [(Cause.UNBACKED_PROMISE, "both; at once"), (Cause.ALWAYS_ASK, "")]
