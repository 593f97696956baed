"""Conversations, given results, reviewers, repetition, scorers and judges."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.brain.scripted import ScriptedBrain
from deskhand.errors import ConfigError
from deskhand.evals.case_runner import Settings, run_cases
from deskhand.evals.report import report_of
from deskhand.wiring import desk_cases, open_sandbox, read_desk
from tests.eval_kit import a_case, a_desk
from tests.unit.evals.conftest import RunCases

HELD = "I want my money back for P-1"


async def test_a_conversation_goes_on_where_it_asked(run_desk: RunCases) -> None:
    turns = [
        {
            "customer": "Where is my order?",
            "expect": {"asks_for": "order", "status": "waiting_user", "tools": []},
        },
        {"customer": "P-1", "expect": {"tools": [{"find_order": {"order": "P-1"}}]}},
    ]
    [result] = await run_desk([{"id": "it", "turns": turns, "expect": {"status": "sent"}}])
    assert result.passed, result.shown.scores
    assert set(result.shown.scores) == {"1.asks_for", "1.status", "1.tools", "2.tools", "2.status"}
    assert [run["status"] for run in result.shown.turns] == ["waiting_user", "sent"]


async def test_a_given_result_stands_in_for_a_tool_and_only_for_the_calls_it_is_for(
    run_desk: RunCases,
) -> None:
    given = {
        "tools": {
            "find_order": [{"when": {"order": "P-1"}, "result": {"status": "at the customs"}}]
        }
    }
    [one, other] = await run_desk(
        [
            a_case({"reply": {"contains": "at the customs"}}, given=given),
            a_case({"reply": {"contains": "is lost"}}, "order P-2?", given=given, id="other"),
        ]
    )
    assert (one.passed, other.passed) == (True, True)


async def test_a_reviewer_approves_a_held_call_and_it_is_captured(run_desk: RunCases) -> None:
    """The tool itself would raise: an effect is never carried out in a sandbox."""
    turns = [
        {"customer": HELD, "expect": {"status": "waiting_review", "verdict": {"refund": "hold"}}},
        {"reviewer": "approve", "expect": {"verdict": {"refund": "allow"}, "status": "sent"}},
    ]
    [result] = await run_desk([{"id": "it", "turns": turns}])
    assert result.passed, result.shown.scores
    assert result.shown.turns[-1]["outputs"]["act"]["results"][1]["data"] == {"captured": True}


@pytest.mark.parametrize(
    ("customer", "reviewer", "words"),
    [
        ("order P-1", "approve", "nothing waits for a reviewer"),
        (HELD, "retry", "cannot be decided with"),
    ],
)
async def test_a_decision_that_cannot_be_made_fails_the_case(
    customer: str, reviewer: str, words: str, run_desk: RunCases
) -> None:
    turns: list[dict[str, Any]] = [
        {"customer": customer},
        {"reviewer": reviewer, "expect": {"status": "sent"}},
    ]
    [result] = await run_desk([{"id": "it", "turns": turns}])
    assert not result.passed
    assert words in str(result.shown.scores["2.reviewer"].why)


@pytest.mark.parametrize(
    ("of_the_file", "of_the_case", "status"),
    [
        (None, None, "sent"),
        ("draft", None, "waiting_review"),
        ("draft", "auto", "sent"),
        (None, "shadow", "done"),
    ],
)
async def test_a_case_is_worked_in_the_mode_it_names(
    of_the_file: str | None, of_the_case: str | None, status: str, run_desk: RunCases
) -> None:
    """The desk itself is in `auto`."""
    case = a_case({"status": status}, **({"mode": of_the_case} if of_the_case else {}))
    cases = {"cases": [case], **({"mode": of_the_file} if of_the_file else {})}
    [result] = await run_desk(json.dumps(cases))
    assert result.passed, result.shown.scores


async def test_cases_do_not_meet_each_other(run_desk: RunCases) -> None:
    """The same person asks the same question in many cases at once, and once more in every
    trial."""
    turns = [{"customer": "Where is my order?"}, {"customer": "P-1", "expect": {"status": "sent"}}]
    cases = [
        {"id": f"case-{number}", "from": "ann@example.com", "turns": turns} for number in range(12)
    ]
    results = await run_desk(cases, repeat=3, parallel=12)
    assert all(result.passed and len(result.trials) == 3 for result in results)


async def test_pass_k_counts_what_passes_every_time(tmp_path: Path) -> None:
    """A scorer that is content with two trials of three."""
    scorers = """
