"""Turns the fields of an answer into the typed result of its task, the same way for every brain."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError

from deskhand.brain.json_answer import AnswerProblem
from deskhand.model.tasks import RESULT_TYPES, Task, TaskKind, TaskResult

_CHOSEN_FIELD = {TaskKind.CLASSIFY: "category", TaskKind.MATCH: "match"}


def result_of(task: Task, fields: Mapping[str, Any]) -> TaskResult:
    """Validate `fields`; AnswerProblem lists everything that is wrong with them."""
    problems = [f"the field {name!r} is missing" for name in task.required if name not in fields]
    try:
        result = RESULT_TYPES[task.kind].model_validate(dict(fields))
    except ValidationError as error:
        problems += [
            text for text in map(_problem, error.errors(include_url=False)) if text not in problems
        ]
        raise AnswerProblem("; ".join(problems)) from None
    problems += _wrong_choice(task, result)
    if task.kind is TaskKind.DRAFT and not getattr(result, "text", "").strip():
        problems.append("the field 'text' is blank")
    if problems:
        raise AnswerProblem("; ".join(problems))
    return result


def _problem(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"the field {place!r} is missing"
    return f"the field {place!r}: {error['msg']}, got {repr(error['input'])[:60]}"


def _wrong_choice(task: Task, result: TaskResult) -> list[str]:
    field = _CHOSEN_FIELD.get(task.kind)
    if field is None or not task.choices:
        return []
    chosen = getattr(result, field)
    if chosen in task.choices or (chosen is None and task.kind is TaskKind.MATCH):
        return []
    return [f"the field {field!r} is {chosen!r}, which is not one of: {', '.join(task.choices)}"]


def schema_of(task: Task) -> dict[str, Any]:
    """The JSON schema an answer to this task must follow."""
    schema = _type_schema(task.kind)
    properties = dict(schema["properties"])
    required = list(schema["required"])
    for name in task.required:
        properties.setdefault(name, {})
        if name not in required:
            required.append(name)
    if task.choices and task.kind is TaskKind.CLASSIFY:
        properties["category"] = {"type": "string", "enum": list(task.choices)}
    if task.choices and task.kind is TaskKind.MATCH:
        properties["match"] = {"enum": [*task.choices, None]}
    return {**schema, "properties": properties, "required": required}


@cache
def _type_schema(kind: TaskKind) -> dict[str, Any]:
    schema = RESULT_TYPES[kind].model_json_schema()
    properties: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        properties[name] = {key: value for key, value in field.items() if key != "title"}
    required = list(schema.get("required", ()))
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": True,
    }
