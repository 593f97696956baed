"""What an eval found, as the one document that every other form is made from.

Table, JUnit XML, HTML page and comparison all read it, and describe its scores in the same words.
"""

import json
from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.case_runner import CaseResult, Trial


def report_of(
    results: Sequence[CaseResult], *, desk: str, brain: str, repeat: int, cost: float = 0.0
) -> Document:
    """Splits by tag stand beside the sum, so that nobody reads the sum alone."""
    cases = [_case(result) for result in results]
    return {
        "desk": desk,
        "brain": brain,
        "repeat": repeat,
        **_counts(results),
        "splits": {tag: _counts(_tagged(results, tag)) for tag in _tags(results)},
        "pass_k": pass_k(results, repeat),
        "judged": _judgements(results, skipped=False),
        "not_judged": _judgements(results, skipped=True),
        "cost": cost,
        "cases": cases,
    }


def pass_k(results: Sequence[CaseResult], repeat: int) -> dict[str, float]:
    """Returns for each k how likely k trials of a case all pass, averaged over the cases.

    The k trials are drawn from the `repeat` trials that were made.
    """
    if not results:
        return {}
    passed = [result.passed_trials for result in results]
    return {str(k): _all_pass(passed, k, repeat) for k in range(1, repeat + 1)}


def _all_pass(passed: Sequence[int], k: int, repeat: int) -> float:
    likely = sum(comb(count, k) / comb(repeat, k) for count in passed)
    return round(likely / len(passed), 6)


def _counts(results: Sequence[CaseResult]) -> Document:
    passed = sum(result.passed for result in results)
    return {"total": len(results), "passed": passed, "failed": len(results) - passed}


def _tags(results: Iterable[CaseResult]) -> list[str]:
    return sorted({tag for result in results for tag in result.case.tags})


def _tagged(results: Iterable[CaseResult], tag: str) -> list[CaseResult]:
    return [result for result in results if tag in result.case.tags]


def _judgements(results: Iterable[CaseResult], *, skipped: bool) -> int:
    """How many scores of a model as judge were given, or with `skipped` were not."""
    count = 0
    for result in results:
        for trial in result.trials:
            judged = [score for score in trial.scores.values() if score.name.startswith("judge")]
            count += sum(score.skipped is skipped for score in judged)
    return count


def _case(result: CaseResult) -> Document:
    case = result.case
    trial = result.shown
    trials = [each.passed for each in result.trials]
    document = {
        "id": case.id,
        "tags": list(case.tags),
        "file": str(case.file),
        "line": case.line,
        "why": case.why,
        "passed": result.passed,
        "trials": trials,
        "scores": _scores(trial),
        "run": trial.turns[-1] if trial.turns else None,
    }
    if len(trial.turns) > 1:
        document["turns"] = list(trial.turns)
    return document


def _scores(trial: Trial) -> Document:
    return {name: score.document() for name, score in trial.scores.items()}


# --- in words


def failed_scores(case: Document) -> dict[str, Document]:
    return {
        name: score
        for name, score in case["scores"].items()
        if not (score["passed"] or score["skipped"])
    }


def score_in_words(name: str, score: Document) -> str:
    expected = value_in_words(score["expected"])
    found = value_in_words(score["found"])
    line = f"{name}: expected {expected}, found {found}"
    return f"{line} ({score['why']})" if score.get("why") else line


def value_in_words(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return value
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def lines_of(value: Any) -> list[str]:
    """A value as lines that can be compared one by one: a reply's words, a call a line."""
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, list):
        return [value_in_words(item) for item in value]
    if not isinstance(value, dict):
        return [] if value is None else [value_in_words(value)]
    lines: list[str] = []
    for name, item in value.items():
        is_text = isinstance(item, str) and "\n" in item
        lines += item.splitlines() if is_text else [f"{name}: {value_in_words(item)}"]
    return lines
