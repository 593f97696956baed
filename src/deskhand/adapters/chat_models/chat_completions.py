"""Chat completions, the protocol that OpenAI made common: requests out, answers in. No network."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.faults import detail_of
from deskhand.adapters.chat_models.providers import JsonMode
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.adapters.chat_models.wire import (
    Json,
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
from deskhand.model.chat import NATIVE, ChatRequest, Completion, ToolRequest, Usage

_CALL_FIELDS = frozenset(("id", "type", "index", "function"))
_FUNCTION_FIELDS = frozenset(("name", "arguments"))
_KEPT_FIELDS = ("extra_content", "reasoning_details")
"""Fields of a message beside its text that its provider wants to see again: Gemini's signatures of
thoughts, OpenRouter's thoughts."""
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")


def request_body(
    request: ChatRequest, endpoint: ModelEndpoint, json_mode: JsonMode, stream: bool = False
) -> Json:
    body: Json = {"model": endpoint.model, "messages": list(_messages(request, endpoint))}
    if request.tools:
        body["tools"] = request.tools
    if request.schema is not None and json_mode == "json_schema":
        strict = is_closed(request.schema)
        answer = {"name": "answer", "schema": request.schema, "strict": strict}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    elif request.schema is not None and json_mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if limit := token_limit(request, endpoint):
        body[endpoint.provider.max_tokens_field] = limit
    if stream:
        body["stream"] = True
        if endpoint.provider.stream_usage:
            body["stream_options"] = {"include_usage": True}
    return with_params(body, endpoint.params)


def _messages(request: ChatRequest, endpoint: ModelEndpoint) -> Iterator[Mapping[str, Any]]:
    provider = endpoint.provider
    before = ""
    for message in request.messages:
        role = message["role"]
        if provider.assistant_after_tool and (before, role) == ("tool", "user"):
            yield {"role": "assistant", "content": "I have the result."}
        before = role
        shown = _as_written(message, endpoint) if NATIVE in message else message
        yield _with_short_ids(shown) if provider.short_call_ids else shown


def _as_written(message: Mapping[str, Any], endpoint: ModelEndpoint) -> Json:
    """An assistant's message with all fields that this model had given it."""
    shown = {name: value for name, value in message.items() if name != NATIVE}
    native = native_of(message, endpoint)
    shown |= native.get("message", {})
    extras: list[Json] = native.get("calls", [])
    if extras and "tool_calls" in shown:
        pairs = zip(shown["tool_calls"], extras, strict=False)
        shown["tool_calls"] = [_call_as_written(call, extra) for call, extra in pairs]
    return shown


def _call_as_written(call: Json, extra: Json) -> Json:
    function = {**call["function"], **extra.get("function", {})}
    return {**call, **extra, "function": function}


