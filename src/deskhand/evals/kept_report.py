"""A report of an eval as it is kept: what each case came to, without whole runs."""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.differences import facts_of
from deskhand.evals.report import failed_scores, value_in_words

_LONGEST = 2_000
"""Characters of a value that are kept."""


def kept_report(report: Mapping[str, Any]) -> Document:
    """What two evals are compared by."""
    names = ("brain", "total", "passed", "failed", "known_failures", "outcomes", "cost")
    kept: Document = {name: report.get(name) for name in names}
    kept["cases"] = [_kept_case(case) for case in report["cases"]]
    return kept


def _kept_case(case: Document) -> Document:
    run = case.get("run")
    facts = facts_of(run) if run else {}
    scores = {name: _kept_score(score) for name, score in failed_scores(case).items()}
    shortened = {name: _shortened(value) for name, value in facts.items()}
    return {
        "id": case["id"],
        "tags": case.get("tags", []),
        "passed": case["passed"],
        "scores": scores,
        "facts": shortened,
    }


def _kept_score(score: Mapping[str, Any]) -> Document:
    expected = value_in_words(score.get("expected"))[:_LONGEST]
    actual = value_in_words(score.get("found"))[:_LONGEST]
    return {"passed": False, "expected": expected, "found": actual, "why": score.get("why")}


def _shortened(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value
