"""Two requests that show whether a model does for a desk: one with a schema, one with a tool."""

from dataclasses import dataclass, field
from typing import Any

from deskhand.agents.transcript import Transcript, turn_of
from deskhand.brain.json_answer import AnswerProblem, parse_object
from deskhand.errors import ConfigError, DeskhandError, ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Usage
from deskhand.ports import ChatModel

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"category": {"type": "string", "enum": ["order", "other"]}},
    "required": ["category"],
    "additionalProperties": False,
}
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "find_order",
        "description": "Look up where an order is.",
        "parameters": {
            "type": "object",
            "properties": {"order": {"type": "string", "description": "As P-1001."}},
            "required": ["order"],
            "additionalProperties": False,
        },
    },
}
_SORT = "Sort this message, with a JSON object {category}: Where is my order P-1001?"
_SYSTEM = "You answer customers. Look orders up with the tool before you answer."
_ASK = "Where is my order P-1001?"


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """What came of one request: what is wrong with it, if anything, and what to write then."""

    request: str
    usage: Usage = field(default_factory=Usage)
    problem: str | None = None
    fix: str | None = None


async def try_model(chat: ChatModel, model: str) -> list[ModelTrial]:
    """Ask a model once with a schema and twice with a tool; nothing is raised."""
    trials: list[ModelTrial] = []
    for name, attempt in (("structured answer", _structured), ("tool in two turns", _with_tool)):
        try:
            trials.append(ModelTrial(name, await attempt(chat, model)))
        except DeskhandError as error:
            problem, _, fix = str(error).partition("\n  fix: ")
            trials.append(ModelTrial(name, problem=problem, fix=fix or _fix(error, name, model)))
    return trials


async def _structured(chat: ChatModel, model: str) -> Usage:
    asked = ({"role": "system", "content": _SYSTEM}, {"role": "user", "content": _SORT})
    completion = await chat.complete(ChatRequest(asked, model, schema=_SCHEMA))
    try:
        category = parse_object(completion.text).get("category")
    except AnswerProblem as problem:
        raise ModelAnswerInvalid(f"{model} did not answer in JSON: {problem}") from None
    if category not in ("order", "other"):
        raise ModelAnswerInvalid(f"{model} did not keep to the schema: {completion.text[:80]!r}")
    return completion.usage


async def _with_tool(chat: ChatModel, model: str) -> Usage:
    talk = Transcript()
    first = await chat.complete(
        ChatRequest(tuple(talk.messages(_SYSTEM, (_ASK,))), model, (_TOOL,))
    )
    if not first.tool_calls:
        raise ModelAnswerInvalid(f"{model} called no tool: {first.text[:80]!r}")
    talk.add_turn(turn_of(first, 1, (_ASK,), ()))
    for call in first.tool_calls:
        result = {"order": "P-1001", "status": "on its way"}
        talk.add_result({"tool": call.name, "iteration": 1, "data": result})
    second = await chat.complete(ChatRequest(tuple(talk.messages(_SYSTEM)), model, (_TOOL,)))
    return second.usage


def _fix(error: DeskhandError, request: str, model: str) -> str | None:
    provider = model.partition("/")[0]
    if isinstance(error, ConfigError) or not isinstance(error, ModelAnswerInvalid):
        return None
    if request.startswith("structured"):
        return (
            f"write `providers: {{{provider}: {{json_mode: json_object}}}}`, or name another model"
        )
    return (
        "name a model that calls tools (`deskhand models list`); a server at home has to be started"
        " with tools: docs/guide/models.md"
    )
