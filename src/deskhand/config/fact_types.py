"""The facts a policy's conditions may name, and the type of each: what is not listed here does
not exist."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from deskhand.config.tool_shape import ToolShape
from deskhand.model.message import DELIVER
from deskhand.model.outcome import EffectClass, RiskLevel
from deskhand.model.principal import PrincipalKind
from deskhand.model.value_readings import READINGS

Kind = Literal[
    "text", "number", "integer", "boolean", "money", "sums", "date", "duration", "list", "any"
]

RESERVED = frozenset(
    {"tool", "effect", "risk", "intent", "category", "channel", "language", "money"}
    | {"principal", "customer", "message", "time", "totals", "origin", "read", "arguments"}
)
"""What no argument can pose as: one of these names is read as `arguments.NAME` alone."""
SCOPES = ("conversation", "principal", "day")
ORIGINS = ("principal", "operator", "message", "model")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_JSON_KINDS: dict[str, Kind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "list",
}
_FORMATS: dict[str, Kind] = {
    "money": "money",
    "date": "date",
    "date-time": "date",
    "duration": "duration",
}

REPLY_SHAPE = ToolShape(
    DELIVER,
    "keyed",
    "medium",
    {name: {"type": "string"} for name in ("to", "subject", "text", "language", "in_reply_to")},
    frozenset(("to", "subject", "text")),
    built_in=True,
)
"""The reply itself is a call as well."""


@dataclass(frozen=True, slots=True)
class FactType:
    """What a fact may be."""

    kind: Kind
    values: tuple[Any, ...] = ()
    """All it can be, when that is known; `result:N` may come on top for an origin."""
    always: bool = False
    """It is never missing."""
    least: float | None = None
    most: float | None = None


class FactTypes:
    """Every fact of calls of some tools; a rule for one tool sees that tool's arguments only."""

    def __init__(
        self,
        tools: Iterable[ToolShape],
        categories: Iterable[str] = (),
        message: Mapping[str, Kind] | None = None,
    ) -> None:
        """`message` are the facts that the desk's own code tells of every message."""
        self.tools = {shape.name: shape for shape in tools}
        self._categories = tuple(sorted(categories))
        self._message = message or {}
        self._facts: dict[tuple[str, ...], dict[str, FactType]] = {}

    def facts_for(self, tools: Iterable[str]) -> Mapping[str, FactType]:
        """The facts by name, for a rule that can match these tools. Where arguments of two tools
        share a name, the looser type counts."""
        names = tuple(tools)
        if names not in self._facts:
            self._facts[names] = self._facts_of(names)
        return self._facts[names]

    def _facts_of(self, tools: tuple[str, ...]) -> dict[str, FactType]:
        shapes = [self.tools[name] for name in tools if name in self.tools]
        facts = self._common([shape.name for shape in shapes])
        for argument in dict.fromkeys(name for shape in shapes for name in shape.arguments):
            kind = _looser([_argument_of(shape, argument) for shape in shapes])
            facts[f"arguments.{argument}"] = kind
            facts[f"origin.{argument}"] = FactType("text", ORIGINS)
            facts[f"read.{argument}"] = FactType("text", READINGS)
            if argument not in RESERVED:
                facts[argument] = kind
        return facts

    def find(self, name: str, tools: Iterable[str]) -> FactType | None:
        """The type of a fact; None when no such fact exists."""
        names = list(tools)
        facts = self.facts_for(names)
        if name in facts:
            return facts[name]
        bare = name.removeprefix("arguments.")
        for shape in (self.tools[tool] for tool in names if tool in self.tools):
            for argument, schema in shape.arguments.items():
                has_fields = _may_have(shape, argument, schema, bare)
                is_date = _argument(schema).kind == "date"
                if bare.startswith(f"{argument}.") and (
                    has_fields or (is_date and bare == f"{argument}.age")
                ):
                    return FactType("duration" if bare.endswith(".age") else "any")
        return None

    def fields_of(self, name: str, tools: Iterable[str]) -> frozenset[str] | None:
        """The fields of the object that a fact's name begins with; None where they are not
        known."""
        argument, _, rest = name.removeprefix("arguments.").partition(".")
        shapes = [self.tools[tool] for tool in tools if tool in self.tools]
        field_shapes = [shape.fields[argument] for shape in shapes if argument in shape.fields]
        if not rest or not field_shapes:
            return None
        return frozenset[str]().union(*field_shapes)

    def _common(self, tools: list[str]) -> dict[str, FactType]:
        facts: dict[str, FactType] = {
            "tool": FactType("text", tuple(tools), always=True),
            "effect": FactType("text", tuple(map(str, EffectClass)), always=True),
            "risk": FactType("text", tuple(map(str, RiskLevel)), always=True),
            "principal.kind": FactType("text", tuple(map(str, PrincipalKind)), always=True),
            "principal.customer_id": FactType("text"),
            "principal.address": FactType("text"),
            "principal.tier": FactType("text"),
            "customer.tier": FactType("text"),
            "principal.tags": FactType("list"),
            "customer.tags": FactType("list"),
            "intent": FactType("text"),
            "category": FactType("text", self._categories),
            "channel": FactType("text"),
            "language": FactType("text"),
            "money": FactType("money"),
            "time.hour": FactType("integer", always=True, least=0, most=23),
            "time.weekday": FactType("text", WEEKDAYS, always=True),
            "time.date": FactType("date", always=True),
            "time.now": FactType("date", always=True),
        }
        for name, kind in self._message.items():
            facts[f"message.{name}"] = FactType(
                kind, (True, False) if kind == "boolean" else (), always=True
            )
        for scope in SCOPES:
            for room in (f"totals.{scope}", *(f"totals.{scope}.{tool}" for tool in self.tools)):
                facts[f"{room}.calls"] = FactType("integer", least=0)
                facts[f"{room}.money"] = FactType("sums")
        return facts


def _may_have(shape: ToolShape, argument: str, schema: Mapping[str, Any], name: str) -> bool:
    """Whether an argument may have the field that stands after it in a fact's name."""
    if argument in shape.fields:
        return name.removeprefix(f"{argument}.").partition(".")[0] in shape.fields[argument]
    return argument in shape.objects or schema.get("type") in (None, "object")


def _argument_of(shape: ToolShape, argument: str) -> FactType | None:
    schema = shape.arguments.get(argument)
    return None if schema is None else _argument(schema, always=argument in shape.required)


def _looser(kinds: list[FactType | None]) -> FactType:
    """The type that a fact has for all tools together: `any` where they differ."""
    always = all(kind is not None and kind.always for kind in kinds)
    first, *others = [replace(kind, always=always) for kind in kinds if kind is not None]
    if any(kind != first for kind in others):
        return FactType("any", always=always)
    return first


def _argument(schema: Mapping[str, Any], *, always: bool = False) -> FactType:
    values = schema.get("enum")
    kind = _FORMATS.get(str(schema.get("format")), _JSON_KINDS.get(str(schema.get("type")), "any"))
    least, most = schema.get("minimum"), schema.get("maximum")
    if kind == "boolean":
        values = [True, False]
    return FactType(kind, tuple(values or ()), always, least, most)
