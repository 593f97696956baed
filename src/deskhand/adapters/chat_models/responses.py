"""OpenAI's Responses protocol: requests out, answers in. No network.

Nothing is kept at the provider (`store: false`): the thoughts of a model come encrypted, and go
back to it with the results of the tools that it called.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.faults import detail_of
from deskhand.adapters.chat_models.providers import JsonMode
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.adapters.chat_models.wire import (
    Json,
    broken_off,
    counted,
    is_closed,
    native_of,
    raise_if_refused,
    text_of,
    token_limit,
    with_params,
    within,
)
from deskhand.errors import ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Completion, ToolRequest

_ENCRYPTED_THOUGHTS = "reasoning.encrypted_content"
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def request_body(
    request: ChatRequest, endpoint: ModelEndpoint, json_mode: JsonMode, stream: bool = False
) -> Json:
    system = [message for message in request.messages if message["role"] == "system"]
    rest = [message for message in request.messages if message["role"] != "system"]
    body: Json = {
        "model": endpoint.model,
        "input": [item for message in rest for item in _items(message, endpoint)],
        "store": False,
        "include": [_ENCRYPTED_THOUGHTS],
    }
    if system:
        body["instructions"] = "\n\n".join(text_of(message["content"]) for message in system)
    if request.tools:
        body["tools"] = [_tool(tool["function"]) for tool in request.tools]
    text = _text_settings(request, json_mode)
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if limit := token_limit(request, endpoint):
        body["max_output_tokens"] = limit
    if stream:
        body["stream"] = True
    return _with_params(body, text, endpoint.params)


def _text_settings(request: ChatRequest, json_mode: JsonMode) -> Json:
    if request.schema is None or json_mode == "none":
        return {}
    if json_mode == "json_object":
        return {"format": {"type": "json_object"}}
    form = {
        "type": "json_schema",
        "name": "answer",
        "schema": request.schema,
        "strict": is_closed(request.schema),
    }
    return {"format": form}


def _with_params(body: Json, text: Json, params: Mapping[str, Any]) -> Json:
    """The desk's own fields, also by the names that they have in chat completions."""
    own = dict(params)
    for name in ("max_tokens", "max_completion_tokens"):
        if name in own:
            own["max_output_tokens"] = own.pop(name)
    if "reasoning_effort" in own:
        own["reasoning"] = {"effort": own.pop("reasoning_effort"), **(own.get("reasoning") or {})}
    if "verbosity" in own:
        text = {**text, "verbosity": own.pop("verbosity")}
    if text:
        own["text"] = {**text, **(own.get("text") or {})}
    return with_params(body, own)


def _tool(function: Mapping[str, Any]) -> Json:
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function.get("parameters", {"type": "object", "properties": {}}),
        "strict": False,
    }


def _items(message: Mapping[str, Any], endpoint: ModelEndpoint) -> Iterator[Json]:
    """A message as input items: thoughts, text, and each call or result for itself."""
    content = text_of(message.get("content"))
    if message["role"] == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message["tool_call_id"],
            "output": content,
        }
        return
    calls = message.get("tool_calls") or ()
    if written := _as_written(message, calls, endpoint):
        yield from written
        return
    if content or message["role"] == "user":
        yield {"role": message["role"], "content": content}
    for call in calls:
        yield {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }


def _as_written(
    message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], endpoint: ModelEndpoint
) -> list[Json]:
    """The model's own items with its thoughts, where they make the same calls."""
    items: list[Json] = native_of(message, endpoint).get("items", [])
    made = [call["call_id"] for call in _of_type(items, "function_call")]
    wanted = [call["id"] for call in calls]
    return items if made == wanted else []


def read_completion(data: Any, endpoint: ModelEndpoint, latency_ms: float) -> Completion:
    """Raises where the response failed, was refused, or is none."""
    if within(data, "status") == "failed":
        raise broken_off(endpoint, *detail_of(data))
    output: Any = within(data, "output")
    if not isinstance(output, list):
        detail = redacted(detail_of(data)[0], endpoint.key)
        raise ModelAnswerInvalid(
            f"{endpoint.name} answered without output" + (f": {detail}" if detail else "")
        )
    items = [item for item in output if isinstance(item, dict)]
    parts = [part for item in _of_type(items, "message") for part in item.get("content") or ()]
    refusals = [within(part, "refusal") for part in parts]
    calls = _of_type(items, "function_call")
    reason = _finish_reason(data, calls)
    raise_if_refused(endpoint, reason, " ".join(filter(None, refusals)))
    native = {"model": endpoint.name, "items": items}
    has_thoughts = bool(_of_type(items, "reasoning"))
    requests = tuple(_tool_request(call, place) for place, call in enumerate(calls))
    usage = within(data, "usage")
    return Completion(
        text=text_of(parts),
        model=endpoint.name,
        tool_calls=requests,
        finish_reason=reason,
        usage=counted(
            endpoint,
            prompt=within(usage, "input_tokens"),
            completion=within(usage, "output_tokens"),
            cached=within(usage, "input_tokens_details", "cached_tokens"),
            reasoning=within(usage, "output_tokens_details", "reasoning_tokens"),
        ),
        latency_ms=latency_ms,
        native=native if has_thoughts and calls else None,
    )


def _of_type(items: list[Json], kind: str) -> list[Json]:
    return [item for item in items if item.get("type") == kind]


def _finish_reason(data: Json, calls: list[Json]) -> str:
    why = within(data, "incomplete_details", "reason")
    if why == "max_output_tokens":
        return "length"
    if why:
        return str(why)
    return "tool_calls" if calls else "stop"


def _tool_request(call: Json, place: int) -> ToolRequest:
    if not call.get("name"):
        raise ModelAnswerInvalid("the model asked for a tool without naming it")
    return ToolRequest(
        id=str(call.get("call_id") or f"call_{place}"),
        name=str(call["name"]),
        arguments=str(call.get("arguments") or ""),
    )


class ResponseStream:
    """Shows texts as they come; the last event carries the whole response."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._whole: Json | None = None
        self.done = False

    @property
    def complete(self) -> bool:
        return self._whole is not None

    def add(self, event: bytes) -> str:
        data: Any = json.loads(event)
        kind = within(data, "type")
        if kind == "error":
            raise broken_off(self._endpoint, *detail_of(data))
        if kind in _ENDS:
            self._whole, self.done = data["response"], True
        if kind == "response.output_text.delta":
            return str(data.get("delta") or "")
        return ""

    def completion(self, latency_ms: float) -> Completion:
        return read_completion(self._whole, self._endpoint, latency_ms)
