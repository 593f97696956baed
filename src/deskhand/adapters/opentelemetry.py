"""Telemetry as OpenTelemetry traces and metrics, with the conventions for generative AI.

Sent as OTLP/HTTP in JSON. The collector's answer says what counts as told, which the SDK's own
exporters, with their queues in memory, could not say.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from deskhand.errors import ConfigError, RetryableError
from deskhand.model.run import LlmCall
from deskhand.model.telemetry import TelemetryEvent, TelemetryLevel, TelemetryStage

_TIMEOUT = aiohttp.ClientTimeout(total=25)
_INTERNAL, _CLIENT = 1, 3
_FAILED = 2
_DELTA = 1
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)

Json = dict[str, Any]


class OpenTelemetrySink:
    """A trace a message: `invoke_agent`, below it a span for each stage, each tool and each call of
    a model."""

    def __init__(
        self,
        endpoint: str,
        agent: str,
        *,
        service: str | None = None,
        headers_env: Mapping[str, str] | None = None,
    ) -> None:
        """`headers_env` gives, by header, the environment variable that holds its value."""
        self._endpoint = endpoint.rstrip("/")
        self._agent = agent
        self._resource = {"attributes": _attributes({"service.name": service or agent})}
        self._headers_env = dict(headers_env or {})

    async def record(self, *events: TelemetryEvent) -> None:
        spans: list[Json] = []
        calls: list[LlmCall] = []
        for _, of_run in groupby(events, key=lambda event: event.run_id):
            run_events = list(of_run)
            spans += self._spans(run_events)
            for event in run_events:
                calls += event.calls
        scope = {"name": "deskhand"}
        traces = {"resource": self._resource, "scopeSpans": [{"scope": scope, "spans": spans}]}
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            await self._post(session, "traces", {"resourceSpans": [traces]})
            if calls:
                metrics = [_duration(calls), _token_usage(calls), _token_details(calls)]
                scoped = [{"scope": scope, "metrics": metrics}]
                body = {"resource": self._resource, "scopeMetrics": scoped}
                await self._post(session, "metrics", {"resourceMetrics": [body]})

    async def _post(self, session: aiohttp.ClientSession, signal: str, body: Json) -> None:
        url = f"{self._endpoint}/v1/{signal}"
        where = urlsplit(url).netloc
        try:
            async with session.post(
                url, json=body, headers=self._headers(), allow_redirects=False
            ) as answer:
                if not 200 <= answer.status < 300:
                    raise RetryableError(f"the collector at {where} answered {answer.status}")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            kind = type(error).__name__
            raise RetryableError(f"the collector at {where} could not be reached: {kind}") from None

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for name, variable in self._headers_env.items():
            value = os.environ.get(variable)
            if value is None:
                raise ConfigError(f"the environment variable {variable} is not set", fix="set it")
            headers[name] = value
        return headers

    # --- spans

    def _spans(self, events: Sequence[TelemetryEvent]) -> list[Json]:
        """The spans of one run, as far as it came this time."""
        first = events[0]
        trace = _digest(first.run_id, 16)
        root_id = _digest(f"{first.id} run", 8)
        begins = [event.started_at for event in events]
        ends = [event.started_at + event.seconds for event in events]
        intent = next((event.intent_id for event in events if event.intent_id), None)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._agent,
            "gen_ai.conversation.id": first.session_id,
            "deskhand.run.id": first.run_id,
            "deskhand.interaction.id": first.interaction_id,
            "deskhand.intent.id": intent,
        }
        name = f"invoke_agent {self._agent}"
        root = _span(trace, root_id, name, min(begins), max(ends), attributes)
        children = [self._of_event(event, trace, root_id) for event in events]
        calls = events[-1].calls
        return [root, *children, *(_of_call(call, trace, root_id) for call in calls)]

    def _of_event(self, event: TelemetryEvent, trace: str, parent: str) -> Json:
        attributes: Json = {
            "gen_ai.conversation.id": event.session_id,
            "deskhand.stage": str(event.stage),
            "deskhand.event.id": event.id,
            "deskhand.intent.id": event.intent_id,
        }
        name = str(event.stage)
        if event.stage is TelemetryStage.TOOL_EXECUTE:
            tool = str(event.payload.get("tool"))
            name = f"execute_tool {tool}"
            attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        for key in ("allowed", "ok", "fallback", "unknown_intent", "waiting_for_param"):
            attributes[f"deskhand.{key}"] = event.payload.get(key)
        end = event.started_at + event.seconds
        span = _span(trace, _digest(event.id, 8), name, event.started_at, end, attributes)
        span["parentSpanId"] = parent
        if event.level is TelemetryLevel.ERROR:
            span["status"] = {"code": _FAILED}
            span["attributes"] += _attributes({"error.type": "tool_error"})
        return span


def _of_call(call: LlmCall, trace: str, parent: str) -> Json:
    begin = call.at - call.latency_ms / 1000
    span_id = _digest(f"{call.run_id} {call.request_digest} {call.at!r}", 8)
    attributes = _of_model(call) | {
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": call.reasoning_tokens,
        "deskhand.stage.name": call.stage,
        "error.type": "model_error" if call.error else None,
    }
    name = f"chat {attributes['gen_ai.request.model']}"
    span = _span(trace, span_id, name, begin, call.at, attributes, _CLIENT)
    span["parentSpanId"] = parent
    if call.error:
        span["status"] = {"code": _FAILED}
    return span


def _of_model(call: LlmCall) -> Json:
    provider, _, model = call.model.partition("/")
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
    }


def _span(
    trace: str,
    span_id: str,
    name: str,
    begin: float,
    end: float,
    attributes: Mapping[str, Any],
    kind: int = _INTERNAL,
) -> Json:
    return {
        "traceId": trace,
        "spanId": span_id,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nanoseconds(begin),
        "endTimeUnixNano": _nanoseconds(max(begin, end)),
        "attributes": _attributes(attributes),
    }


# --- metrics


def _duration(calls: Sequence[LlmCall]) -> Json:
    points = [_point(call, _of_model(call), call.latency_ms / 1000, _SECONDS) for call in calls]
    return _histogram("gen_ai.client.operation.duration", "s", points)


def _token_usage(calls: Sequence[LlmCall]) -> Json:
    points: list[Json] = []
    for call in calls:
        for kind, count in (("input", call.prompt_tokens), ("output", call.completion_tokens)):
            attributes = _of_model(call) | {"gen_ai.token.type": kind}
            points.append(_point(call, attributes, float(count), _TOKENS))
    return _histogram("gen_ai.client.token.usage", "{token}", points)


def _token_details(calls: Sequence[LlmCall]) -> Json:
    """Parts of the usage, under a name of their own: a sum over the usage counts no token twice."""
    points: list[Json] = []
    for call in calls:
        parts = (("cached", call.cached_tokens), ("reasoning", call.reasoning_tokens))
        for kind, count in parts:
            attributes = _of_model(call) | {"deskhand.token.kind": kind}
            points.append(_point(call, attributes, float(count), _TOKENS))
    return _histogram("deskhand.client.token.details", "{token}", points)


def _histogram(name: str, unit: str, points: list[Json]) -> Json:
    values = {"aggregationTemporality": _DELTA, "dataPoints": points}
    return {"name": name, "unit": unit, "histogram": values}


def _point(
    call: LlmCall, attributes: Mapping[str, Any], value: float, bounds: Sequence[float]
) -> Json:
    place = sum(bound < value for bound in bounds)
    counts = ["0"] * (len(bounds) + 1)
    counts[place] = "1"
    return {
        "attributes": _attributes(attributes),
        "startTimeUnixNano": _nanoseconds(call.at - call.latency_ms / 1000),
        "timeUnixNano": _nanoseconds(call.at),
        "count": "1",
        "sum": value,
        "bucketCounts": counts,
        "explicitBounds": list(bounds),
    }


# --- as OTLP writes things


def _attributes(values: Mapping[str, Any]) -> list[Json]:
    present = {key: value for key, value in values.items() if value is not None}
    return [{"key": key, "value": _value(value)} for key, value in present.items()]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1_000_000) * 1000)


def _digest(text: str, size: int) -> str:
    return sha256(text.encode()).digest()[:size].hex()
