"""What is wrong with a reply, why it waits, and what a source says instead."""

from typing import Any

from deskhand.model.causes import Cause
from deskhand.model.run import Review, ReviewKind, ReviewState
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


def test_each_cause_has_its_own_words_where_there_are_as_many() -> None:
    causes = (Cause.ALWAYS_ASK, Cause.UNBACKED_PROMISE)
    review = a_review("complaint goes to a person; nothing backs before Friday", causes)
    assert rules_of(review) == [
        (Cause.UNBACKED_PROMISE, "nothing backs before Friday"),
        (Cause.ALWAYS_ASK, "complaint goes to a person"),
    ]
    whole = rules_of(a_review("one sentence for both", causes))
    assert whole == [(Cause.UNBACKED_PROMISE, "one sentence for both"), (Cause.ALWAYS_ASK, "")]
