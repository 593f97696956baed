"""Anthropic's Messages protocol: requests out, answers in. No network.

Tools and system prompt are marked for the provider's cache, and an agent's conversation as well:
each of its turns is the beginning of the next.
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
    arguments_of,
    broken_off,
    count,
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
from deskhand.model.chat import ChatRequest, Completion, ToolRequest, Usage

_CACHED = {"type": "ephemeral"}
_THOUGHTS = ("thinking", "redacted_thinking")
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_NO_TEXT = "(no text)"
"""Stands for an empty message, which the provider refuses."""


def request_body(
    request: ChatRequest, endpoint: ModelEndpoint, json_mode: JsonMode, stream: bool = False
) -> Json:
    system = [message for message in request.messages if message["role"] == "system"]
    rest = [message for message in request.messages if message["role"] != "system"]
    body: Json = {"model": endpoint.model, "max_tokens": token_limit(request, endpoint)}
    if request.tools:
        body["tools"] = [_tool(tool["function"]) for tool in request.tools]
        body["cache_control"] = _CACHED
    if system:
        text = "\n\n".join(text_of(message["content"]) for message in system)
        body["system"] = [{"type": "text", "text": text, "cache_control": _CACHED}]
    body["messages"] = list(_turns(rest, endpoint))
    if request.schema is not None and json_mode == "json_schema" and is_closed(request.schema):
        form = {"type": "json_schema", "schema": request.schema}
        body["output_config"] = {"format": form}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if stream:
        body["stream"] = True
    return _with_params(body, endpoint.params)


def _with_params(body: Json, params: Mapping[str, Any]) -> Json:
    """The desk's own fields, also by the names that they have in chat completions."""
    own = dict(params)
    if "max_completion_tokens" in own:
        own["max_tokens"] = own.pop("max_completion_tokens")
    if "reasoning_effort" in own:
        own["output_config"] = {"effort": own.pop("reasoning_effort")}
    if own.get("output_config"):
        own["output_config"] = {**body.get("output_config", {}), **own["output_config"]}
    return with_params(body, own)


def _tool(function: Mapping[str, Any]) -> Json:
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters", {"type": "object", "properties": {}}),
    }


def _turns(messages: list[Mapping[str, Any]], endpoint: ModelEndpoint) -> Iterator[Json]:
    """Messages as turns of user and assistant; what one side says in a row is one turn."""
    role, blocks = "", list[Json]()
    for message in messages:
        side = "assistant" if message["role"] == "assistant" else "user"
        if side != role:
            if blocks:
                yield {"role": role, "content": blocks}
            role, blocks = side, []
        blocks += _blocks(message, endpoint)
    if blocks:
        yield {"role": role, "content": blocks}


def _blocks(message: Mapping[str, Any], endpoint: ModelEndpoint) -> Iterator[Json]:
    content = text_of(message.get("content"))
    if message["role"] == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": content or _NO_TEXT,
        }
        return
    calls = message.get("tool_calls") or ()
    if written := _as_written(message, calls, endpoint):
        yield from written
        return
    if content.strip() or not calls:
        yield {"type": "text", "text": content if content.strip() else _NO_TEXT}
    for call in calls:
        function = call["function"]
        yield {
            "type": "tool_use",
            "id": call["id"],
            "name": function["name"],
            "input": arguments_of(function["arguments"]),
        }


def _as_written(
    message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], endpoint: ModelEndpoint
) -> list[Json]:
    """The model's own blocks with its thoughts, where they make the same calls."""
    blocks: list[Json] = native_of(message, endpoint).get("blocks", [])
    made = [block["id"] for block in blocks if block["type"] == "tool_use"]
    wanted = [call["id"] for call in calls]
    return blocks if made == wanted else []


def read_completion(data: Any, endpoint: ModelEndpoint, latency_ms: float) -> Completion:
    """Raises where the model refused, or the answer is none."""
    content: Any = within(data, "content")
    if within(data, "type") == "error" or not isinstance(content, list):
        detail = redacted(detail_of(data)[0], endpoint.key)
        raise ModelAnswerInvalid(
            f"{endpoint.name} answered without content" + (f": {detail}" if detail else "")
        )
    blocks = [block for block in content if isinstance(block, dict)]
    reason = _REASONS.get(str(data.get("stop_reason")), "stop")
    raise_if_refused(endpoint, reason, None)
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    has_thoughts = any(block.get("type") in _THOUGHTS for block in blocks)
    texts = [block for block in blocks if block.get("type") == "text"]
    native = {"model": endpoint.name, "blocks": blocks}
    return Completion(
        text=text_of(texts),
        model=endpoint.name,
        tool_calls=tuple(map(_tool_request, calls)),
        finish_reason=reason,
        usage=read_usage(data.get("usage"), endpoint),
        latency_ms=latency_ms,
        native=native if has_thoughts and calls else None,
    )


def _tool_request(block: Json) -> ToolRequest:
    if not block.get("name"):
        raise ModelAnswerInvalid("the model asked for a tool without naming it")
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    return ToolRequest(id=str(block.get("id")), name=str(block["name"]), arguments=arguments)


def read_usage(usage: Any, endpoint: ModelEndpoint) -> Usage:
    """Tokens; Anthropic counts what comes from its cache, or goes there, beside the input."""
    read = count(within(usage, "cache_read_input_tokens"))
    written = count(within(usage, "cache_creation_input_tokens"))
    return counted(
        endpoint,
        prompt=count(within(usage, "input_tokens")) + read + written,
        completion=within(usage, "output_tokens"),
        cached=read,
        written=written,
        reasoning=within(usage, "output_tokens_details", "thinking_tokens"),
    )


class MessageStream:
    """Puts a stream's blocks together again."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._message: Json = {"content": [], "usage": {}}
        self._inputs: dict[int, str] = {}
        """The arguments of calls, by the place of their block, as text that grows."""
        self.done = False

    @property
    def complete(self) -> bool:
        return self.done

    def add(self, event: bytes) -> str:
        data: Any = json.loads(event)
        match within(data, "type"):
            case "error":
                raise broken_off(self._endpoint, *detail_of(data))
            case "message_start":
                usage = within(data, "message", "usage") or {}
                self._message["usage"] |= usage
            case "content_block_start":
                self._message["content"].append(dict(data["content_block"]))
            case "content_block_delta":
                return self._add_delta(data["index"], data["delta"])
            case "message_delta":
                self._message |= data.get("delta") or {}
                self._message["usage"] |= data.get("usage") or {}
            case "message_stop":
                self.done = True
        return ""

    def _add_delta(self, index: int, delta: Json) -> str:
        block: Json = self._message["content"][index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                return str(delta["text"])
            case "input_json_delta":
                self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
        return ""

    def completion(self, latency_ms: float) -> Completion:
        for index, text in self._inputs.items():
            self._message["content"][index]["input"] = arguments_of(text)
        return read_completion(self._message, self._endpoint, latency_ms)
