"""A desk's MCP servers, and which of them has the tool that is called."""

from typing import Any

from deskhand.adapters.mcp.server import McpServer
from deskhand.config.sections.mcp import McpSpec, McpToolSpec


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
            return await server.call(
                tool.tool, arguments, tool.timeout
            )  # from a server that was started again

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()
