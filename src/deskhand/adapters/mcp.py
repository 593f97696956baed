"""Servers of the Model Context Protocol, over the official SDK: started when first needed, started anew when gone.

The SDK takes seconds to import and comes with the extra `deskhand[mcp]`: nothing here is imported before it is used.
"""

import asyncio
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TextIO, cast

from deskhand.config.mcp import McpServerSpec, McpSpec, McpToolSpec, Pin
from deskhand.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger("deskhand.mcp")

LONGEST_TEXT = 20_000
"""Characters of a result that a model is shown."""
LARGEST_DATA = 100_000
"""Bytes of JSON in a structured result."""
LARGEST_PIN = 60_000
MOST_PAGES = 50
REST = 1.0
"""Seconds between two attempts to start a server that is gone."""
VERIFY_EVERY = 300.0
"""Seconds after which a server's tools are compared again with what was accepted."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


class McpServers:
    """All servers of a desk."""

    def __init__(self, spec: McpSpec) -> None:
        pins = {(tool.server, tool.tool): tool.pin for tool in spec.tools}
        self._servers = {
            name: McpServer(server, {tool: pin for (of, tool), pin in pins.items() if of == name})
            for name, server in spec.servers.items()
        }

    async def ask(self, tool: McpToolSpec, arguments: dict[str, Any]) -> dict[str, Any]:
        server, reads = self._servers[tool.server], tool.effect == "read"
        try:
            return await server.call(tool.tool, arguments, tool.timeout, anew=not reads)
        except ConnectionError:
            if not reads:
                raise
            return await server.call(tool.tool, arguments, tool.timeout)  # from a server that was started again

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()


class McpServer:
    """One server. Its connection lives in a task of its own, which ends when the connection does."""

    def __init__(self, spec: McpServerSpec, pins: Mapping[str, Pin]) -> None:
        self._spec, self._pins = spec, pins
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._stop = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()
        self._changed: dict[str, str] = {}
        self._verified = self._tried = float("-inf")
        self._stale = False

    async def call(self, tool: str, arguments: dict[str, Any], timeout: float, *, anew: bool = False) -> dict[str, Any]:
        """What the tool gives. ConnectionError and TimeoutError leave it open whether it did its work.

        `anew`: see first that the server is there and its tools are what they were.
        """
        client = await self._ready(anew)
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        if (why := self._changed.get(tool)) is not None:
            words = f"{tool} of {self._spec.name} is not what was accepted ({why}); an operator has to look at it"
            raise ToolError("tool_changed", words, recoverable=False)
        try:
            result = await client.session.call_tool(tool, arguments, read_timeout_seconds=timeout)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise TimeoutError(f"{self._spec.name} did not answer within {timeout:g} s") from None
            if error.code == CONNECTION_CLOSED:
                self._lose(client)
                raise ConnectionError(f"{self._spec.name} went away during the call") from None
            raise ToolError("server_refused", f"{self._spec.name} refused the call: {_line(str(error))}") from None
        except (OSError, EOFError, RuntimeError) as error:  # the stream broke under the call
            self._lose(client)
            raise ConnectionError(f"{self._spec.name} went away during the call") from error
        return _result(result)

    async def describe(self) -> dict[str, Pin]:
        """All tools as the server describes them now."""
        client = await self._ready()
        return await _listed(client)

    async def close(self) -> None:
        self._stop.set()
        task, self._task, self._client = self._task, None, None
        left = {*self._ending, *([task] if task is not None else [])}
        if left:
            _, late = await asyncio.wait(left, timeout=10)
            for one in late:
                one.cancel()
            if late:
                await asyncio.wait(late, timeout=10)

    # --- the connection

    async def _ready(self, anew: bool = False) -> "Client":
        async with self._lock:
            if self._client is not None and (anew or self._is_due):
                try:
                    await self._verify(self._client)
                except Exception as error:
                    log.info("MCP server %s is gone: %r", self._spec.name, _first(error))
                    self._lose(self._client)
            if self._client is None:
                await self._start()
            assert self._client is not None
            return self._client

    @property
    def _is_due(self) -> bool:
        return self._stale or asyncio.get_running_loop().time() - self._verified > VERIFY_EVERY

    async def _start(self) -> None:
        """ToolError when it cannot be reached: then nothing was asked of it."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, min(REST, self._tried + REST - loop.time())))
        self._tried = loop.time()
        await asyncio.to_thread(import_module, "mcp")  # takes seconds the first time
        self._stop, ready = asyncio.Event(), loop.create_future()
        task = self._task = asyncio.create_task(self._keep(ready, self._stop), name=f"mcp {self._spec.name}")
        try:
            first = asyncio.FIRST_COMPLETED
            done, _ = await asyncio.wait({ready, task}, timeout=self._spec.timeout, return_when=first)
            if not done:
                raise TimeoutError(f"no answer within {self._spec.timeout:g} s")
            client = ready.result() if ready.done() else None
            if client is None:
                raise task.exception() or ConnectionError("it ended at once")
            await self._verify(client)
        except Exception as error:
            self._lose(None)
            if isinstance(error, ConfigError):
                raise
            log.warning("MCP server %s cannot be reached: %r", self._spec.name, _first(error))
            words = (
                f"the server {self._spec.name} cannot be reached: {_line(str(_first(error)) or type(error).__name__)}"
            )
            raise ToolError("server_unavailable", words) from error
        except BaseException:  # whoever waited for it has given up
            self._lose(None)
            raise
        self._client = client

    async def _keep(self, ready: "asyncio.Future[Client]", stop: asyncio.Event) -> None:
        """Holds the connection: the SDK wants it closed by the task that opened it."""
        from mcp import Client

        async with AsyncExitStack() as stack:
            transport = await _transport(self._spec, stack)
            client = await stack.enter_async_context(
                Client(transport, message_handler=self._hear, read_timeout_seconds=self._spec.timeout, cache=None)
            )
            if not ready.done():
                ready.set_result(client)
            await stop.wait()

    async def _hear(self, message: Any) -> None:
        """A server may say that its tools have changed; whatever else it says is not for us."""
        if type(message).__name__ == "ToolListChangedNotification":
            self._stale = True

    async def _verify(self, client: "Client") -> None:
        found = await _listed(client)
        self._stale, self._verified = False, asyncio.get_running_loop().time()
        self._changed = changes(self._pins, found)
        for tool, why in self._changed.items():
            log.error("tool %s of MCP server %s: %s since it was accepted", tool, self._spec.name, why)

    def _lose(self, client: "Client | None") -> None:
        """Forget this connection, unless another has taken its place; its task closes what is left of it."""
        if self._client is not client:
            return
        self._stop.set()
        task, self._task, self._client = self._task, None, None
        if task is not None:
            self._ending.add(task)
            task.add_done_callback(self._ended)
            task.cancel()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._ending.discard(task)
        if not task.cancelled():
            task.exception()  # told when it happened


