"""`mcp` of desk.yaml: servers that bring tools, what each tool may change, and what was accepted
of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from deskhand.config.sections.section import DeskFile, Section
from deskhand.config.tool_shape import ToolShape
from deskhand.errors import ConfigError
from deskhand.model.frozen import Frozen
from deskhand.model.run import canonical_hash

PINS = "mcp.lock.json"
"""The file beside desk.yaml with what was accepted."""

ServerName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=40)]
QualifiedName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*\.\S+$", max_length=200)]
ToolName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Parameter = Annotated[str, Field(min_length=1, max_length=100)]


class McpServerSection(Section):
    """A server: a program on this machine (`command`) or an address (`url`)."""

    command: list[Annotated[str, Field(min_length=1)]] | None = Field(default=None, min_length=1)
    """The program and its arguments, started in the desk's folder: `[python, -m, warehouse]`."""
    env: list[Variable] = Field(default_factory=list[Variable])
    """Environment variables that the program is given, by name; no others but the usual harmless
    ones."""
    url: str | None = Field(default=None, pattern=r"^https?://[^\s/@?#]+(/\S*)?$")
    """Where the server answers (streamable HTTP): `https://crm.example/mcp`."""
    key_env: Variable | None = None
    """The environment variable that holds the key for `url`, sent as a bearer token."""
    key_file: DeskFile | None = None
    """The file that holds that key, relative to the desk's folder."""
    timeout: float = Field(default=30, gt=0, le=600)
    """Seconds within which the server must have started."""


class McpToolSection(Section):
    """A tool of a server that agents and plans may be offered."""

    effect: Literal["read", "reversible", "keyed", "irreversible"]
    """What a call may change, as for a tool of the desk's own."""
    as_: ToolName | None = Field(default=None, alias="as")
    """The name it has on this desk; `SERVER_TOOL` if absent."""
    risk: Literal["low", "medium", "high", "critical"] = "low"
    """How bad a wrong call is."""
    key: Parameter | None = None
    """The parameter for the idempotency key, filled by the desk; `keyed` without one counts as
    `irreversible`."""
    customer: Parameter | None = None
    """The parameter that takes the customer's id; filled by the desk, and without a known
    customer no call is made."""
    timeout: float = Field(default=30, gt=0, le=600)
    """Seconds a call may take."""
    trusted: bool = False
    """Whether what it returns may stand behind what a reply promises: only for a server of the
    company's own."""
    public: bool = False
    """Whether it may act for a sender nobody vouched for."""


class McpSection(Section):
    """Servers of the Model Context Protocol as a source of tools; needs the extra
    `deskhand[mcp]`."""

    servers: dict[ServerName, McpServerSection] = Field(default_factory=dict)
    """The servers by name."""
    tools: dict[QualifiedName, McpToolSection] = Field(default_factory=dict)
    """The tools that are offered, as `warehouse.find_stock: {effect: read}`; what is not listed
    is not offered."""


class Pin(Frozen):
    """A tool as it was when an operator accepted it: all that a model is ever told of it."""

    description: str
    schema_: dict[str, Any] = Field(alias="schema")

    @property
    def digest(self) -> str:
        return canonical_hash({"description": self.description, "schema": self.schema_})


class McpServerSpec(Frozen):
    name: str
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str | None = None
    key_env: str | None = None
    key_file: Path | None = None
    timeout: float = 30.0
    folder: Path = Path()


class McpToolSpec(Frozen):
    server: str
    tool: str
    """Its name on the server."""
    name: str
    effect: str
    risk: str
    key: str | None
    customer: str | None
    timeout: float
    trusted: bool
    public: bool
    pin: Pin

    @property
    def schema_shown(self) -> dict[str, Any]:
        """The arguments a model may write: without what the desk fills in itself, and no others."""
        return shown_schema(self.pin.schema_, {self.key, self.customer})


class McpSpec(Frozen):
    servers: dict[str, McpServerSpec] = Field(default_factory=dict)
    tools: tuple[McpToolSpec, ...] = ()


def desk_name_of(qualified: str, section: McpToolSection) -> str:
    return section.as_ or qualified.replace(".", "_")


def effect_of(section: McpToolSection) -> str:
    """The effect of a tool. Without a parameter for the key nobody can ask the server to do it
    once, so a `keyed` one cannot be taken back."""
    return "irreversible" if section.effect == "keyed" and section.key is None else section.effect


def shown_schema(schema: Mapping[str, Any], hidden: set[str | None]) -> dict[str, Any]:
    properties = {
        name: value
        for name, value in (schema.get("properties") or {}).items()
        if name not in hidden
    }
    required = [name for name in schema.get("required") or () if name not in hidden]
    rest = {key: value for key, value in schema.items() if key in ("$defs", "definitions")}
    return {
        **rest,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def read_pins(folder: Path) -> dict[str, Pin]:
    """What was accepted so far, by qualified name."""
    path = folder / PINS
    try:
        data = json.loads(path.read_bytes())
        return {str(name): Pin.model_validate(pin) for name, pin in data.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise ConfigError(
            f"cannot be read: {first}", file=path, fix="remove it and accept the tools anew"
        ) from None


def accepted(folder: Path) -> dict[str, Pin]:
    """As `read_pins`, but empty where the file is damaged: a rule says so."""
    try:
        return read_pins(folder)
    except ConfigError:
        return {}


def write_pins(folder: Path, pins: Mapping[str, Pin]) -> Path:
    path = folder / PINS
    data = {name: pin.model_dump(mode="json", by_alias=True) for name, pin in sorted(pins.items())}
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def mcp_spec(section: McpSection, folder: Path) -> McpSpec:
    """From a section that was checked."""
    pins = read_pins(folder) if section.tools else {}
    tools = [
        McpToolSpec(
            server=qualified.partition(".")[0],
            tool=qualified.partition(".")[2],
            name=desk_name_of(qualified, tool),
            effect=effect_of(tool),
            pin=pins[qualified],
            **tool.model_dump(exclude={"as_", "effect"}),
        )
        for qualified, tool in section.tools.items()
    ]
    return McpSpec(servers=server_specs(section, folder), tools=tuple(tools))


def server_specs(section: McpSection, folder: Path) -> dict[str, McpServerSpec]:
    return {
        name: McpServerSpec(
            name=name,
            folder=folder,
            **server.beside(folder).model_dump(exclude_none=True),
        )
        for name, server in section.servers.items()
    }


def mcp_shapes(section: McpSection, pins: Mapping[str, Pin]) -> dict[str, ToolShape]:
    """What the rest of the configuration knows of the tools that were accepted."""
    shapes: dict[str, ToolShape] = {}
    for qualified, tool in section.tools.items():
        pin = pins.get(qualified)
        schema = shown_schema(pin.schema_, {tool.key, tool.customer}) if pin is not None else {}
        name = desk_name_of(qualified, tool)
        shapes[name] = ToolShape(
            name,
            effect_of(tool),
            tool.risk,
            schema.get("properties", {}),
            frozenset(schema.get("required", ())),
        )
    return shapes
