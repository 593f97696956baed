"""What `run`, `runs show` and the demo say of a step, in a few words."""

from typing import Any

import pytest

from deskhand.cli.narrator import line_of
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.run import StepRow

FOUND = [{"source": "contact"}, {"source": "article"}, {"source": "article"}]
SAID = {
    "inquiry, confidence 0.606": {"category": "inquiry", "confidence": 0.605694},
    "contact, 2 article": {"sources": FOUND, "skipped": [], "left_out": 0, "tokens": 90},
    "nothing found; 1 skipped": {"sources": [], "skipped": [{"source": "calendar"}], "left_out": 0, "tokens": 0},
    "1 call, 1 failed": {"executed": 1, "failed": 1},
}


def row(result: StageResult) -> StepRow:
    body = result.model_dump_json().encode()
    return StepRow("run_1", 0, "stage", 1, result.outcome, "v1", 0.0, 1.0, body, b"", b"", b"")


@pytest.mark.parametrize("words", SAID)
def test_what_a_stage_found_is_said_in_a_few_words(words: str) -> None:
    assert line_of(row(StageResult(delta=Delta(outputs={"stage": SAID[words]})))).detail.plain == words


@pytest.mark.parametrize(
    ("more", "results"),
    [
        ({"reason": "order: it is not the principal's"}, []),
        ({}, [{"error": {"message": "order: it is not the principal's"}}]),
    ],
)
def test_a_call_that_failed_says_why(more: dict[str, Any], results: list[Any]) -> None:
    call = {"tool": "find_order", "arguments": {"order": "P-1"}, "verdict": "deny", "ok": False, **more}
    result = StageResult(call=call, delta=Delta(outputs={"act": {"results": results}}))
    assert line_of(row(result)).detail.plain == "order=P-1  deny, order: it is not the principal's"
