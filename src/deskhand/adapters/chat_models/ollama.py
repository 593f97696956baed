"""Ollama's own chat protocol: requests out, answers in. No network.

Its OpenAI-compatible one cannot set the context: there the server cuts a long prompt in silence.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.faults import detail_of
from deskhand.adapters.chat_models.providers import JsonMode
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.adapters.chat_models.wire import (
    Json,
    arguments_of,
    broken_off,
    counted,
    text_of,
    token_limit,
    with_params,
    within,
)
from deskhand.errors import ModelAnswerInvalid, ModelRefused
from deskhand.model.chat import NATIVE, ChatRequest, Completion, ToolRequest

_TOP_LEVEL = frozenset(("think", "keep_alive", "format", "logprobs", "top_logprobs", "truncate"))
"""Fields of the request itself; all others of a model's `params` are its options."""
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_CHARACTERS_A_TOKEN = 4
"""Rather too many: what is longer by this measure surely does not fit."""


def request_body(
    request: ChatRequest, endpoint: ModelEndpoint, json_mode: JsonMode, stream: bool = False
) -> Json:
    """Raises ModelRefused for a prompt that is longer than the context."""
    options: Json = {"num_ctx": endpoint.provider.context_tokens}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if limit := token_limit(request, endpoint):
        options["num_predict"] = limit
    own = {name: value for name, value in endpoint.params.items() if name in _TOP_LEVEL}
    for name, value in endpoint.params.items():
        if name not in _TOP_LEVEL:
            options["num_predict" if name in _LIMIT_NAMES else name] = value
    body: Json = {
        "model": endpoint.model,
        "messages": list(_messages(request)),
        "stream": stream,
        "truncate": False,
        "options": with_params(options, {}),
    }
    if request.tools:
        body["tools"] = request.tools
    if request.schema is not None and json_mode != "none":
        body["format"] = request.schema if json_mode == "json_schema" else "json"
    _check_length(body, endpoint)
    return with_params(body, own)


def _check_length(body: Json, endpoint: ModelEndpoint) -> None:
    context = body["options"].get("num_ctx")
    length = sum(len(text_of(message.get("content"))) for message in body["messages"])
    if context and length > context * _CHARACTERS_A_TOKEN:
        raise ModelRefused(
            f"{endpoint.name} keeps {context} tokens in view, and this prompt is longer"
            f" ({length} characters); write `providers: {{{endpoint.provider_name}:"
            " {context_tokens: 65536}}`, if the machine has the memory"
        )


def _messages(request: ChatRequest) -> Iterator[Json]:
    """Arguments are objects here, and a result names its tool."""
    names: dict[str, str] = {}
    for message in request.messages:
        shown = {name: value for name, value in message.items() if name != NATIVE}
        shown["content"] = text_of(message.get("content"))
        if "tool_calls" in message:
            shown["tool_calls"] = [_call(call, names) for call in message["tool_calls"]]
        if "tool_call_id" in message:
            shown["tool_name"] = names.get(message["tool_call_id"], "")
        yield shown


def _call(call: Mapping[str, Any], names: dict[str, str]) -> Json:
    function = call["function"]
    names[call["id"]] = function["name"]
    arguments = arguments_of(function["arguments"])
    return {"id": call["id"], "function": {"name": function["name"], "arguments": arguments}}


def read_completion(data: Any, endpoint: ModelEndpoint, latency_ms: float) -> Completion:
    message: Any = within(data, "message")
    if not isinstance(message, dict):
        detail = redacted(detail_of(data)[0], endpoint.key)
        raise ModelAnswerInvalid(
            f"{endpoint.name} answered without a message" + (f": {detail}" if detail else "")
        )
    calls = message.get("tool_calls") or []
    reason = str(data.get("done_reason") or "stop")
    if calls and reason == "stop":
        reason = "tool_calls"
    return Completion(
        text=text_of(message.get("content")),
        model=endpoint.name,
        tool_calls=tuple(_tool_request(call, place) for place, call in enumerate(calls)),
        finish_reason=reason,
        usage=counted(
            endpoint, prompt=data.get("prompt_eval_count"), completion=data.get("eval_count")
        ),
        latency_ms=latency_ms,
    )


def _tool_request(call: Any, place: int) -> ToolRequest:
    function: Any = within(call, "function")
    if not within(function, "name"):
        raise ModelAnswerInvalid("the model asked for a tool without naming it")
    arguments = json.dumps(function.get("arguments") or {}, ensure_ascii=False)
    identifier = str(call.get("id") or f"call_{place}")
    return ToolRequest(id=identifier, name=str(function["name"]), arguments=arguments)


class OllamaStream:
    """One JSON object a line; the last says `done`."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._texts: list[str] = []
        self._calls: list[Any] = []
        self._last: Json = {}
        self.done = False

    @property
    def complete(self) -> bool:
        return self.done

    def add(self, event: bytes) -> str:
        data: Any = json.loads(event)
        if within(data, "error"):
            raise broken_off(self._endpoint, *detail_of(data))
        text = text_of(within(data, "message", "content"))
        self._texts.append(text)
        self._calls += within(data, "message", "tool_calls") or []
        if within(data, "done"):
            self._last, self.done = data, True
        return text

    def completion(self, latency_ms: float) -> Completion:
        message = {"content": "".join(self._texts), "tool_calls": self._calls}
        return read_completion({**self._last, "message": message}, self._endpoint, latency_ms)
