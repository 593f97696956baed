"""What became of golden mail, and the table by field, language and tag."""

from typing import Any

import pytest

from deskhand.evals.outcomes import count_outcomes, field_table, outcome_of
from deskhand.evals.report import failed_scores, report_of
from tests.eval_kit import a_case
from tests.unit.evals.conftest import RunCases

REPLY = {"text": "It is on its way."}


def run(status: str, reply: Any = REPLY, **more: Any) -> dict[str, Any]:
    return {"status": status, "reply": reply, **more}


def scored(**passed: bool) -> dict[str, Any]:
    return {name: {"passed": value} for name, value in passed.items()}


@pytest.mark.parametrize(
    ("document", "scores", "outcome"),
    [
        (run("sent"), scored(must_say=True), "sent_right"),
        (run("sent"), scored(must_say=False), "sent_wrong"),
        (run("sent"), scored(must_say=True, must_not_say=False), "sent_wrong"),
        (run("sent"), scored(must_say=True, must_not_act=False), "sent_wrong"),
        (run("sent"), scored(must_say=True, language=False), "sent_wrong"),
        (run("sent"), scored(must_say=True, status=False), "sent_wrong"),
        (run("sent"), scored(category=False, asks=True), "sent_right"),
        (run("sent"), scored(category=True), "sent_not_judged"),
        (run("waiting_review", held_by_mode=True), scored(must_say=True), "sent_right"),
        (run("waiting_review", held_by_mode=True), scored(asks=False), "sent_wrong"),
        (run("waiting_review"), scored(must_say=True), "drafted_useful"),
        (run("waiting_review"), scored(must_say=True, asks=False), "drafted_lacking"),
        (run("waiting_review"), scored(status=True), "drafted_not_judged"),
        (run("waiting_user"), {}, "asked"),
        (run("needs_review", None), {}, "handed_over"),
        (run("done", None), {}, "ended"),
    ],
)
def test_mail_is_counted_as_a_support_lead_counts_it(
    document: dict[str, Any], scores: dict[str, Any], outcome: str
) -> None:
    assert outcome_of(document, scores) == outcome
    assert count_outcomes([{"outcome": outcome}])[outcome] == 1


def test_each_field_is_counted_by_language_and_tag() -> None:
    met = {"passed": True, "skipped": False}
    missed = {"passed": False, "skipped": False}
    not_judged = {"passed": True, "skipped": True}
    cases: list[dict[str, Any]] = [
        {"language": "cs", "tags": ["blind"], "scores": {"must_say": met, "judge": not_judged}},
        {"language": "cs", "tags": ["author"], "scores": {"2.must_say": missed, "status": met}},
        {"language": None, "tags": ["author"], "scores": {"must_say": met}},
    ]
    [must_say, status] = field_table(cases)
    assert (must_say["field"], must_say["passed"], must_say["total"]) == ("must_say", 2, 3)
    assert must_say["languages"] == {
        "cs": {"passed": 1, "total": 2},
        "unknown": {"passed": 1, "total": 1},
    }
    assert must_say["tags"] == {
        "author": {"passed": 1, "total": 2},
        "blind": {"passed": 1, "total": 1},
    }
    assert (status["field"], status["total"]) == ("status", 1)


async def test_a_known_failure_fails_nothing_until_it_is_met(run_desk: RunCases) -> None:
    why = "the carrier is not asked yet"
    results = await run_desk(
        [
            a_case({"must_say": ["Thursday"]}, known_failure=why),
            a_case({"must_say": ["on its way"]}, known_failure=why, id="met"),
        ]
    )
    assert [result.passed for result in results] == [True, False]
    report = report_of(results, desk="shop", brain="scripted", repeat=1)
    assert report["known_failures"] == 2
    assert (report["outcomes"]["sent_right"], report["outcomes"]["sent_wrong"]) == (1, 1)
    assert failed_scores(report["cases"][1])["known_failure"]["expected"] == why


async def test_coverage_is_measured_on_golden_mail(run_desk: RunCases) -> None:
    """Mail that the desk could not sort is not covered, whatever its examples say."""
    results = await run_desk(
        [
            a_case({"category": "order"}),
            a_case({"category": "refund"}, "Do you sell gift cards?", id="not-sorted"),
            a_case({"category": "refund"}, id="sorted-wrongly"),
            a_case({"status": "sent"}, id="expects-no-category"),
        ]
    )
    coverage = report_of(results, desk="shop", brain="scripted", repeat=1)["coverage"]
    assert coverage == {
        "mails": 3,
        "sorted": 2,
        "right": 1,
        "coverage": 0.6667,
        "accuracy": 0.3333,
    }
