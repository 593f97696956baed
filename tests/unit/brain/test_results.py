"""Fields to typed results, and the schema that asks for them."""

from typing import Any

import jsonschema
import pytest

from deskhand.adapters.chat_models.wire import is_closed
from deskhand.brain.json_answer import AnswerProblem
from deskhand.brain.results import result_of, schema_of
from deskhand.model.tasks import Classified, Task, TaskKind

VALID: dict[TaskKind, dict[str, Any]] = {
    TaskKind.CLASSIFY: {"category": "refund", "confidence": 0.5},
    TaskKind.EXTRACT: {"values": {"order": "A1"}},
    TaskKind.TRANSLATE: {"text": "hello", "language": "en"},
    TaskKind.DECIDE: {"steps": [{"tool": "x"}], "reasoning": "so"},
    TaskKind.DRAFT: {
        "text": "Dear Anna",
        "language": None,
        "hand_over": False,
        "reason": None,
        "confidence": 0.9,
        "sources": [{"id": "returns", "quote": "within 30 days"}],
    },
    TaskKind.MATCH: {"match": None, "confidence": 1},
    TaskKind.SUMMARISE: {"text": "short"},
    TaskKind.JUDGE: {"passed": False, "reason": "late"},
    TaskKind.VERIFY: {"verdicts": []},
    TaskKind.PROMPT: {"anything": [1]},
}


def task(kind: TaskKind, **more: Any) -> Task:
    return Task(kind=kind, stage="s", **more)


@pytest.mark.parametrize("kind", list(TaskKind))
def test_what_the_schema_allows_is_a_result(kind: TaskKind) -> None:
    jsonschema.validate(VALID[kind], schema_of(task(kind)))
    assert result_of(task(kind), VALID[kind]).model_dump(mode="json") == VALID[kind]


@pytest.mark.parametrize("kind", [kind for kind in TaskKind if kind is not TaskKind.PROMPT])
def test_an_empty_object_is_neither(kind: TaskKind) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schema_of(task(kind)))
    with pytest.raises(AnswerProblem, match="is missing"):
        result_of(task(kind), {})


def test_every_problem_is_named_at_once() -> None:
    asked = task(TaskKind.CLASSIFY, required=("category", "language", "urgency"))
    with pytest.raises(AnswerProblem) as caught:
        result_of(asked, {"confidence": 7, "language": "cs"})
    assert str(caught.value) == (
        "the field 'category' is missing; the field 'urgency' is missing; "
        "the field 'confidence': Input should be less than or equal to 1, got 7"
    )


def test_required_fields_count_only_when_the_answer_gave_them() -> None:
    with pytest.raises(AnswerProblem, match="'language' is missing"):
        result_of(task(TaskKind.DRAFT, required=("language",)), {"text": "Dear Anna"})


def test_fields_beyond_the_typed_ones_are_kept() -> None:
    result = result_of(task(TaskKind.CLASSIFY), {"category": "x", "confidence": 1, "mood": "angry"})
    assert isinstance(result, Classified)
    assert result.model_dump()["mood"] == "angry"


@pytest.mark.parametrize("wrong", ["Refund", "refund ", "refunds", ""])
def test_a_category_is_one_of_the_choices_exactly(wrong: str) -> None:
    asked = task(TaskKind.CLASSIFY, choices=("refund", "other"))
    with pytest.raises(AnswerProblem, match="which is not one of: refund, other"):
        result_of(asked, {"category": wrong, "confidence": 1})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"category": wrong, "confidence": 1}, schema_of(asked))


def test_a_match_is_a_candidate_or_none() -> None:
    asked = task(TaskKind.MATCH, choices=("T1", "T2"))
    for good in ("T1", None):
        jsonschema.validate({"match": good, "confidence": 1}, schema_of(asked))
        result_of(asked, {"match": good, "confidence": 1})
    with pytest.raises(AnswerProblem, match="not one of: T1, T2"):
        result_of(asked, {"match": "T3", "confidence": 1})


def test_a_blank_draft_is_none() -> None:
    with pytest.raises(AnswerProblem, match="'text' is blank"):
        result_of(task(TaskKind.DRAFT), {"text": " \n"})


def test_schemas_do_not_leak_from_one_task_into_the_next() -> None:
    schema_of(task(TaskKind.CLASSIFY, choices=("a",), required=("x",)))
    assert schema_of(task(TaskKind.CLASSIFY)) == {
        "type": "object",
        "properties": {
            "category": {"type": "string"},
            "confidence": {"type": "number"},
        },
        "required": ["category", "confidence"],
        "additionalProperties": False,
    }


def find_order() -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"order": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["order"],
        "additionalProperties": False,
    }
    function = {"name": "find_order", "description": "Looks.", "parameters": parameters}
    return {"type": "function", "function": function}


@pytest.mark.parametrize(
    "asked",
    [
        task(TaskKind.CLASSIFY, choices=("refund", "other")),
        task(TaskKind.EXTRACT, choices=("order", "weight")),
        task(TaskKind.TRANSLATE),
        task(TaskKind.DECIDE, tools=(find_order(),)),
        task(TaskKind.DRAFT),
        task(TaskKind.MATCH, choices=("T1",)),
        task(TaskKind.SUMMARISE),
        task(TaskKind.JUDGE),
    ],
    ids=lambda asked: asked.kind.value,
)
def test_the_schema_of_a_task_is_closed_so_that_endpoints_hold_models_to_it(asked: Task) -> None:
    assert is_closed(schema_of(asked))


def test_a_plan_names_only_the_tools_there_are_and_their_parameters() -> None:
    asked = task(TaskKind.DECIDE, tools=(find_order(),))
    for steps, fits in (
        ([{"tool": "find_order", "parameters": {"order": "P-1", "limit": None}}], True),
        ([{"param": "order", "prompt": "Which order?"}], True),
        ([{"tool": "refund", "parameters": {}}], False),
        ([{"tool": "find_order", "parameters": {"order": "P-1", "limit": None, "x": 1}}], False),
        ([{"tool": "find_order"}], False),
    ):
        answer = {"steps": steps, "reasoning": "so"}
        validator = jsonschema.Draft202012Validator(schema_of(asked))
        assert validator.is_valid(answer) is fits, steps


def test_what_a_strict_model_leaves_null_is_not_stated() -> None:
    asked = task(TaskKind.DECIDE, tools=(find_order(),))
    step = {"tool": "find_order", "parameters": {"order": "P-1", "limit": None}}
    decided = result_of(asked, {"steps": [step], "reasoning": ""}).model_dump()
    assert decided["steps"] == [{"tool": "find_order", "parameters": {"order": "P-1"}}]
    slots = task(TaskKind.EXTRACT, choices=("order", "weight"))
    found = result_of(slots, {"values": {"order": "P-1", "weight": None}}).model_dump()
    assert found["values"] == {"order": "P-1"}


def test_a_prompt_of_its_own_may_ask_for_more_fields() -> None:
    asked = task(TaskKind.CLASSIFY, prompt="Sort this, and name the mood.", required=("mood",))
    jsonschema.validate(
        {"category": "a", "confidence": 1, "mood": "angry", "more": 1}, schema_of(asked)
    )
