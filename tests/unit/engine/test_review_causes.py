"""Why something waits for a person is one of a fixed list, whoever stopped it."""

import pytest

from deskhand.engine.loop import End
from deskhand.engine.review_causes import causes_of, facts_of
from deskhand.model.causes import Cause, cause_of_rule
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, Envelope, ErrorNote
from deskhand.model.run import RunStatus
from deskhand.tools.rules import RULES


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (ErrorCode.HOP_LIMIT, Cause.STEP_LIMIT),
        (ErrorCode.LOOP_LIMIT, Cause.STEP_LIMIT),
        (ErrorCode.TAKEN_OVER, Cause.TAKEN_OVER),
        (ErrorCode.REPLY_BOUNCED, Cause.BOUNCED),
        (ErrorCode.EFFECT_UNKNOWN, Cause.EFFECT_UNKNOWN),
        (ErrorCode.STAGE_FAILED, Cause.ERROR),
        ("a code of a later version", Cause.ERROR),
        (None, Cause.ESCALATED),
    ],
)
def test_a_hand_over_tells_its_error(code: str | None, cause: Cause) -> None:
    error = None if code is None else ErrorNote(stage="", code=code, message="x")
    assert causes_of(End(RunStatus.NEEDS_REVIEW, "x", error)) == (cause,)


def test_what_the_asking_stage_said_counts_more() -> None:
    ask = Ask(kind="reply", reason="x", causes=(Cause.FIRST_CONTACT,))
    assert causes_of(End(RunStatus.WAITING_REVIEW, "x", ask=ask)) == (Cause.FIRST_CONTACT,)


def test_every_rule_of_the_gate_is_told_as_some_cause() -> None:
    told = {rule.name: cause_of_rule(rule.name) for rule in RULES}
    assert told["over_cap"] is Cause.BUDGET
    assert told["unbacked_commitment"] is Cause.UNBACKED_PROMISE
    assert told["outgoing_content"] is Cause.OUTGOING_CONTENT
    assert told["not_offered"] is Cause.GATE_HOLD
    assert cause_of_rule("a rule of the desk's own") is Cause.GATE_HOLD


def test_facts_are_words_and_numbers_only() -> None:
    outputs = {
        "read": {"category": "complaint", "confidence": float("nan"), "language": "cs"},
        "review": {"category": "complaint", "confidence": float("nan"), "threshold": 0.8},
        "reply": {"text": "x", "language": None},
    }
    assert facts_of(Envelope(outputs=outputs)) == {
        "category": "complaint",
        "threshold": 0.8,
        "language": "cs",
    }
    assert facts_of(Envelope(outputs={"read": {"category": ["a"]}})) == {}
    assert facts_of(None) == {}
