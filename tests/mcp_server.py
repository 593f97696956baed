"""A warehouse's MCP server, written with the official SDK; what it does and how it is described
lies in a folder.

Run it as `python mcp_server.py FOLDER` (stdio) or `python mcp_server.py FOLDER PORT` (streamable
HTTP).
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

folder = Path(sys.argv[1])
server = MCPServer("warehouse")


def note(line: str) -> None:
    with (folder / "calls.txt").open("a") as file:
        file.write(line + "\n")


def described() -> str:
    file = folder / "description.txt"
    return file.read_text() if file.exists() else "How many of an article are in stock."


@server.tool(description=described())
def find_stock(article: str) -> dict[str, Any]:
    note(f"find_stock {article}")
    return {"article": article, "count": 7}


@server.tool()
def book(article: str, count: int, request_key: str) -> dict[str, Any]:
    """Book an article out of stock."""
    if not (folder / f"{request_key}.key").exists():
        note(f"book {article} {count} {request_key}")
        (folder / f"{request_key}.key").touch()
    if (folder / "die").exists():
        (folder / "die").unlink()
        os._exit(1)
    return {"booked": count}


@server.tool()
def orders_of(customer: str) -> list[str]:
    """The orders of a customer."""
    return [f"order of {customer}"]


@server.tool()
async def slow() -> str:
    """Take a long time."""
    await asyncio.sleep(600)
    return "done"


@server.tool()
def large() -> str:
    """Say very much."""
    return "x" * 500_000


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the shelf is locked")


@server.tool()
def hidden(environment: str) -> str:
    """Tell about the environment."""
    return os.environ.get(environment, "nothing")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run()
