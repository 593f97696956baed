"""One MCP server: started when first needed, started anew when gone."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deskhand.adapters.mcp.pins import changes
from deskhand.adapters.mcp.tool_answers import one_line, result_of
from deskhand.adapters.mcp.transport import listed, transport_to
from deskhand.config.sections.mcp import McpServerSpec, Pin
from deskhand.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger("deskhand.mcp")

REST = 1.0
"""Seconds between two attempts to start a server that is gone."""
VERIFY_EVERY = 300.0
"""Seconds after which a server's tools are compared again with what was accepted."""


class McpServer:
    """One server. Its connection lives in a task that ends with it."""

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

    async def call(
        self, tool: str, arguments: dict[str, Any], timeout: float, *, anew: bool = False
    ) -> dict[str, Any]:
        """What the tool gives. ConnectionError and TimeoutError leave it open whether it did its
        work.

        `anew`: see first that the server is there and its tools are what they were.
        """
        client = await self._ready(anew)
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        if (why := self._changed.get(tool)) is not None:
            words = (
                f"{tool} of {self._spec.name} is not what was accepted ({why}); an operator has to"
                " look at it"
            )
            raise ToolError("tool_changed", words, recoverable=False)
        try:
            result = await client.session.call_tool(tool, arguments, read_timeout_seconds=timeout)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise TimeoutError(
                    f"{self._spec.name} did not answer within {timeout:g} s"
                ) from None
            if error.code == CONNECTION_CLOSED:
                self._lose(client)
                raise ConnectionError(f"{self._spec.name} went away during the call") from None
            raise ToolError(
                "server_refused", f"{self._spec.name} refused the call: {one_line(str(error))}"
            ) from None
        except (OSError, EOFError, RuntimeError) as error:  # the stream broke under the call
            self._lose(client)
            raise ConnectionError(f"{self._spec.name} went away during the call") from error
        return result_of(result)

    async def describe(self) -> dict[str, Pin]:
        """All tools as the server describes them now."""
        client = await self._ready()
        return await listed(client)

    async def close(self) -> None:
        self._stop.set()
        task, self._task, self._client = self._task, None, None
        left = {*self._ending, *([task] if task is not None else [])}
        if left:
            _, late = await asyncio.wait(left, timeout=10)
            for task_left in late:
                task_left.cancel()
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
        task = self._task = asyncio.create_task(
            self._keep(ready, self._stop), name=f"mcp {self._spec.name}"
        )
        try:
            first = asyncio.FIRST_COMPLETED
            done, _ = await asyncio.wait(
                {ready, task}, timeout=self._spec.timeout, return_when=first
            )
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
            cause = _first(error)
            log.warning("MCP server %s cannot be reached: %r", self._spec.name, cause)
            why = one_line(str(cause) or type(error).__name__)
            raise ToolError(
                "server_unavailable", f"the server {self._spec.name} cannot be reached: {why}"
            ) from error
        except BaseException:  # whoever waited for it has given up
            self._lose(None)
            raise
        self._client = client

    async def _keep(self, ready: "asyncio.Future[Client]", stop: asyncio.Event) -> None:
        """Holds the connection: the SDK wants it closed by the task that opened it."""
        from mcp import Client

        async with AsyncExitStack() as stack:
            transport = await transport_to(self._spec, stack)
            client = await stack.enter_async_context(
                Client(
                    transport,
                    message_handler=self._hear,
                    read_timeout_seconds=self._spec.timeout,
                    cache=None,
                )
            )
            if not ready.done():
                ready.set_result(client)
            await stop.wait()

    async def _hear(self, message: Any) -> None:
        """A server may say that its tools have changed; whatever else it says is not for us."""
        if type(message).__name__ == "ToolListChangedNotification":
            self._stale = True

    async def _verify(self, client: "Client") -> None:
        current = await listed(client)
        self._stale, self._verified = False, asyncio.get_running_loop().time()
        self._changed = changes(self._pins, current)
        for tool, why in self._changed.items():
            log.error(
                "tool %s of MCP server %s: %s since it was accepted", tool, self._spec.name, why
            )

    def _lose(self, client: "Client | None") -> None:
        """Forget this connection, unless another has replaced it; its task closes the rest."""
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


def _first(error: BaseException) -> BaseException:
    """The cause inside the groups that the SDK's task groups raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
