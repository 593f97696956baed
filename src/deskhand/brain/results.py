"""Turns the fields of an answer into the typed result of its task, the same way for every brain."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError

from deskhand.brain.json_answer import AnswerProblem
from deskhand.model.tasks import RESULT_TYPES, Task, TaskKind, TaskResult
from deskhand.outgoing.sentences import is_program_text

_CHOSEN_FIELD = {TaskKind.CLASSIFY: "category", TaskKind.MATCH: "match"}


def result_of(task: Task, fields: Mapping[str, Any]) -> TaskResult:
    """Validate `fields`; AnswerProblem lists everything that is wrong with them."""
    problems = [f"the field {name!r} is missing" for name in task.required if name not in fields]
    try:
        result = RESULT_TYPES[task.kind].model_validate(_without_nulls(task, fields))
    except ValidationError as error:
        problems += [
            text for text in map(_problem, error.errors(include_url=False)) if text not in problems
        ]
        raise AnswerProblem("; ".join(problems)) from None
    problems += _wrong_choice(task, result)
    if task.kind is TaskKind.DRAFT and not getattr(result, "text", "").strip():
        problems.append("the field 'text' is blank")
    if task.kind is TaskKind.DRAFT and is_program_text(getattr(result, "text", "")):
        problems.append("the field 'text' is data, not a reply to a person")
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
    """The JSON schema an answer to this task must follow.

    It is closed, and requires every field, as strict endpoints want it. Only what a stage's own
    prompt asks for stays open: nobody else knows its fields.
    """
    schema = _type_schema(task.kind)
    properties = {**schema["properties"], **_narrowed(task)}
    for name in task.required:
        properties.setdefault(name, {})
    is_open = task.prompt is not None or task.kind is TaskKind.PROMPT
    required = list(properties)
    if is_open:
        asked = _WRITER_SAYS if task.kind is TaskKind.DRAFT else ()
        required = list(dict.fromkeys((*schema["required"], *task.required, *asked)))
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": is_open,
    }


def _narrowed(task: Task) -> dict[str, Any]:
    """The fields of an answer that depend on the task: its choices, its slots, its tools."""
    choices = list(task.choices)
    match task.kind:
        case TaskKind.CLASSIFY if choices:
            return {"category": {"type": "string", "enum": choices}}
        case TaskKind.MATCH if choices:
            return {"match": _or_null({"type": "string", "enum": choices})}
        case TaskKind.EXTRACT if choices:
            return {"values": _closed(dict.fromkeys(choices, _SLOT_VALUE))}
        case TaskKind.DECIDE if task.tools:
            calls = [_step(tool["function"]) for tool in task.tools]
            return {"steps": {"type": "array", "items": {"anyOf": [*calls, _QUESTION]}}}
        case TaskKind.DRAFT:
            return _WRITER_SAYS
        case TaskKind.VERIFY:
            return {"verdicts": {"type": "array", "items": _VERDICT}}
        case _:
            return {}


def _step(function: Mapping[str, Any]) -> dict[str, Any]:
    """A call of one tool; what it does not need may be null."""
    parameters = function["parameters"]
    needed = parameters.get("required", ())
    fields = dict(parameters.get("properties", {}))
    for name in fields.keys() - set(needed):
        fields[name] = _or_null(fields[name])
    tool = {"type": "string", "enum": [function["name"]]}
    return _closed({"tool": tool, "parameters": _closed(fields)})


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}


_SLOT_VALUE = {"anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]}
_QUESTION = _closed({"param": {"type": "string"}, "prompt": {"type": "string"}})
"""A step that asks the customer."""
_WRITER_SAYS: dict[str, Any] = {
    "hand_over": {"type": "boolean"},
    "reason": _or_null({"type": "string"}),
    "confidence": {"type": "number"},
    "sources": {
        "type": "array",
        "items": _closed({"id": {"type": "string"}, "quote": {"type": "string"}}),
    },
}
"""What the writer of a draft says of it."""
_VERDICT = _closed(
    {
        "number": {"type": "integer"},
        "quote": {"type": "string"},
        "sum": {"type": "string"},
        "counts": {"type": "string"},
        "missing": {"type": "string"},
        "courtesy": {"type": "boolean"},
        "restates": {"type": "boolean"},
        "supported": {"type": "boolean"},
    }
)
"""What a second reader says of one sentence; the verdict comes last, after what it rests on."""
_NOT_ON_THE_WIRE = ("title", "default", "minimum", "maximum")
"""What strict endpoints refuse; results are checked against it here."""


@cache
def _type_schema(kind: TaskKind) -> dict[str, Any]:
    schema = RESULT_TYPES[kind].model_json_schema()
    properties: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        properties[name] = {
            key: value for key, value in field.items() if key not in _NOT_ON_THE_WIRE
        }
    return {"properties": properties, "required": list(schema.get("required", ()))}


def _without_nulls(task: Task, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The answer without what it says nothing about: strict schemas make models write null."""
    answer = dict(fields)
    if task.kind is TaskKind.EXTRACT and isinstance(answer.get("values"), dict):
        answer["values"] = _stated(answer["values"])
    if task.kind is TaskKind.DECIDE and isinstance(answer.get("steps"), list):
        answer["steps"] = [_step_without_nulls(step) for step in answer["steps"]]
    return answer


def _step_without_nulls(step: Any) -> Any:
    if not isinstance(step, dict) or not isinstance(step.get("parameters"), dict):
        return step
    return {**step, "parameters": _stated(step["parameters"])}


def _stated(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


_WORDS = {"integer": "number", "boolean": "true or false"}


def answer_shape(schema: Mapping[str, Any]) -> str:
    """The fields of an object as models read them best: `{"category": text, "confidence":
    number}`."""
    fields = [f'"{name}": {_shape(field)}' for name, field in schema["properties"].items()]
    return "{" + ", ".join(fields) + "}"


def _shape(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(f'"{choice}"' for choice in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_shape(choice) for choice in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"[{_shape(schema.get('items') or {})}]"
    if kind == "object":
        return answer_shape(schema) if schema.get("properties") else "{...}"
    return _WORDS.get(str(kind), "text" if kind in (None, "string") else str(kind))