def _with_short_ids(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if "tool_call_id" in message:
        return {**message, "tool_call_id": _short_id(message["tool_call_id"])}
    if "tool_calls" not in message:
        return message
    calls = [{**call, "id": _short_id(call["id"])} for call in message["tool_calls"]]
    return {**message, "tool_calls": calls}


def _short_id(identifier: str) -> str:
    """The id in nine letters and digits: its own, or one that is always the same for it."""
    if _SHORT_ID.fullmatch(identifier):
        return identifier
    return sha256(identifier.encode()).hexdigest()[:9]


def error_status(data: Any) -> int | None:
    """The status of an error inside a 200 answer or its choice; 0 if it has none."""
    error: Any = within(data, "error")
    choice = _first_choice(data)
    if choice is not None:
        error = choice.get("error")
    if not error:
        return None
    code: Any = within(error, "code")
    return code if isinstance(code, int) and 300 <= code < 600 else 0


def _first_choice(data: Any) -> Json | None:
    choices: Any = within(data, "choices")
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def read_completion(data: Any, endpoint: ModelEndpoint, latency_ms: float) -> Completion:
    """Strict about the shape that carries the answer, lenient about the rest."""
    choice = _first_choice(data)
    if choice is not None and choice.get("error"):
        raise broken_off(endpoint, *detail_of(choice))
    message: Any = within(choice, "message")
    if not isinstance(message, dict):
        detail = redacted(detail_of(data)[0], endpoint.key)
        raise ModelAnswerInvalid(
            f"{endpoint.name} answered without choices" + (f": {detail}" if detail else "")
        )
    reason = str(within(choice, "finish_reason") or "stop")
    raise_if_refused(endpoint, reason, message.get("refusal"))
    calls: Any = message.get("tool_calls")
    written = calls if isinstance(calls, list) else []
    return Completion(
        text=text_of(message.get("content")),
        model=endpoint.name,
        tool_calls=tuple(_tool_request(call, index) for index, call in enumerate(written)),
        finish_reason=reason,
        usage=read_usage(data.get("usage"), endpoint),
        latency_ms=latency_ms,
        native=_native(endpoint, message, written),
    )


def _native(endpoint: ModelEndpoint, message: Json, calls: Iterable[Json]) -> Json | None:
    """What goes back to the model as it came: fields that we do not read."""
    kept = {name: message[name] for name in _KEPT_FIELDS if message.get(name)}
    extras = [_unread(call) for call in calls]
    if not kept and not any(extras):
        return None
    return {"model": endpoint.name, "message": kept, "calls": extras}


def _unread(call: Json) -> Json:
    """The fields of a call that we do not read."""
    extra = {name: value for name, value in call.items() if name not in _CALL_FIELDS}
    function = within(call, "function") or {}
    inner = {name: value for name, value in function.items() if name not in _FUNCTION_FIELDS}
    return {**extra, "function": inner} if inner else extra


def _tool_request(call: Any, index: int) -> ToolRequest:
    function: Any = within(call, "function")
    if not isinstance(function, dict) or not function.get("name"):
        raise ModelAnswerInvalid("the model asked for a tool without naming it")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolRequest(
        id=str(call.get("id") or f"call_{index}"), name=str(function["name"]), arguments=arguments
    )


def read_usage(usage: Any, endpoint: ModelEndpoint) -> Usage:
    """Tokens; Gemini and xAI leave thoughts out of the answer's and count them in the total."""
    prompt = count(within(usage, "prompt_tokens"))
    completion = count(within(usage, "completion_tokens"))
    thoughts = max(count(within(usage, "total_tokens")) - prompt - completion, 0)
    reasoning = count(within(usage, "completion_tokens_details", "reasoning_tokens"))
    return counted(
        endpoint,
        prompt=prompt,
        completion=completion + thoughts,
        cached=_cached(usage),
        reasoning=reasoning or thoughts,
        told_cost=within(usage, "cost"),
    )


def _cached(usage: Any) -> int:
    """OpenAI's name for what came from the cache, or DeepSeek's."""
    by_name = within(usage, "prompt_tokens_details", "cached_tokens")
    return count(by_name) or count(within(usage, "prompt_cache_hit_tokens"))


class ChatCompletionStream:
    """Puts a stream's pieces together again."""

    __slots__ = (
        "_calls",
        "_endpoint",
        "_kept",
        "_refusal",
        "_texts",
        "_usage",
        "done",
        "finish_reason",
    )

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self._texts: list[str] = []
        self._refusal = ""
        self._calls: list[Json] = []
        self._kept: Json = {}
        self._usage = Usage()
        self.finish_reason: str | None = None
        self.done = False
        """The endpoint said `[DONE]`."""

    @property
    def complete(self) -> bool:
        """Some endpoints never say `[DONE]`; a finish reason is as good."""
        return self.done or self.finish_reason is not None

    def add(self, event: bytes) -> str:
        """Take one event in and return the text it adds; ValueError when it is not JSON."""
        if event.strip() == b"[DONE]":
            self.done = True
            return ""
        data: Any = json.loads(event)
        if not isinstance(data, dict):
            return ""
        choice = _first_choice(data)
        broken = data if data.get("error") else choice
        if broken is not None and broken.get("error"):
            raise broken_off(self._endpoint, *detail_of(broken))
        usage = data.get("usage") or within(data, "x_groq", "usage")
        if usage:
            self._usage = read_usage(usage, self._endpoint)
        return self._add_choice(choice) if choice is not None else ""

    def _add_choice(self, choice: Json) -> str:
        if choice.get("finish_reason"):
            self.finish_reason = str(choice["finish_reason"])
        delta: Any = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        self._refusal += str(delta.get("refusal") or "")
        self._keep(delta)
        calls: Any = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._add_call(call)
        text = text_of(delta.get("content"))
        if text:
            self._texts.append(text)
        return text

    def _keep(self, delta: Json) -> None:
        for name in _KEPT_FIELDS:
            piece = delta.get(name)
            if isinstance(piece, list):
                self._kept[name] = [*self._kept.get(name, []), *piece]
            elif piece:
                self._kept[name] = piece

    def _add_call(self, delta: Json) -> None:
        """Add a piece of a call, by its index; some endpoints send none, or reuse it."""
        index, identifier = delta.get("index"), delta.get("id")
        if index is not None:
            call = next(
                (earlier for earlier in reversed(self._calls) if earlier["index"] == index), None
            )
        else:
            call = self._calls[-1] if self._calls and not identifier else None
        if call is None or (identifier and call["id"] and identifier != call["id"]):
            call = {"index": index, "id": None, "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        call["id"] = call["id"] or identifier
        call |= {name: value for name, value in delta.items() if name not in _CALL_FIELDS}
        function: Any = delta.get("function")
        if isinstance(function, dict):
            arguments: Any = function.get("arguments")
            call["function"]["name"] = call["function"]["name"] or str(function.get("name") or "")
            if isinstance(arguments, str):
                call["function"]["arguments"] += arguments
            elif arguments is not None:
                call["function"]["arguments"] += json.dumps(arguments)

    def completion(self, latency_ms: float) -> Completion:
        reason = self.finish_reason or "stop"
        raise_if_refused(self._endpoint, reason, self._refusal)
        return Completion(
            text="".join(self._texts),
            model=self._endpoint.name,
            tool_calls=tuple(_tool_request(call, index) for index, call in enumerate(self._calls)),
            finish_reason=reason,
            usage=self._usage,
            latency_ms=latency_ms,
            native=_native(self._endpoint, self._kept, self._calls),
        )
