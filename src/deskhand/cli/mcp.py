"""`deskhand mcp`: which tools servers bring to a desk, and accepting them as they are described."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.failures import NO
from deskhand.cli.terminal import console, print_json, print_plain, printable, run_async, shortened

if TYPE_CHECKING:
    from deskhand.config.sections.mcp import McpSection, Pin
    from deskhand.errors import DeskhandError

app = typer.Typer(help="Tools that MCP servers bring: see and accept them.", no_args_is_help=True)

ACCEPTED, CHANGED, NEW, GONE, UNLISTED = "accepted", "changed", "not accepted", "gone", "not listed"
_WRONG = (CHANGED, NEW, GONE)


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as desk.yaml, the accepted description and the server together show it."""

    qualified: str
    state: str
    why: str = ""
    pin: "Pin | None" = None
    """As the server describes it now."""


@app.command("list")
def list_(desk: options.Desk, as_json: options.Json = False) -> None:
    """Ask every server for its tools and say which are offered; exit 1 when a listed one is
    missing or changed."""
    section, folder = _section(desk)
    seen, away = run_async(_seen(section, folder))
    if as_json:
        tools = [
            {"tool": tool.qualified, "state": tool.state, "why": tool.why or None} for tool in seen
        ]
        print_json({"tools": tools, "unreachable": away})
    else:
        for tool in seen:
            print_plain(
                f"{tool.state:<13} {tool.qualified}{_setting(section, tool.qualified)}{_why(tool)}"
            )
        for name, why in away.items():
            print_plain(f"unreachable   {name}: {printable(why)}")
    if away or any(tool.state in _WRONG for tool in seen):
        raise typer.Exit(NO)


@app.command()
def accept(
    desk: options.Desk,
    tool: Annotated[
        list[str] | None, typer.Option("--tool", help="Only this one, as `server.tool`.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: options.Json = False,
) -> None:
    """Show how listed tools are described now and, if you agree, hold their servers to it from
    now on."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import pin_objection

    section, folder = _section(desk)
    if as_json and not yes:
        raise ConfigError("with --json nobody can be asked", fix="add --yes")
    seen, away = run_async(_seen(section, folder))
    wanted = [
        listed
        for listed in seen
        if listed.state in (CHANGED, NEW) and (not tool or listed.qualified in tool)
    ]
    refused = {
        listed.qualified: why
        for listed in wanted
        if listed.pin is not None and (why := pin_objection(listed.pin))
    }
    acceptable = [listed for listed in wanted if listed.qualified not in refused]
    taken = _agreed_pins(acceptable, show=not as_json, ask=not yes)
    path = _write_accepted(section, folder, taken)
    if as_json:
        print_json(
            {
                "accepted": sorted(taken),
                "refused": refused,
                "unreachable": away,
                "file": path and str(path),
            }
        )
    else:
        for name, why in {**refused, **away}.items():
            print_plain(f"not accepted  {name}: {printable(why)}")
        print_plain(f"{len(taken)} accepted{f', written to {path}' if path else ''}")
    if refused or away or len(taken) < len(wanted):
        raise typer.Exit(NO)


def _agreed_pins(acceptable: Sequence[ListedTool], *, show: bool, ask: bool) -> "dict[str, Pin]":
    """The descriptions that the person at the terminal accepts, by tool."""
    agreed: dict[str, Pin] = {}
    for listed in acceptable:
        if listed.pin is None:
            continue
        if show:
            _show(listed)
        if not ask or typer.confirm(f"accept {listed.qualified}?", default=False, err=True):
            agreed[listed.qualified] = listed.pin
    return agreed


def _write_accepted(section: "McpSection", folder: Path, taken: "dict[str, Pin]") -> Path | None:
    """Write accepted descriptions beside those that still apply; None where none is new."""
    from deskhand.config.sections.mcp import read_pins, write_pins

    if not taken:
        return None
    kept = {name: pin for name, pin in read_pins(folder).items() if name in section.tools}
    return write_pins(folder, {**kept, **taken})


def _section(desk: str) -> "tuple[McpSection, Path]":
    """What desk.yaml says of servers; the rest of the desk may be waiting for exactly this."""
    from deskhand.config.parse import parse_desk
    from deskhand.config.yaml import read_yaml
    from deskhand.errors import ConfigError, ConfigErrors
    from deskhand.wiring import find_desk

    folder = find_desk(desk)
    parsed = parse_desk(read_yaml(folder / "desk.yaml"))
    if parsed.read is None or any(place[:1] == ("mcp",) for place in parsed.damaged):
        raise ConfigErrors(parsed.problems)
    section = parsed.read.mcp
    if not section.servers:
        raise ConfigError(
            "the desk names no MCP server",
            file=folder / "desk.yaml",
            fix="add `mcp: {servers: ...}`",
        )
    for name, server in section.servers.items():
        if (server.command is None) == (server.url is None):
            fix = "write `command: [PROGRAM, ...]` or `url: https://...`"
            raise ConfigError(
                f"MCP server {name!r} needs one of the two", file=folder / "desk.yaml", fix=fix
            )
    return section, folder


async def _seen(section: "McpSection", folder: Path) -> tuple[list[ListedTool], dict[str, str]]:
    from deskhand.config.sections.mcp import read_pins, server_specs
    from deskhand.wiring import described

    pins = read_pins(folder)
    answers = await described(server_specs(section, folder))
    away = {name: _words(said) for name, said in answers.items() if not isinstance(said, dict)}
    now = {
        f"{server}.{tool}": pin
        for server, said in answers.items()
        if isinstance(said, dict)
        for tool, pin in said.items()
    }
    listed = [
        _state(name, pins.get(name), now.get(name))
        for name in section.tools
        if name.split(".")[0] not in away
    ]
    others = [
        ListedTool(name, UNLISTED, pin=pin)
        for name, pin in now.items()
        if name not in section.tools
    ]
    return [*listed, *others], away


def _state(qualified: str, pin: "Pin | None", now: "Pin | None") -> ListedTool:
    from deskhand.wiring import pin_changes

    if now is None:
        return ListedTool(qualified, GONE, "the server has no such tool")
    if pin is None:
        return ListedTool(qualified, NEW, pin=now)
    why = pin_changes({qualified: pin}, {qualified: now}).get(qualified)
    return ListedTool(qualified, ACCEPTED if why is None else CHANGED, why or "", now)


def _words(error: "DeskhandError") -> str:
    return str(error).partition("\n")[0]


def _setting(section: "McpSection", qualified: str) -> str:
    from deskhand.config.sections.mcp import desk_name_of, effect_of

    tool = section.tools.get(qualified)
    return (
        ""
        if tool is None
        else f" as {desk_name_of(qualified, tool)} ({effect_of(tool)}, {tool.risk} risk)"
    )


def _why(tool: ListedTool) -> str:
    return f": {tool.why}" if tool.why else ""


def _show(tool: ListedTool) -> None:
    assert tool.pin is not None
    properties: dict[str, Any] = tool.pin.schema_.get("properties") or {}
    to = console()
    to.print(f"\n{tool.qualified} ({tool.state}{_why(tool)})", highlight=False, markup=False)
    to.print(
        printable(tool.pin.description) or "(no description)",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for name, schema in properties.items():
        needed = "" if name in (tool.pin.schema_.get("required") or ()) else " (optional)"
        description = (
            shortened(str(schema.get("description") or ""), 200) if isinstance(schema, dict) else ""
        )
        kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
        to.print(
            printable(f"  {name}: {kind}{needed}  {description}"),
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
