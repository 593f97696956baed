"""The OpenAI chat format: requests to bytes, answers to our types. No network."""

import json
import math
from typing import Any, cast

from deskhand.adapters.chat_models.faults import detail_of
from deskhand.adapters.chat_models.providers import Endpoint, JsonMode
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.errors import DeskhandError, ModelAnswerInvalid, ModelRefused, ModelUnavailable
from deskhand.model.chat import ChatRequest, Completion, ToolRequest, Usage

Json = dict[str, Any]


def request_body(
    request: ChatRequest, endpoint: Endpoint, json_mode: JsonMode, *, stream: bool = False
) -> bytes:
    body: Json = {"model": endpoint.model, "messages": request.messages}
    if request.tools:
        body["tools"] = request.tools
    if request.schema is not None and json_mode == "json_schema":
        answer = {"name": "answer", "schema": request.schema, "strict": False}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    elif request.schema is not None and json_mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[endpoint.provider.max_tokens_field] = request.max_tokens
    if stream:
        body["stream"] = True
        if endpoint.provider.stream_usage:
            body["stream_options"] = {"include_usage": True}
    # "replace": half a surrogate pair in a customer's text must not stop the call
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def read_json(body: bytes, endpoint: Endpoint) -> Any:
    """Parse a 2xx body; ModelAnswerInvalid says what came instead of JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    start = body[:400].lstrip()
    if not start:
        came = "nothing"
    elif start.startswith(b"<"):
        came = "a web page"
    else:
        came = "something that is not JSON"
    shown = redacted(body[:2000].decode("utf-8", "replace"), endpoint.key, limit=200)
    raise ModelAnswerInvalid(
        f"{endpoint.name} at {endpoint.shown_url} answered with {came}; is the address right? It"
        f" begins: {shown!r}"
    )


def error_status(data: Any) -> int | None:
    """The status of an error inside a 200 answer, as OpenRouter sends it; 0 if it has none."""
    if not isinstance(data, dict) or not data.get("error") or data.get("choices"):
        return None
    error: Any = data["error"]
    code: Any = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 300 <= code < 600 else 0


def read_completion(data: Any, endpoint: Endpoint, latency_ms: float) -> Completion:
    """Strict about the shape that carries the answer, lenient about the rest."""
    choices: Any = data.get("choices") if isinstance(data, dict) else None
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    message: Any = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        detail = redacted(detail_of(data)[0], endpoint.key)
        raise ModelAnswerInvalid(
            f"{endpoint.name} answered without choices" + (f": {detail}" if detail else "")
        )
    reason = str(choice.get("finish_reason") or "stop")
    calls: Any = message.get("tool_calls")
    raise_if_refused(endpoint, reason, message.get("refusal"))
    tool_calls: tuple[ToolRequest, ...] = ()
    if isinstance(calls, list):
        tool_calls = tuple(_tool_request(call, index) for index, call in enumerate(calls))
    return Completion(
        text=text_of(message.get("content")),
        model=endpoint.name,
        tool_calls=tool_calls,
        finish_reason=reason,
        usage=read_usage(data.get("usage"), endpoint),
        latency_ms=latency_ms,
    )


def raise_if_refused(endpoint: Endpoint, reason: str, refusal: Any) -> None:
    if refusal:
        raise ModelRefused(
            f"{endpoint.name} refused to answer: {redacted(str(refusal), endpoint.key, limit=200)}"
        )
    if reason == "content_filter":
        raise ModelRefused(f"{endpoint.name} withheld its answer (content filter)")


def text_of(content: Any) -> str:
    """A message's content is a text, nothing, or a list of parts of which we want the texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part["text"]
        for part in content
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _tool_request(call: Any, index: int) -> ToolRequest:
    function: Any = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not function.get("name"):
        raise ModelAnswerInvalid("the model asked for a tool without naming it")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolRequest(
        id=str(call.get("id") or f"call_{index}"), name=str(function["name"]), arguments=arguments
    )


def read_usage(usage: Any, endpoint: Endpoint) -> Usage:
    """Tokens as the endpoint counts them; cost by our price, else as the endpoint says."""
    if not isinstance(usage, dict):
        return Usage()
    fields = cast(Json, usage)
    prompt, completion = (
        _count(fields.get("prompt_tokens")),
        _count(fields.get("completion_tokens")),
    )
    if endpoint.price is not None:
        cost = (prompt * endpoint.price.input + completion * endpoint.price.output) / 1_000_000
    else:
        cost = _amount(fields.get("cost"))
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cost=cost)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _amount(value: Any) -> float:
    is_amount = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value > 0
    )
    return float(value) if is_amount else 0.0


class StreamedAnswer:
    """Puts a stream's pieces together again."""

    __slots__ = ("_calls", "_endpoint", "_refusal", "_texts", "_usage", "done", "finish_reason")

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._texts: list[str] = []
        self._refusal = ""
        self._calls: list[Json] = []
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
        if data.get("error"):
            raise _stream_error(data, self._endpoint)
        if data.get("usage"):
            self._usage = read_usage(data["usage"], self._endpoint)
        choices: Any = data.get("choices")
        choice: Any = choices[0] if isinstance(choices, list) and choices else None
        return self._add_choice(choice) if isinstance(choice, dict) else ""

    def _add_choice(self, choice: Json) -> str:
        if choice.get("finish_reason"):
            self.finish_reason = str(choice["finish_reason"])
        delta: Any = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        self._refusal += str(delta.get("refusal") or "")
        calls: Any = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._add_call(call)
        text = text_of(delta.get("content"))
        if text:
            self._texts.append(text)
        return text

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
        )


def _stream_error(data: Json, endpoint: Endpoint) -> DeskhandError:
    detail, code = detail_of(data)
    words = (
        f"{endpoint.name} broke off its answer:"
        f" {redacted(detail, endpoint.key) or 'no reason given'}"
    )
    return ModelRefused(words) if "content" in code else ModelUnavailable(words)
