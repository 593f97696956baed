"""An OpenAI-shaped server on loopback that answers by a script and fails on demand.

As a module it serves benchmarks and manual trials: `python -m tests.fake_openai --port 8099 --delay
0.2`.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    then: Literal["answer", "hang", "drop", "cut", "stream", "cut_stream", "hang_stream"] = "answer"
    pieces: tuple[bytes, ...] = ()
    waits_at: int | None = None
    """The piece before which a stream waits for `FakeOpenAI.go_on`."""


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def tool_call(name: str, arguments: str, identifier: str = "call_1") -> dict[str, Any]:
    return {
        "id": identifier,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def completion(
    text: str | None,
    *,
    tool_calls: Sequence[dict[str, Any]] = (),
    finish_reason: str = "stop",
    **more: Any,
) -> Reply:
    """A regular answer; `more` goes into the message."""
    message: dict[str, Any] = {"role": "assistant", "content": text, **more}
    if tool_calls:
        message["tool_calls"] = list(tool_calls)
    return body(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "fake",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
    )


def body(data: Any) -> Reply:
    return Reply(json.dumps(data).encode())


def failure(
    status: int, message: str = "no", *, code: str | None = None, retry_after: str | None = None
) -> Reply:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    error = {"message": message, "type": "error", "code": code}
    return replace(body({"error": error}), status=status, headers=headers)


def html(status: int = 200) -> Reply:
    return Reply(b"<!doctype html><title>Sign in</title>", status=status, content_type="text/html")


def half_json() -> Reply:
    return Reply(b'{"id": "chatcmpl-1", "choices": [{"mess')


def empty() -> Reply:
    return Reply()


def hang() -> Reply:
    return Reply(then="hang")


def dropped() -> Reply:
    """The connection closes before a byte of the answer."""
    return Reply(then="drop")


def cut() -> Reply:
    """The connection closes in the middle of the body."""
    return Reply(b'{"id": "chatcmpl-1", "choices": [', then="cut")


def events(
    *payloads: Any, piece: int | None = None, ending: Literal["done", "cut", "hang", "eof"] = "done"
) -> Reply:
    """A stream of events, sent in pieces of `piece` bytes or one by one."""
    lines = []
    for item in payloads:
        data = item if isinstance(item, bytes) else json.dumps(item).encode()
        lines.append(b"data: " + data + b"\n\n")
    if ending == "done":
        lines.append(b"data: [DONE]\n\n")
    if piece is not None:
        whole = b"".join(lines)
        lines = [whole[start : start + piece] for start in range(0, len(whole), piece)]
    then: Literal["stream", "cut_stream", "hang_stream"] = "stream"
    if ending in ("cut", "hang"):
        then = "cut_stream" if ending == "cut" else "hang_stream"
    return Reply(content_type="text/event-stream", pieces=tuple(lines), then=then)


def delta(
    content: str | None = None, *, finish_reason: str | None = None, **more: Any
) -> dict[str, Any]:
    piece = {**({} if content is None else {"content": content}), **more}
    return {"choices": [{"index": 0, "delta": piece, "finish_reason": finish_reason}]}


USAGE_EVENT = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}


def streamed(text: str, **options: Any) -> Reply:
    words = [word + " " for word in text.split(" ")]
    words[-1] = words[-1][:-1]
    return events(
        *(delta(word) for word in words), delta(finish_reason="stop"), USAGE_EVENT, **options
    )


def sample(schema: dict[str, Any]) -> Any:
    """A small value that satisfies a plain JSON schema, so that benchmarks get valid answers."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            return {name: sample(known.get(name, {})) for name in schema.get("required", known)}
        case "array":
            return []
        case "number" | "integer":
            return schema.get("maximum", 1)
        case "boolean":
            return False
        case _:
            return "Thank you."


def regular(request: dict[str, Any]) -> Reply:
    """What a well-behaved model would say: JSON by the schema if there is one, else a sentence."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    text = "Hello, this is an answer." if schema is None else json.dumps(sample(schema))
    return streamed(text) if request.get("stream") else completion(text)


class FakeOpenAI:
    """Plays `script` in order, then answers regularly (or by `otherwise`); keeps every request."""

    def __init__(
        self,
        script: Iterable[Reply] = (),
        *,
        otherwise: Callable[[dict[str, Any]], Reply] = regular,
        delay: float = 0.0,
        port: int = 0,
    ) -> None:
        self._script = iter(script)
        self._otherwise, self._delay, self._port = otherwise, delay, port
        self.received: list[Received] = []
        self.count = 0
        self.keep_requests = True
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()
        self.go_on = asyncio.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=1, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.count += 1
        data: dict[str, Any] = json.loads(await request.read() or b"{}")
        if self.keep_requests:
            self.received.append(Received(request.path_qs, dict(request.headers), data))
        reply = next(self._script, None) or self._otherwise(data)
        if pause := self._delay + reply.delay:
            await asyncio.sleep(pause)
        match reply.then:
            case "answer":
                return web.Response(
                    body=reply.body,
                    status=reply.status,
                    content_type=reply.content_type,
                    headers=reply.headers,
                )
            case "hang":
                await self._closing.wait()
                return web.Response(status=500)
            case "drop":
                return _abort(request, web.Response())
            case _:
                return await self._stream(request, reply)

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        response.content_type = reply.content_type
        if reply.then == "cut":
            response.content_length = len(reply.body) + 1000
        await response.prepare(request)
        for number, piece in enumerate(reply.pieces or (reply.body,)):
            if number == reply.waits_at:
                await self.go_on.wait()
            await response.write(piece)
            await asyncio.sleep(0)
        if reply.then in ("cut", "cut_stream"):
            await asyncio.sleep(0.01)  # let what was written leave before the connection goes
            return _abort(request, response)
        if reply.then == "hang_stream":
            await self._closing.wait()
        await response.write_eof()
        return response


def _abort(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response


async def serve(port: int, delay: float) -> None:
    server = FakeOpenAI(port=port, delay=delay)
    server.keep_requests = False
    async with server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="An OpenAI-shaped server that answers without thinking."
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    try:
        asyncio.run(serve(options.port, options.delay))
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
