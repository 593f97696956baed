from typing import Any

import pytest
from pydantic import ValidationError

from deskhand.model.plan import AskUser, Plan, Respond, StepStatus, ToolCall


def test_a_plan_with_every_kind_of_step_is_read() -> None:
    plan = Plan.parse(
        {
            "intent_id": "refund",
            "steps": [
                {"type": "respond", "when": "pre", "message": "One moment."},
                {"type": "tool_call", "tool": "refund", "parameters": {"order": "O-1"}},
                {"type": "ask_user", "param": "order", "prompt": "Which order?"},
            ],
        }
    )
    assert plan.intent_id == "refund"
    assert plan.steps == (
        Respond(when="pre", message="One moment."),
        ToolCall(tool="refund", parameters={"order": "O-1"}),
        AskUser(param="order", prompt="Which order?"),
    )
    assert all(step.status is StepStatus.PENDING for step in plan.steps)


@pytest.mark.parametrize(
    "data",
    [
        {"steps": [{"tool": "look", "parameters": {"a": 1}}], "reasoning": "why"},
        {"steps": [{"tool": "look", "params": {"a": 1}}], "reasoning": "why"},
        {"tools": [{"tool": "look", "arguments": {"a": 1}}], "reasoning": "why"},
    ],
)
def test_short_steps_are_tool_calls(data: dict[str, Any]) -> None:
    assert Plan.parse(data) == Plan(
        reasoning="why", steps=(ToolCall(tool="look", parameters={"a": 1}),)
    )


def test_names_alone_are_tool_calls_without_parameters() -> None:
    expected = Plan(steps=(ToolCall(tool="a"), ToolCall(tool="b")))
    assert Plan.parse(["a", "b"]) == Plan.parse({"tools": ["a", "b"]}) == expected
    assert (
        Plan.parse({"steps": ["a", {"tool": "b", "parameters": None}], "reasoning": None})
        == expected
    )


def test_a_step_with_a_parameter_to_ask_for_asks() -> None:
    assert Plan.parse([{"param": "order", "prompt": "Which?"}]).steps == (
        AskUser(param="order", prompt="Which?"),
    )


def test_a_tool_called_twice_is_selected_twice() -> None:
    assert Plan.parse(["a", "b", "a"]).selected_tools == ["a", "b", "a"]
    assert Plan.parse([]).tool_calls == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("look", "not str"),
        (None, "not NoneType"),
        ({}, "needs `steps`"),
        ({"steps": "look"}, "needs `steps`"),
        ([5], "plan step 1 is int"),
        ([{}], "plan step 1 has neither"),
        (["a", {"parameters": {}}], "plan step 2 has neither"),
        ([{"tool": ""}], "tool"),
        ([{"tool": 5}], "tool"),
        ([{"tool": "a", "parameters": [1]}], "parameters"),
        ([{"type": "dance"}], "dance"),
        ([{"type": "tool_call", "tool": "a", "extra": 1}], "extra"),
        ([{"type": "ask_user", "param": "x"}], "prompt"),
        ({"steps": [], "reasoning": 5}, "reasoning"),
        ({"steps": [], "intent_id": ["x"]}, "intent_id"),
    ],
)
def test_a_plan_that_cannot_be_read_says_which_step_and_why(data: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        Plan.parse(data)
    assert not isinstance(caught.value, ValidationError)


def test_a_plan_survives_its_json() -> None:
    plan = Plan.parse(["a", {"param": "x", "prompt": "y"}, {"type": "respond", "message": "z"}])
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert Plan.parse(plan.model_dump(mode="json")) == plan
