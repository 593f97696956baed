"""Servers of the Model Context Protocol, over the official SDK.

The SDK takes seconds to import and comes with the extra `deskhand[mcp]`: nothing here imports it
before it is used.
"""

from deskhand.adapters.mcp.pins import LARGEST_PIN, changes, unacceptable
from deskhand.adapters.mcp.server import McpServer
from deskhand.adapters.mcp.servers import McpServers
from deskhand.adapters.mcp.tool_answers import LARGEST_DATA, LONGEST_TEXT
from deskhand.adapters.mcp.transport import require_sdk

__all__ = [
    "LARGEST_DATA",
    "LARGEST_PIN",
    "LONGEST_TEXT",
    "McpServer",
    "McpServers",
    "changes",
    "require_sdk",
    "unacceptable",
]
