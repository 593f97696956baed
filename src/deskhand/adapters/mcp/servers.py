"""A desk's MCP servers, and which of them has the tool that is called."""

from typing import Any

from deskhand.adapters.mcp.server import McpServer
from deskhand.config.sections.mcp import McpSpec, McpToolSpec


class McpServers:
    """All servers of a desk."""

    def __init__(self, spec: McpSpec) -> None:
        self._servers: dict[str, McpServer] = {}
        for name, server in spec.servers.items():
            pins = {tool.tool: tool.pin for tool in spec.tools if tool.server == name}
            self._servers[name] = McpServer(server, pins)

    async def ask(self, tool: McpToolSpec, arguments: dict[str, Any]) -> dict[str, Any]:
        server, reads = self._servers[tool.server], tool.effect == "read"
        try:
            return await server.call(tool.tool, arguments, tool.timeout, anew=not reads)
        except ConnectionError:
            if not reads:
                raise
            # ask the server that was started again
            return await server.call(tool.tool, arguments, tool.timeout)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()
