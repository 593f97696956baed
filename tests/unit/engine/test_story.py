"""A run's story from its records."""

from collections.abc import Sequence

from deskhand.engine.journal import ADOPTION, make_row
from deskhand.engine.story import Records, story_of, timeline_of
from deskhand.model.envelope import Ask, Delta, ErrorNote, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.run import Run, RunStatus, StepRow
from tests.kit import a_message

RUN = Run("run_1", "desk", 1, "key", "c1", "main", RunStatus.DONE, flow_version="v1")
REPLY = {"to": "ann@example.com", "subject": "Re: x", "text": "Which one?", "language": None}


def records(*steps: tuple[str, StageResult]) -> Records:
    rows: list[StepRow] = []
    for seq, (name, result) in enumerate(steps):
        rows.append(
            make_row(
                "run_1",
                seq,
                name,
                result,
                attempt=1,
                flow_version="v1",
                started_at=1.0,
                latency_ms=2.0,
                previous=b"",
            )
        )
    return Records(RUN, a_message(), rows, [])


def called(tool: str, verdict: str, ok: bool, amount: int) -> StageResult:
    return StageResult(
        call={"tool": tool, "arguments": {"amount": amount}, "verdict": verdict, "ok": ok}
    )


def held(tool: str, amount: int) -> StageResult:
    ask = Ask(
        kind="tool_call", reason="money", payload={"tool": tool, "arguments": {"amount": amount}}
    )
    return StageResult(outcome=Outcome.CONFIRM, ask=ask)


def test_a_run_without_steps_has_a_story() -> None:
    story = story_of(records())
    assert (story["outputs"], story["tool_calls"], story["review"], story["reply"]) == (
        {},
        [],
        None,
        None,
    )
    assert story["steps"] == []


def test_the_question_an_earlier_run_asked_is_not_this_runs_reply() -> None:
    adopted = (
        ADOPTION,
        StageResult(delta=Delta(outputs={"reply": REPLY, "order": {"number": None}})),
    )
    story = story_of(
        records(
            adopted, ("classify", StageResult(delta=Delta(outputs={"c": {"category": "spam"}})))
        )
    )
    assert story["outputs"]["reply"] == REPLY
    assert story["reply"] is None
    drafted = ("draft", StageResult(delta=Delta(merge={"reply": {"text": "It is on its way."}})))
    assert story_of(records(adopted, drafted))["reply"] == {**REPLY, "text": "It is on its way."}


def test_a_call_that_was_held_and_then_approved_is_told_once() -> None:
    steps = (
        ("act", held("refund", 5)),
        ("@decision", StageResult()),
        ("act/1", called("refund", "allow", True, 5)),
    )
    assert [(call["verdict"], call["ok"]) for call in story_of(records(*steps))["tool_calls"]] == [
        ("allow", True)
    ]


def test_two_equal_calls_stay_two() -> None:
    steps = tuple((f"act/{number}", called("note", "allow", True, 5)) for number in range(2))
    assert len(story_of(records(*steps))["tool_calls"]) == 2


def test_a_held_call_beside_another_stays() -> None:
    steps = (("act/1", called("refund", "allow", True, 1)), ("act", held("refund", 5)))
    assert [call["verdict"] for call in story_of(records(*steps))["tool_calls"]] == [
        "allow",
        "hold",
    ]


def test_the_delivery_is_told_apart_from_the_tool_calls() -> None:
    call = {
        "tool": "deliver_reply",
        "arguments": REPLY,
        "verdict": "allow",
        "ok": True,
        "result": {"captured": True},
    }
    story = story_of(records(("dispatch/deliver", StageResult(call=call))))
    assert story["tool_calls"] == []
    assert story["delivery"] == {"verdict": "allow", "ok": True, "captured": True}


def test_a_failed_step_tells_its_error() -> None:
    note = ErrorNote(stage="draft", code="model_unavailable", message="nobody answers")
    failed = StageResult(outcome=Outcome.ERROR, error=note, delta=Delta(errors=(note,)))
    told = records(("draft", failed))
    assert story_of(told)["steps"][0]["error"] == "nobody answers"
    step = timeline_of(told)[0]
    assert step["error"] == {
        "stage": "draft",
        "code": "model_unavailable",
        "message": "nobody answers",
    }
    assert step["output_state"]["errors"] == [step["error"]]


def erased(rows: Sequence[StepRow]) -> list[StepRow]:
    return [row._replace(body=None, salt=None) for row in rows]


def test_an_erased_run_still_has_a_story() -> None:
    whole = records(("classify", StageResult(delta=Delta(outputs={"c": {"category": "spam"}}))))
    gone = Records(RUN, None, erased(whole.rows), [])
    story = story_of(gone)
    assert (story["message"], story["outputs"]) == (None, {})
    assert [step["name"] for step in story["steps"]] == ["classify"]
    assert timeline_of(gone)[0]["erased"] is True
