"""What an eval found, as the one document that every other form (table, JUnit, HTML, comparison)
is made from."""

from collections.abc import Iterable, Sequence
from math import comb

from deskhand.engine.story import Document
from deskhand.evals.case_runner import CaseResult, Trial


def report_of(
    results: Sequence[CaseResult], *, desk: str, brain: str, repeat: int, cost: float = 0.0
) -> Document:
    """Splits by tag stand beside the sum, so that nobody reads the sum alone."""
    return {
        "desk": desk,
        "brain": brain,
        "repeat": repeat,
        **_counts(results),
        "splits": {tag: _counts(_tagged(results, tag)) for tag in _tags(results)},
        "pass_k": pass_k(results, repeat),
        "judged": sum(_judged(result, skipped=False) for result in results),
        "not_judged": sum(_judged(result, skipped=True) for result in results),
        "cost": cost,
        "cases": [_case(result) for result in results],
    }


def pass_k(results: Sequence[CaseResult], repeat: int) -> dict[str, float]:
    """For each k: how likely k trials of a case drawn from those made all pass, averaged over
    the cases."""
    if not results:
        return {}
    passed = [sum(trial.passed for trial in result.trials) for result in results]
    return {
        str(k): round(sum(comb(count, k) / comb(repeat, k) for count in passed) / len(passed), 6)
        for k in range(1, repeat + 1)
    }


def _counts(results: Iterable[CaseResult]) -> Document:
    every = list(results)
    passed = sum(result.passed for result in every)
    return {"total": len(every), "passed": passed, "failed": len(every) - passed}


def _tags(results: Iterable[CaseResult]) -> list[str]:
    return sorted({tag for result in results for tag in result.case.tags})


def _tagged(results: Iterable[CaseResult], tag: str) -> list[CaseResult]:
    return [result for result in results if tag in result.case.tags]


def _judged(result: CaseResult, *, skipped: bool) -> int:
    every = [score for trial in result.trials for score in trial.scores.values()]
    return sum(score.skipped is skipped for score in every if score.name.startswith("judge"))


def _case(result: CaseResult) -> Document:
    case, shown = result.case, result.shown
    return {
        "id": case.id,
        "tags": list(case.tags),
        "file": str(case.file),
        "line": case.line,
        "why": case.why,
        "passed": result.passed,
        "trials": [trial.passed for trial in result.trials],
        "scores": {name: score.document() for name, score in shown.scores.items()},
        "run": shown.turns[-1] if shown.turns else None,
        **_turns(shown),
    }


def _turns(trial: Trial) -> Document:
    return {"turns": list(trial.turns)} if len(trial.turns) > 1 else {}
