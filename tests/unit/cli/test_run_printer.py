"""What `run`, `runs show` and the demo say of a step, in a few words."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from deskhand.cli.run_printer import RunPrinter, line_of, reply_lines
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.run import StepRow

FOUND = [{"source": "contact"}, {"source": "article"}, {"source": "article"}]
SAID = {
    "inquiry, confidence 0.606": {"category": "inquiry", "confidence": 0.605694},
    "contact, 2 article": {"sources": FOUND, "skipped": [], "left_out": 0, "tokens": 90},
    "nothing found; 1 skipped": {
        "sources": [],
        "skipped": [{"source": "calendar"}],
        "left_out": 0,
        "tokens": 0,
    },
    "1 call, 1 failed": {"executed": 1, "failed": 1},
}


def row(result: StageResult) -> StepRow:
    body = result.model_dump_json().encode()
    return StepRow("run_1", 0, "stage", 1, result.outcome, "v1", 0.0, 1.0, body, b"", b"", b"")


@pytest.mark.parametrize("words", SAID)
def test_what_a_stage_found_is_said_in_a_few_words(words: str) -> None:
    assert (
        line_of(row(StageResult(delta=Delta(outputs={"stage": SAID[words]})))).detail.plain == words
    )


@pytest.mark.parametrize(
    ("more", "results"),
    [
        ({"reason": "order: it is not the principal's"}, []),
        ({}, [{"error": {"message": "order: it is not the principal's"}}]),
    ],
)
def test_a_call_that_failed_says_why(more: dict[str, Any], results: list[Any]) -> None:
    call = {
        "tool": "find_order",
        "arguments": {"order": "P-1"},
        "verdict": "deny",
        "ok": False,
        **more,
    }
    result = StageResult(call=call, delta=Delta(outputs={"act": {"results": results}}))
    line = line_of(row(result))
    assert (line.detail.plain, line.verdict and line.verdict.plain) == (
        "order=P-1",
        "deny, order: it is not the principal's",
    )


def shown(result: StageResult, width: int, name: str = "stage") -> str:
    told = StringIO()
    RunPrinter(Console(file=told, width=width, highlight=False)).step(
        row(result)._replace(name=name)
    )
    return told.getvalue().rstrip()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_verdict_is_shown_whole_however_long_the_arguments_are(width: int) -> None:
    arguments = {
        "action": "create",
        "drug_name": "Zyrtec 10 mg 30 tablets",
        "pharmacy_id": "Praha 2",
        "packs": 12,
    }
    call = {"tool": "manage_reservation", "arguments": arguments, "verdict": "allow", "ok": True}
    line = shown(StageResult(call=call), width, "act/1 manage_reservation")
    assert "allow, ok" in line
    assert "action=create" in line
    assert "\n" not in line
    assert len(line) <= width


def test_a_reply_that_an_agent_handed_in_says_to_whom() -> None:
    reply = {
        "to": "ann@example.com",
        "subject": "Re: Parcel",
        "text": "It is on its way.",
        "language": "en",
    }
    line = shown(StageResult(delta=Delta(outputs={"reply": reply})), 80, "agent/reply")
    assert "5 words, en, to ann@example.com" in line


def test_a_call_that_was_not_made_says_why() -> None:
    error = {"message": "not made: the work had ended"}
    result = StageResult(delta=Delta(append={"agent.results": [{"tool": "find", "error": error}]}))
    assert "not made: the work had ended" in shown(result, 80, "agent/1.2 find")


def test_items_of_a_list_are_wrapped_under_their_words() -> None:
    text = "We have:\n- a teapot that is rather large and green, in the shop in Praha"
    lines = [line.plain for line in reply_lines({"subject": "Re", "to": "a@b", "text": text}, 40)]
    assert lines[1:] == [
        "  │ We have:",
        "  │ - a teapot that is rather large and",
        "  │   green, in the shop in Praha",
    ]


def test_a_quotation_stays_one_when_it_is_wrapped() -> None:
    text = "> The Grande is made for up to 40 people and takes fresh milk."
    lines = [line.plain for line in reply_lines({"subject": "Re", "to": "a@b", "text": text}, 40)]
    assert lines[1:] == [
        "  │ > The Grande is made for up to 40 people",
        "  │ > and takes fresh milk.",
    ]
