"""What all wire protocols share: how a request is written, how JSON, usage and texts are read."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.providers import JsonMode
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.errors import DeskhandError, ModelAnswerInvalid, ModelRefused, ModelUnavailable
from deskhand.model.chat import NATIVE, ChatRequest, Completion, Usage

Json = dict[str, Any]

TOKEN_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
"""The names that protocols have for the longest answer."""


class StreamedAnswer(Protocol):
    """Puts a stream's pieces together again."""

    done: bool
    """Nothing more will come."""

    @property
    def complete(self) -> bool:
        """Whether the answer came to its end."""
        ...

    def add(self, event: bytes) -> str:
        """Take one event in and return the text it adds; ValueError when it is not JSON."""
        ...

    def completion(self, latency_ms: float) -> Completion: ...


class EventSplitter(Protocol):
    """Turns bytes, cut anywhere, into whole events."""

    def feed(self, piece: bytes) -> list[bytes]: ...

    def end(self) -> list[bytes]: ...


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire protocol."""

    body: Callable[[ChatRequest, ModelEndpoint, JsonMode, bool], Json]
    """The request; the last argument says whether the answer is streamed."""
    read: Callable[[Any, ModelEndpoint, float], Completion]
    streamed: Callable[[ModelEndpoint], StreamedAnswer]
    splitter: Callable[[], EventSplitter]


def encoded(body: Json) -> bytes:
    # "replace": half a surrogate pair in a customer's text must not stop the call
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def token_limit(request: ChatRequest, endpoint: ModelEndpoint) -> int | None:
    """The longest answer; None where the desk writes the limit among the model's `params`."""
    if any(name in endpoint.params for name in TOKEN_LIMITS):
        return None
    return request.max_tokens or endpoint.provider.max_tokens


def with_params(body: Json, params: Mapping[str, Any]) -> Json:
    """The body with the desk's own fields; null takes a field out."""
    merged = {**body, **params}
    return {name: value for name, value in merged.items() if value is not None}


def native_of(message: Mapping[str, Any], endpoint: ModelEndpoint) -> Json:
    """What this very model once wrote beside its answer; nothing of another model's."""
    native = message.get(NATIVE)
    if not isinstance(native, dict) or native.get("model") != endpoint.name:
        return {}
    return native


def read_json(body: bytes, endpoint: ModelEndpoint) -> Any:
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


def arguments_of(text: Any) -> Json:
    """The arguments of a call as an object, for protocols that want one."""
    try:
        value: Any = json.loads(text or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"arguments": text}


def raise_if_refused(endpoint: ModelEndpoint, reason: str, refusal: Any) -> None:
    if refusal:
        raise ModelRefused(
            f"{endpoint.name} refused to answer: {redacted(str(refusal), endpoint.key, limit=200)}"
        )
    if reason == "content_filter":
        raise ModelRefused(f"{endpoint.name} withheld its answer (content filter)")


def broken_off(endpoint: ModelEndpoint, detail: str, code: str) -> DeskhandError:
    """The error of an answer that ended in one."""
    words = (
        f"{endpoint.name} broke off its answer:"
        f" {redacted(detail, endpoint.key) or 'no reason given'}"
    )
    return ModelRefused(words) if "content" in code else ModelUnavailable(words)


def counted(
    endpoint: ModelEndpoint,
    *,
    prompt: Any,
    completion: Any,
    cached: Any = 0,
    written: Any = 0,
    reasoning: Any = 0,
    told_cost: Any = 0.0,
) -> Usage:
    """Tokens as the endpoint counts them; cost by our price, else as the endpoint says.

    `prompt` includes what was `cached`, and what was `written` to the provider's cache.
    """
    prompt, completion, cached, written = map(count, (prompt, completion, cached, written))
    cost = _amount(told_cost)
    price = endpoint.price
    if price is not None:
        cached_price = price.input if price.cached_input is None else price.cached_input
        write_price = price.input if price.cache_write is None else price.cache_write
        plain = max(prompt - cached - written, 0)
        paid = plain * price.input + cached * cached_price + written * write_price
        cost = (paid + completion * price.output) / 1_000_000
    return Usage(prompt, completion, cost, cached, count(reasoning))


def count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _amount(value: Any) -> float:
    is_amount = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value > 0
    )
    return float(value) if is_amount else 0.0


def within(value: Any, *path: str) -> Any:
    """A field of nested objects; None where there is none."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def is_closed(schema: Any) -> bool:
    """Whether endpoints can be held to a schema strictly: all its objects are closed, and all
    their fields are typed and required."""
    if not isinstance(schema, dict):
        return False
    if "anyOf" in schema:
        return all(map(is_closed, schema["anyOf"]))
    if schema.get("type") == "array":
        return is_closed(schema.get("items"))
    if schema.get("type") != "object":
        return "type" in schema or "enum" in schema
    properties = schema.get("properties", {})
    return (
        schema.get("additionalProperties") is False
        and set(schema.get("required", ())) == set(properties)
        and all(map(is_closed, properties.values()))
    )
