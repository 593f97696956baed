"""Reaching a server: a program that is started, or an address; and asking it for its tools."""

import os
import shutil
import sys
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TextIO

from deskhand.config.sections.mcp import McpServerSpec, Pin
from deskhand.errors import ConfigError

if TYPE_CHECKING:
    from mcp import Client

MOST_PAGES = 50
_WITH_THESE_VARIABLES = """
import os, sys
names = sys.argv[1].split(",")
kept = {name: os.environ[name] for name in names if name in os.environ}
try:
    os.execvpe(sys.argv[2], sys.argv[2:], kept)
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
"""
"""The SDK adds variables of its own choice (HOME, PATH, USER ...) to those that it is given. This
starts the program with the desk's alone."""


def require_sdk() -> None:
    if find_spec("mcp") is None:
        raise ConfigError(
            "tools of MCP servers need a package that is not installed",
            fix="pip install deskhand[mcp]",
        )


async def transport_to(spec: McpServerSpec, stack: AsyncExitStack) -> Any:
    if spec.url is None:
        from mcp import StdioServerParameters, stdio_client

        missing = [name for name in spec.env if name not in os.environ]
        if missing:
            raise ConfigError(
                f"MCP server {spec.name!r}: the environment has no {missing[0]}", fix="set it"
            )
        names = ",".join(spec.env)
        command = [_program_of(spec), *spec.command[1:]]
        program = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-c", _WITH_THESE_VARIABLES, names, *command],
            env={name: os.environ[name] for name in spec.env},
            cwd=spec.folder,
        )
        return stdio_client(program, errlog=_nowhere(stack))
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {} if (key := _key(spec)) is None else {"Authorization": f"Bearer {key}"}
    limits = httpx2.Timeout(spec.timeout, read=600)
    client = await stack.enter_async_context(
        httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False)
    )
    return streamable_http_client(spec.url, http_client=client)


def _program_of(spec: McpServerSpec) -> str:
    """The program of a server, found by our PATH: it gets none of its own."""
    written = spec.command[0]
    if "/" in written:
        return written  # relative to the desk's folder, in which it is started
    program = shutil.which(written)
    if program is None:
        raise ConfigError(
            f"MCP server {spec.name!r}: there is no program {written!r}", fix="install it"
        )
    return program


def _nowhere(stack: AsyncExitStack) -> TextIO:
    """Takes what a program says beside the protocol, and keeps nothing: it may be a customer's."""
    return stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123


def _key(spec: McpServerSpec) -> str | None:
    if spec.key_env is not None:
        if not (key := os.environ.get(spec.key_env)):
            raise ConfigError(
                f"MCP server {spec.name!r}: the environment has no {spec.key_env}", fix="set it"
            )
        return key
    if spec.key_file is None:
        return None
    try:
        return spec.key_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", file=spec.key_file, fix="write the key there"
        ) from None


async def listed(client: "Client") -> dict[str, Pin]:
    tools: dict[str, Pin] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            tools[tool.name] = Pin.model_validate(
                {"description": tool.description or "", "schema": tool.input_schema}
            )
        cursor = page.next_cursor
        if not cursor:
            break
    return tools
