"""What makes `mcp` wrong: servers without an address, tools of nobody, and tools that nobody has
accepted."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.mcp import (
    PINS,
    McpServerSection,
    McpToolSection,
    Pin,
    desk_name_of,
    read_pins,
)
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.errors import ConfigError


def mcp_findings(draft: DeskDraft) -> ConfigFindings:
    """Servers without an address, tools of no server, tools that nobody has accepted."""
    section = draft.desk.mcp
    for name, server in section.servers.items():
        yield from _server(name, server)
    try:
        pins = read_pins(draft.folder) if section.tools else {}
    except ConfigError as error:
        yield ConfigFinding(
            ("mcp", "tools"), f"{PINS}: {error.problem}", error.fix or "accept the tools anew"
        )
        return
    taken: dict[str, str] = {}
    for qualified, tool in section.tools.items():
        yield from _tool(draft, qualified, tool, pins.get(qualified))
        name = desk_name_of(qualified, tool)
        if (other := taken.setdefault(name, qualified)) != qualified or name in draft.own_tools:
            whose = f"`{other}`" if other != qualified else "another tool of the desk"
            yield ConfigFinding(
                ("mcp", "tools", qualified),
                f"{whose} is called `{name}` as well",
                "name it with `as:`",
            )


def _server(name: str, server: McpServerSection) -> ConfigFindings:
    place: YamlPlace = ("mcp", "servers", name)
    if (server.command is None) == (server.url is None):
        problem = f"server `{name}` needs either a `command` or a `url`"
        yield ConfigFinding(
            place,
            problem,
            "write `command: [PROGRAM, ...]` or `url: https://...`",
            echo_of=place,
        )
    elif server.url is None and (server.key_env or server.key_file):
        yield ConfigFinding(
            place,
            f"server `{name}` has a key but no `url`",
            "pass the variable on with `env: [NAME]`",
        )
    elif server.url is not None and server.env:
        yield ConfigFinding((*place, "env"), "`env` has no effect beside `url`", "remove it")
    if server.key_env is not None and server.key_file is not None:
        yield ConfigFinding(
            (*place, "key_file"), f"server `{name}` has two keys", "keep one of the two"
        )


def _tool(
    draft: DeskDraft, qualified: str, tool: McpToolSection, pin: Pin | None
) -> ConfigFindings:
    place: YamlPlace = ("mcp", "tools", qualified)
    server = qualified.partition(".")[0]
    servers = draft.names_at("mcp", "servers")
    if server not in servers:
        fix = did_you_mean(server, servers, otherwise="add it under `servers`")
        yield ConfigFinding(
            place, f"there is no server `{server}`", fix, echo_of=("mcp", "servers")
        )
        return
    if pin is None:
        problem = f"nobody has accepted `{qualified}` as the server describes it"
        yield ConfigFinding(place, problem, f"deskhand mcp accept {draft.folder}", echo_of=place)
        return
    parameters = list(pin.schema_.get("properties") or {})
    for field, name in (("key", tool.key), ("customer", tool.customer)):
        if name is not None and name not in parameters:
            fix = did_you_mean(name, parameters, otherwise="it takes no arguments")
            yield ConfigFinding((*place, field), f"`{qualified}` has no parameter `{name}`", fix)
    if tool.key is not None and tool.effect not in ("keyed", "irreversible"):
        yield ConfigFinding(
            (*place, "key"),
            "a key is for something done once",
            "write `effect: keyed`, or remove it",
        )
