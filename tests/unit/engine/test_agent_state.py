"""A run as the mail flow's state, whatever its rows say."""

from dataclasses import replace
from typing import Any

from deskhand.engine.agent_state import agent_state
from deskhand.engine.journal import State, make_row, states
from deskhand.model.envelope import Delta, Envelope, ErrorNote, StageResult
from deskhand.model.run import Run, RunStatus
from tests.kit import a_message

RUN = Run("run_1", "desk", 1, "key", "c1", "inbox", RunStatus.SENT, flow_version="v1")
FIELDS = [
    "email",
    "classification",
    "confidence",
    "context",
    "selected_tools",
    "tool_results",
    "draft_response",
    "requires_approval",
    "final_response",
    "error",
    "steps",
]


def told(*steps: tuple[str, Delta]) -> list[State]:
    rows = [
        make_row(
            "run_1",
            seq,
            name,
            StageResult(delta=delta),
            attempt=1,
            flow_version="v1",
            started_at=1.0,
            latency_ms=2.0,
            previous=b"",
        )
        for seq, (name, delta) in enumerate(steps)
    ]
    return list(states(Envelope.of(a_message(), run_id="run_1"), rows))


def outputs(**made: Any) -> Delta:
    return Delta(outputs=made)


def test_the_state_has_the_flows_fields_even_before_anything_happened() -> None:
    empty = agent_state(replace(RUN, status=RunStatus.QUEUED), None, [])
    assert list(empty) == FIELDS
    assert (empty["email"], empty["classification"], empty["selected_tools"], empty["error"]) == (
        None,
        None,
        [],
        None,
    )


def test_a_sent_mails_state_tells_all_of_it() -> None:
    failed = {"tool": "check_calendar", "status": "error", "error": {"message": "away"}}
    twice = [{"tool": "get_contact", "status": "success", "data": {"n": n}} for n in (1, 2)]
    intended = {"tool": "create_draft", "status": "success", "intended": True}
    plan = {
        "steps": [{"tool": "get_contact"}, {"tool": "check_calendar"}, {"tool": "create_draft"}]
    }
    state = agent_state(
        RUN,
        a_message(),
        told(
            ("classify", outputs(classification={"category": "inquiry", "confidence": 0.9})),
            ("retrieve", outputs(retrieve={"context": ["a", "b"]})),
            ("decide", outputs(plan=plan | {"confidence": 0.3})),
            (
                "execute_tools",
                outputs(execute_tools={"results": [*twice, failed, intended], "executed": 3}),
            ),
            (
                "generate",
                outputs(generate={"text": "A draft."}, reply={"text": "A draft."}).changed(
                    metadata={"drafted_by": "generate"}
                ),
            ),
            ("review", outputs(review={"requires_approval": True}, reply={"text": "Edited."})),
        ),
    )
    assert state["email"]["sender"] == "Ann <ann@example.com>"
    assert (state["classification"], state["confidence"], state["context"]) == (
        "inquiry",
        0.9,
        ["a", "b"],
    )
    assert state["selected_tools"] == ["get_contact", "check_calendar", "create_draft"]
    assert state["tool_results"] == {
        "get_contact": [{"n": 1}, {"n": 2}],
        "check_calendar": {"error": "away"},
        "create_draft": {"intended": True},
    }
    assert (state["draft_response"], state["final_response"]) == ("A draft.", "Edited.")
    assert state["requires_approval"] is True
    assert [step["step_name"] for step in state["steps"]][:2] == ["classify", "retrieve"]
    assert state["steps"][1]["step_order"] == 1


def test_nothing_is_final_before_somebody_lets_it_go() -> None:
    written = told(("generate", outputs(reply={"text": "A draft."})))
    waiting = agent_state(replace(RUN, status=RunStatus.WAITING_REVIEW), a_message(), written)
    assert (waiting["draft_response"], waiting["final_response"], waiting["requires_approval"]) == (
        "A draft.",
        "",
        True,
    )


def test_an_error_is_told() -> None:
    note = ErrorNote(stage="decide", message="no model")
    state = agent_state(
        replace(RUN, status=RunStatus.NEEDS_REVIEW),
        a_message(),
        told(("decide", Delta(errors=(note,)))),
    )
    assert state["error"] == "no model"
