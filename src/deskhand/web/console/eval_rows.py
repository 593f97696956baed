"""Two evals beside each other, as the desk's screen shows them."""

from collections.abc import Sequence
from typing import Any

from deskhand.evals.comparison import compare
from deskhand.evals.report import value_in_words
from deskhand.ports.run_bench import KeptEval

_MOST = 100


def compare_kept(evals: Sequence[KeptEval]) -> dict[str, Any] | None:
    """What the newest differs in from the one before it; None where there is only one."""
    if len(evals) < 2:
        return None
    now, before = evals[0].report, evals[1].report
    comparison = compare(dict(before), dict(now))
    comparison["changed"] = [_changed(change) for change in comparison["changed"][:_MOST]]
    return comparison


def _changed(change: dict[str, Any]) -> dict[str, Any]:
    """A case that came out differently, with what it was and what it is, side by side."""
    sides = [
        (name, value_in_words(pair["before"]), value_in_words(pair["now"]))
        for name, pair in change["scores"].items()
    ]
    for difference in change["changes"]:
        before, now = (value_in_words(difference[name]) for name in ("before", "now"))
        sides.append((difference["what"], before, now))
    return {**change, "sides": sides}


def failing_cases(evals: Sequence[KeptEval]) -> list[dict[str, Any]]:
    """What the newest eval did not meet: the case, what was expected and what came."""
    if not evals:
        return []
    failing = [case for case in evals[0].report["cases"] if not case["passed"]]
    return failing[:_MOST]