from itertools import count
from deskhand import scorer
seen = count()

@scorer("lucky")
async def lucky(run, expected):
    return next(seen) % 3 != 2
"""
    folder = a_desk(
        tmp_path / "desk",
        [a_case({"score": {"lucky": True}}), a_case({"status": "sent"}, id="sure")],
        scorers,
    )
    loaded = read_desk(str(folder))
    cases, found = desk_cases(loaded)
    async with open_sandbox(loaded) as sandbox:
        results = await run_cases(cases, sandbox, Settings(found, repeat=3))
    report = report_of(results, desk="shop", brain="scripted", repeat=3)
    assert [case["trials"].count(True) for case in report["cases"]] == [2, 3]
    assert (report["passed"], report["failed"]) == (1, 1)
    assert report["pass_k"] == {
        "1": pytest.approx(5 / 6),
        "2": pytest.approx((1 / 3 + 1) / 2),
        "3": 0.5,
    }


async def test_a_scorer_may_give_a_number(tmp_path: Path) -> None:
    scorers = (
        "from deskhand import scorer\n\n@scorer('closeness')\ndef closeness(run, expected):\n   "
        " return expected\n"
    )
    cases = [a_case({"score": {"closeness": 0.8}}), a_case({"score": {"closeness": 0.2}}, id="far")]
    loaded = read_desk(str(a_desk(tmp_path / "desk", cases, scorers)))
    found, known = desk_cases(loaded)
    async with open_sandbox(loaded) as sandbox:
        results = await run_cases(found, sandbox, Settings(known))
    assert [(result.passed, result.shown.scores["closeness"].score) for result in results] == [
        (True, 0.8),
        (False, 0.2),
    ]


@pytest.mark.parametrize(
    ("scorers", "words"),
    [
        ("@scorer('x')\ndef x(run): return True", r"evals.py:4: scorer 'x' takes 2 arguments"),
        (
            (
                "@scorer('x')\ndef x(run, expected): return True\n@scorer('x')\ndef y(run,"
                " expected): pass"
            ),
            "already",
        ),
    ],
)
def test_a_scorer_that_is_written_wrong_is_told(scorers: str, words: str, tmp_path: Path) -> None:
    loaded = read_desk(
        str(
            a_desk(
                tmp_path / "desk",
                [a_case({"status": "sent"})],
                f"from deskhand import scorer\n\n\n{scorers}",
            )
        )
    )
    with pytest.raises(ConfigError, match=words):
        desk_cases(loaded)


async def test_a_scorer_that_fails_is_told_with_its_place(tmp_path: Path) -> None:
    scorers = (
        "from deskhand import scorer\n\n@scorer('x')\ndef x(run, expected):\n    return 1 / 0\n"
    )
    loaded = read_desk(str(a_desk(tmp_path / "desk", [a_case({"score": {"x": True}})], scorers)))
    cases, known = desk_cases(loaded)
    async with open_sandbox(loaded) as sandbox:
        with pytest.raises(ConfigError, match=r"evals\.py:3: scorer 'x' failed: ZeroDivisionError"):
            await run_cases(cases, sandbox, Settings(known))


async def test_a_judge_decides_and_without_one_nobody_pretends(
    run_desk: RunCases, tmp_path: Path
) -> None:
    judge = ScriptedBrain(lambda task: {"passed": "thank you" in task.text, "reason": "I looked"})
    cases = [a_case({"judge": ["It says thank you.", "It is short."]})]
    [judged] = await run_desk(cases, judge=judge)
    assert [(score.passed, score.skipped) for score in judged.shown.scores.values()] == [
        (True, False)
    ] * 2
    grim = ScriptedBrain(lambda task: {"passed": False, "reason": "no"})
    loaded = read_desk(str(tmp_path / "desk"))
    found, known = desk_cases(loaded)
    async with open_sandbox(loaded) as sandbox:
        [failed] = await run_cases(found, sandbox, Settings(known, judge=grim))
        [skipped] = await run_cases(found, sandbox, Settings(known))
    assert not failed.passed
    assert [score.skipped for score in skipped.shown.scores.values()] == [True, True]
    assert report_of([skipped], desk="shop", brain="scripted", repeat=1)["not_judged"] == 2
