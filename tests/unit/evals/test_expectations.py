"""The harness tests itself: for every kind of expectation, what is so passes and what is not so
fails."""

from typing import Any

import pytest

from tests.eval_kit import a_case
from tests.unit.evals.conftest import RunCases

HELD = "I want my money back for P-1"
KINDS: dict[str, tuple[str, Any, list[Any]]] = {
    "route": ("Where is my order P-1?", "pipeline", ["agent"]),
    "profile": ("Where is my order P-1?", None, ["refunds"]),
    "rule": ("Where is my order P-1?", None, ["vip"]),
    "flow": ("Where is my order P-1?", "main", []),
    "category": ("Where is my order P-1?", "order", ["refund", ["refund", "other"]]),
    "classification": ("Where is my order P-1?", ["refund", "order"], ["refund"]),
    "intent": ("Where is my order P-1?", "order", ["refund"]),
    "slots": ("Where is my order P-1?", {"order": "P-1"}, [{"order": "P-2"}]),
    "plan": (
        HELD,
        ["find_order", {"refund": {"amount": 5}}],
        [[], ["find_order"], ["refund", "find_order"], ["find_order", {"refund": {"amount": 6}}]],
    ),
    "tools": (
        HELD,
        [{"find_order": {"order": "P-1"}}, {"refund": {"order": "P-1", "amount": 5}}],
        [
            [],
            ["find_order"],
            ["refund", "find_order"],
            [{"find_order": {"order": "P-2"}}, "refund"],
            ["find_order", {"refund": {"to": "me"}}],
            ["find_order", "refund", "refund"],
        ],
    ),
    "called": (
        HELD,
        [{"refund": {"amount": 5}}],
        [["refund", "find_order"], ["refund", "refund"], [{"find_order": {"order": "P-2"}}]],
    ),
    "not_called": (
        HELD,
        [{"refund": {"amount": 6}}, {"find_order": {"order": "P-2"}}],
        [["refund"], [{"refund": {"amount": 6}}, "find_order"]],
    ),
    "verdict": (HELD, "hold", ["allow", "deny", {"refund": "allow"}, {"find_order": "hold"}]),
    "review": (
        HELD,
        {"kind": "tool_call", "contains": ["cannot be taken back"]},
        [False, "the moon", {"kind": "reply"}, {"contains": ["taken back", "the moon"]}],
    ),
    "status": (HELD, ["sent", "waiting_review"], ["sent", ["sent", "done"]]),
    "error": ("Where is my order P-1?", None, ["stage_failed"]),
    "reply": (
        "Where is my order P-1?",
        {
            "contains": ["ON ITS WAY", "the shop"],
            "not_contains": "lost",
            "matches": "on its .ay",
            "language": "en",
        },
        [
            False,
            {"contains": ["on its way", "lost"]},
            {"not_contains": ["on its way"]},
            {"matches": "^nothing$"},
            {"equals": "Hello"},
            {"language": "cs"},
            {"to": "bob@example.com"},
            {"subject": "Re: something"},
        ],
    ),
    "must_say": (
        "Where is my order P-1?",
        [["under way", "on its way"], {"matches": "parcel\\.? it is"}],
        [["lost"], ["on its way", "lost"], [{"matches": "^nothing$"}]],
    ),
    "must_not_say": (
        "Where is my order P-1?",
        ["lost", ["refunded", "paid back"]],
        [["on its way"], ["lost", ["lost", "parcel"]]],
    ),
    "asks": (
        "Where is my order P-1?",
        [{"ask": "where is my order", "says": ["on its way"]}],
        [
            [{"ask": "where is my order", "says": ["lost"]}],
            [{"ask": "where is my order", "article": "orders"}],
            [{"ask": "where is my order", "answered": False}],
        ],
    ),
    "must_not_act": (HELD, True, []),
    "language": ("česky prosím", "cs", ["en", "de"]),
    "stages": (
        "Where is my order P-1?",
        ["classify", "act", "dispatch"],
        [["act", "classify"], ["classify", "act", "act"]],
    ),
    "asks_for": ("Where is my order?", "order", ["address"]),
    "holds": (
        "Where is my order P-1?",
        {"outputs.classify.confidence": {"at_least": 0.9}},
        [{"outputs.classify.confidence": {"at_least": 0.99}}, {"no.such.thing": "here"}],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_so_passes_and_what_is_not_so_fails(kind: str, run_desk: RunCases) -> None:
    body, right, wrong = KINDS[kind]
    cases = [
        a_case({kind: expected}, body, id=f"wrong-{number}")
        for number, expected in enumerate(wrong)
    ]
    if right is not None:
        cases.append(a_case({kind: right}, body, id="right"))
    results = await run_desk(cases)
    assert len(results) == len(cases)
    for result in results:
        assert result.passed == (result.case.id == "right")
        assert list(result.shown.scores) == [kind]


async def test_what_was_carried_out_is_an_act_and_what_was_held_is_none(
    run_desk: RunCases,
) -> None:
    """A refund that a person must approve has not happened; once approved it has."""
    approved = [
        {"customer": HELD, "expect": {"must_not_act": True}},
        {"reviewer": "approve", "expect": {"must_not_act": [{"refund": {"amount": 6}}]}},
    ]
    acted = [{"customer": HELD}, {"reviewer": "approve", "expect": {"must_not_act": ["refund"]}}]
    [not_this, this] = await run_desk([{"id": "a", "turns": approved}, {"id": "b", "turns": acted}])
    assert not_this.passed, not_this.shown.scores
    assert not this.passed
    assert this.shown.scores["2.must_not_act"].found == [{"refund": {"order": "P-1", "amount": 5}}]


async def test_a_missing_fact_is_named(run_desk: RunCases) -> None:
    [result] = await run_desk([a_case({"must_say": ["on its way", "14 days"]})])
    assert result.shown.scores["must_say"].found["missing"] == ["14 days"]


async def test_a_promise_that_nothing_stands_behind_is_found(run_desk: RunCases) -> None:
    """Nobody moved any money; that the parcel is on its way was looked up."""
    promising = {"tools": {"find_order": {"status": "refunded, we have paid 20 EUR back to you"}}}
    cases = [
        a_case({"reply": {"promises_backed": True}}),
        a_case({"reply": {"promises_backed": True}}, given=promising, id="promised"),
        a_case({"reply": {"promises_backed": False}}, given=promising, id="known-to-be"),
    ]
    assert [result.passed for result in await run_desk(cases)] == [True, False, True]


async def test_a_reply_that_must_not_be_is_missed_by_no_one(run_desk: RunCases) -> None:
    none, some = await run_desk(
        [a_case({"reply": False}, HELD), a_case({"reply": True}, HELD, id="must-be")]
    )
    assert (none.passed, some.passed) == (True, False)