def changes(pins: Mapping[str, Pin], found: Mapping[str, Pin]) -> dict[str, str]:
    """What differs from what was accepted, in words, by tool."""
    said: dict[str, str] = {}
    for tool, pin in pins.items():
        now = found.get(tool)
        if now is None:
            said[tool] = "it is gone"
        elif now.digest != pin.digest:
            parts = [name for name, differs in _parts(pin, now) if differs]
            said[tool] = f"its {' and its '.join(parts)} changed"
    return said


def _parts(pin: Pin, now: Pin) -> list[tuple[str, bool]]:
    return [("description", pin.description != now.description), ("schema", pin.schema_ != now.schema_)]


def unacceptable(pin: Pin) -> str | None:
    """Why nobody should accept a tool's description, whatever it is for."""
    if _UNSEEN.search(pin.description) or _UNSEEN.search(json.dumps(pin.schema_, ensure_ascii=False)):
        return "its description holds characters that nobody can see"
    if len(pin.description) + len(json.dumps(pin.schema_)) > LARGEST_PIN:
        return f"its description is longer than {LARGEST_PIN:,} characters"
    if pin.schema_.get("type") != "object" or not isinstance(pin.schema_.get("properties", {}), dict):
        return "its arguments are not a mapping of names to values"
    return None


def require_sdk() -> None:
    if find_spec("mcp") is None:
        raise ConfigError("tools of MCP servers need a package that is not installed", fix="pip install deskhand[mcp]")


# --- over the wire


async def _transport(spec: McpServerSpec, stack: AsyncExitStack) -> Any:
    if spec.url is None:
        from mcp import StdioServerParameters, stdio_client

        missing = [name for name in spec.env if name not in os.environ]
        if missing:
            raise ConfigError(f"MCP server {spec.name!r}: the environment has no {missing[0]}", fix="set it")
        program = StdioServerParameters(
            command=spec.command[0],
            args=list(spec.command[1:]),
            env={name: os.environ[name] for name in spec.env},
            cwd=spec.folder,
        )
        return stdio_client(program, errlog=_nowhere(stack))
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {} if (key := _key(spec)) is None else {"Authorization": f"Bearer {key}"}
    limits = httpx2.Timeout(spec.timeout, read=600)
    client = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False))
    return streamable_http_client(spec.url, http_client=client)


def _nowhere(stack: AsyncExitStack) -> TextIO:
    """For what a program says beside the protocol: it may be a customer's."""
    return stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123


def _key(spec: McpServerSpec) -> str | None:
    if spec.key_env is not None:
        if not (key := os.environ.get(spec.key_env)):
            raise ConfigError(f"MCP server {spec.name!r}: the environment has no {spec.key_env}", fix="set it")
        return key
    if spec.key_file is None:
        return None
    try:
        return spec.key_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=spec.key_file, fix="write the key there") from None


async def _listed(client: "Client") -> dict[str, Pin]:
    found: dict[str, Pin] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            found[tool.name] = Pin.model_validate({"description": tool.description or "", "schema": tool.input_schema})
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _result(result: Any) -> dict[str, Any]:
    """Structured data where there is some of moderate size, else the text; ToolError where the tool says it failed."""
    text = _text(result.content)
    if result.is_error:
        raise ToolError("tool_failed", _line(text) or "the tool failed without saying why")
    data = result.structured_content
    if data is not None and len(json.dumps(data).encode()) <= LARGEST_DATA:
        return cast(dict[str, Any], data) if isinstance(data, dict) else {"result": data}
    return {"text": text}


def _text(blocks: Iterable[Any]) -> str:
    told: list[str] = []
    for block in blocks:
        kind = getattr(block, "type", "")
        told.append(block.text if kind == "text" else f"[{kind or 'something'} left out]")
    text = _UNSEEN.sub("", "\n".join(told))
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n[cut off after {LONGEST_TEXT:,} characters]"


def _line(text: str) -> str:
    return " ".join(_UNSEEN.sub("", text).split())[:500]


def _first(error: BaseException) -> BaseException:
    """The cause inside the groups that the SDK's task groups raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
