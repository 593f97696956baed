"""Two reports side by side, and whether the difference may be chance."""

from typing import Any

import pytest

from deskhand.evals.comparison import compare, mcnemar


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (0, 5, 0.0625),
        (1, 9, 0.021484375),
        (9, 1, 0.021484375),
        (6, 6, 1.0),
        (2, 10, 0.03857421875),
    ],
)
def test_mcnemar_is_the_exact_binomial_test(worse: int, better: int, p: float) -> None:
    assert mcnemar(worse, better) == pytest.approx(p)


def a_report(**passed: bool) -> dict[str, Any]:
    score = {"expected": "sent", "found": "done", "score": 0.0, "skipped": False, "why": None}
    return {
        "cases": [
            {
                "id": name,
                "tags": ["author"],
                "passed": good,
                "run": None,
                "scores": {"status": {**score, "passed": good}},
            }
            for name, good in passed.items()
        ]
    }


def test_what_got_worse_comes_first_and_counts() -> None:
    found = compare(
        a_report(a=True, b=False, c=True, gone=True), a_report(a=False, b=True, c=True, new=False)
    )
    assert (found["compared"], found["regressions"], found["fixed"]) == (3, 1, 1)
    assert [(change["id"], change["kind"]) for change in found["changed"]] == [
        ("a", "regression"),
        ("b", "fixed"),
    ]
    assert found["changed"][0]["scores"] == {
        "status": {"expected": "sent", "before": "done", "now": "done"}
    }
    assert (found["added"], found["missing"]) == (["new"], ["gone"])
