from typing import Any

import pytest
from pydantic import ValidationError

from deskhand.model.spec import AgentSpec, FlowSpec, RoutingRule


def test_seed_003s_rule_is_shorthand_for_a_condition() -> None:
    rule = RoutingRule.model_validate(
        {"condition": "needs_clarification", "value": True, "target": "clarification"}
    )
    assert rule == RoutingRule(when={"needs_clarification": True}, target="clarification")
    assert RoutingRule.model_validate({"condition": "done", "target": "end"}).when == {"done": True}
    assert RoutingRule.model_validate({"condition": "n", "value": None, "target": "end"}).when == {
        "n": None
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"when": {"a": 1}}, "a route needs"),
        ({"when": {}, "target": "x"}, "at least 1"),
        ({"when": {"a": 1}, "target": "x", "to": "y"}, "Extra inputs"),
        ({"when": {"a": 1}, "outcome": "perhaps"}, "outcome"),
        ({"condition": "a", "value": 1}, "a route needs"),
        ("a", "RoutingRule"),
    ],
)
def test_a_route_that_leads_nowhere_is_refused(data: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        RoutingRule.model_validate(data)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"has_llm": True}, "neither prompt_key nor task"),
        ({"has_tools": True}, "names none"),
        ({"has_llm": True, "task": "draft", "service": "x"}, "keep one of them"),
        ({"name": "Has Space"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"temperature": 2.1}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"attempts": 0}, "attempts"),
        ({"attempts": 11}, "attempts"),
        ({"timeout": 0}, "timeout"),
        ({"max_visits": 0}, "max_visits"),
        ({"output_key": None}, "output_key"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_a_stage_that_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        AgentSpec.model_validate({"name": "stage", "output_key": "out", **fields})


def test_the_seeds_planner_is_accepted() -> None:
    spec = AgentSpec.model_validate(
        {
            "name": "planner",
            "stage_order": 1,
            "has_llm": True,
            "model_role": "planner",
            "prompt_key": "planner_prompt",
            "output_key": "plan",
            "required_output_fields": ["steps", "reasoning"],
            "default_next": "executor",
            "routing_rules": [
                {"condition": "needs_clarification", "value": True, "target": "clarification"}
            ],
        }
    )
    assert spec.targets == ("clarification", "executor")
    assert (spec.attempts, spec.tools) == (3, ())


def test_targets_name_each_stage_once_and_leave_out_the_end() -> None:
    rules = (RoutingRule(when={"a": 1}, target="x"), RoutingRule(when={"a": 2}, target="end"))
    spec = AgentSpec(
        name="s",
        output_key="o",
        routing_rules=rules,
        default_next="x",
        error_next="y",
        loop_to="z",
        resume_at="y",
    )
    assert spec.targets == ("x", "y", "z")
    assert AgentSpec(name="s", output_key="o", default_next="end").targets == ()


def test_a_flow_has_a_hop_limit() -> None:
    stage = AgentSpec(name="s", output_key="o")
    flow = FlowSpec(name="f", start="s", stages={"s": stage})
    assert flow.max_hops == 50
    with pytest.raises(ValidationError):
        FlowSpec(name="f", start="s", stages={"s": stage}, max_hops=0)
    assert FlowSpec.model_validate_json(flow.model_dump_json()) == flow
