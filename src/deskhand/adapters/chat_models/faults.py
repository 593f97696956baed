"""What went wrong with one HTTP exchange, and whether trying again may help."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import Any, cast

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.errors import (
    ContextTooLong,
    DeskhandError,
    ModelAnswerInvalid,
    ModelNotUsable,
    ModelRefused,
    ModelUnavailable,
)

_FAILED_GENERATIONS = ("tool_use_failed", "json_validate_failed", "output_parse_failed")
"""Codes of a 400 that is about what the model wrote, not about what it was asked."""
_FAILED_GENERATION_WORDS = (
    "tool call validation failed",  # Groq
    "model produced output that does not match",  # llama.cpp, as 500
)
_TOO_LONG = (
    "context_length_exceeded",  # OpenAI, Groq, Azure
    "maximum context length",  # vLLM, OpenRouter, Mistral
    "prompt is too long",  # Anthropic
    "input token count",  # Gemini
    "exceeds the available context size",  # llama.cpp
    "exceed_context_size",  # llama.cpp, as a type
    "reduce the length of the messages",  # Groq
    "greater than the context length",  # LM Studio
    "contextwindowexceeded",  # LiteLLM
    "too large for model with",  # Mistral
    "longer than the context",  # Ollama, in our words
)
"""Codes and words, in lower case, of an answer that the request is longer than the context."""
_NO_CREDIT = ("insufficient_quota", "credit balance is too low", "billing_hard_limit_reached")


@dataclass(frozen=True, slots=True)
class Fault:
    error: DeskhandError
    retry: bool = False
    wait: float | None = None
    """Seconds the endpoint asked us to wait."""
    schema_refused: bool = False
    """The endpoint does not take this JSON schema; the same request may pass with plain JSON."""
    key_refused: bool = False
    complaint: str = ""
    """What a bad request was refused for, in lower case: it may name a parameter."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often one call is tried and how long it pauses in between."""

    tries: int = 3
    first_pause: float = 0.5
    longest_pause: float = 8.0
    longest_wait: float = 30.0
    """A Retry-After beyond this is not waited for here: it is told to whoever asks."""
    after_timeout: bool = True
    """Whether a call is tried again that had no answer in time."""
    random: Callable[[], float] = SystemRandom().random

    @classmethod
    def brief(cls) -> "RetryPolicy":
        """For a caller who can wait without holding anything up: one more try, and soon."""
        return cls(tries=2, longest_pause=1.0, longest_wait=1.0, after_timeout=False)

    def pause(self, tried: int, fault: Fault) -> float:
        if fault.wait is not None:
            return fault.wait + self.random() * self.first_pause
        return min(self.first_pause * 2.0 ** (tried - 1), self.longest_pause) * (
            0.5 + self.random()
        )


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header in either form; None when it is unreadable."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = moment.timestamp() - now
    return None if math.isnan(seconds) else max(seconds, 0.0)


def detail_of(data: Any) -> tuple[str, str]:
    """Message and code out of the error shapes of providers: an object, a text, a list of one."""
    if isinstance(data, dict) and not data.get("error") and data.get("choices"):
        data = data["choices"]  # an error inside a choice
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return (data if isinstance(data, str) else ""), ""
    error: Any = cast(dict[str, Any], data).get("error", data)
    if not isinstance(error, dict):
        return str(error), ""
    fields = cast(dict[str, Any], error)
    message = fields.get("message") or fields.get("detail") or ""
    if isinstance(message, dict):  # Mistral's list of wrong fields
        message = message.get("detail") or message
    return (
        message if isinstance(message, str) else json.dumps(message, default=str),
        str(fields.get("code") or fields.get("status") or fields.get("type") or ""),
    )


def fault_of_status(
    status: int,
    body: bytes,
    endpoint: ModelEndpoint,
    *,
    wait: float | None = None,
    policy: RetryPolicy,
) -> Fault:
    """Judge an answer whose status is not 2xx."""
    data = _parsed(body)
    detail, code = detail_of(data)
    words = redacted(detail, endpoint.key) if detail else "no reason given"
    where = f"{endpoint.name} at {endpoint.shown_url}"
    if any(sign in f"{code} {detail}".lower() for sign in _NO_CREDIT):
        return Fault(
            ModelNotUsable(
                f"{where} says the account has no credit left ({status}); top it up: {words}"
            )
        )
    if code in _FAILED_GENERATIONS or any(sign in detail for sign in _FAILED_GENERATION_WORDS):
        failed = ModelAnswerInvalid(f"{where} could not use what it wrote: {words}")
        return Fault(failed, retry=True)
    if status == 413 or _is_too_long(f"{code} {detail}"):
        return Fault(ContextTooLong(_advice(413, where, endpoint) + f": {words}"))
    if status in (408, 409, 425, 429) or status >= 500:
        return _passing(f"{where} answered {status}: {words}", wait, policy)
    if "content_filter" in code or "content_policy" in code:
        return Fault(ModelRefused(f"{where} refused the content ({status}): {words}"))
    kind = ModelNotUsable if status in (401, 402, 403, 404) else ModelRefused
    return Fault(
        kind(_advice(status, where, endpoint) + f": {words}"),
        schema_refused=_about_schema(status, detail),
        key_refused=status in (401, 403),
        complaint=json.dumps(data, ensure_ascii=False).lower() if status in (400, 422) else "",
    )


def _is_too_long(said: str) -> bool:
    lowered = said.lower()
    return any(sign in lowered for sign in _TOO_LONG)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _passing(problem: str, wait: float | None, policy: RetryPolicy) -> Fault:
    if wait is not None and wait > policy.longest_wait:
        request = f"it asks to wait {wait:.0f} s (Retry-After)"
        return Fault(ModelUnavailable(f"{problem}; {request}", retry_after=wait))
    return Fault(ModelUnavailable(problem, retry_after=wait), retry=True, wait=wait)


_SCHEMA_WORDS = (
    "response_format",
    "response format",
    "output_config",
    "output format",
    "text.format",
    "schema",
    "grammar",
)


def _about_schema(status: int, detail: str) -> bool:
    lowered = detail.lower()
    about_tools = "function" in lowered or "tool" in lowered
    return (
        status in (400, 422) and not about_tools and any(word in lowered for word in _SCHEMA_WORDS)
    )


def _advice(status: int, where: str, endpoint: ModelEndpoint) -> str:
    match status:
        case 401:
            return f"{where} does not accept the key (401); {endpoint.key_hint}"
        case 402:
            return f"{where} wants to be paid first (402); top up the account"
        case 403:
            return (
                f"{where} does not let this key use the model (403); allow it there, or"
                f" {endpoint.key_hint}"
            )
        case 404:
            check = (
                f"check the model name {endpoint.model!r} and the address ({endpoint.url_variable}"
                " overrides it)"
            )
            return f"{where} knows no such model or path (404); {check}"
        case 413:
            return (
                f"{where} finds the request too long; shorten the prompt or choose a model"
                " with more room"
            )
        case _ if 300 <= status < 400:
            return (
                f"{where} redirects elsewhere ({status}); set the final address"
                f" ({endpoint.url_variable} overrides it)"
            )
        case _:
            return f"{where} does not accept the request ({status})"
