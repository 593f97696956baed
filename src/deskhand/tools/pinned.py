"""A tool that another program brings: its schema as it was accepted, checked here before
anything is asked."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from deskhand.config.sections.mcp import PINS, McpToolSpec
from deskhand.model.outcome import EffectClass, RiskLevel
from deskhand.tools.authority import CustomerId
from deskhand.tools.context import Context
from deskhand.tools.declared import SourcePlace
from deskhand.tools.parameters import Injected
from deskhand.tools.registry import Tool, bring
from deskhand.tools.schema import Arguments, ArgumentsInvalid, Signature

Ask = Callable[[McpToolSpec, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Calls the tool where it is, with these arguments."""

MOST_PROBLEMS = 5
_HINTS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
}
_UNSAFE = frozenset(
    ("pattern", "patternProperties", "$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor")
)
"""Patterns of strangers could take forever, addresses lead elsewhere: the server checks these
itself."""


@dataclass(frozen=True, slots=True)
class PinnedSignature(Signature):
    """Arguments are checked against the JSON schema, as far as that is safe to do with a
    stranger's schema."""

    def check(self, arguments: Mapping[str, Any]) -> Arguments:
        from jsonschema import Draft202012Validator
        from referencing import Registry

        try:
            given = json.loads(json.dumps(dict(arguments), allow_nan=False))
        except (ValueError, TypeError, RecursionError) as error:
            problem = ("arguments", f"cannot be read as JSON: {error}")
            raise ArgumentsInvalid.of(self.tool, [problem], ": ") from None
        validator = Draft202012Validator(safe_schema(self.schema), registry=Registry())
        try:
            problems = [
                (_path(error.absolute_path), error.message[:200])
                for error in validator.iter_errors(given)
            ]
        except Exception as error:  # a schema that cannot be applied lets nothing pass
            problems = [("arguments", f"cannot be checked: {type(error).__name__}")]
        if problems:
            raise ArgumentsInvalid.of(self.tool, problems[:MOST_PROBLEMS], ": ")
        return Arguments(dict(given), given)


def pinned_tool(spec: McpToolSpec, ask: Ask) -> Tool:
    """Like any tool of the desk's: what the gate does not allow is never asked for."""

    async def call(**arguments: Any) -> dict[str, Any]:
        filled = {name: _plain(value) for name, value in arguments.items()}
        return await ask(spec, filled)

    schema = spec.schema_shown
    properties = schema["properties"]
    injected: dict[str, Injected] = {}
    if spec.key is not None:
        injected[spec.key] = Injected(Context, optional=False)
    if spec.customer is not None:
        injected[spec.customer] = Injected(CustomerId, optional=False)
    fields = {name: name for name in properties}
    hints = {name: _hint(value) for name, value in properties.items()}
    signature = PinnedSignature(
        tool=spec.name,
        schema=schema,
        injected=injected,
        fields=fields,
        model=BaseModel,
        hints=hints,
    )
    made = Tool(
        name=spec.name,
        description=spec.pin.description or f"{spec.tool} of {spec.server}",
        effect=EffectClass(spec.effect),
        risk=RiskLevel(spec.risk),
        timeout=spec.timeout,
        signature=signature,
        place=SourcePlace(PINS, 1),
        public=spec.public,
        outside=not spec.trusted,
    )
    return bring(made, call)


def safe_schema(schema: Any) -> Any:
    """Without patterns and without anything that leads outside the schema; a name that looks
    like one stays."""
    if isinstance(schema, list):
        return [safe_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _UNSAFE or (key == "$ref" and not str(value).startswith("#")):
            continue
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            kept[key] = {name: safe_schema(inner) for name, inner in value.items()}
        else:
            kept[key] = (
                value if key in ("enum", "const", "default", "examples") else safe_schema(value)
            )
    return kept


def _plain(value: Any) -> Any:
    if isinstance(value, Context):
        return value.effect_key
    return str(value) if isinstance(value, CustomerId) else value


def _hint(schema: Any) -> Any:
    """The type a parameter would have in Python, so that names that give authority are
    recognised."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "array":
        return list[_hint(schema.get("items"))]  # type: ignore[misc]
    kinds = kind if isinstance(kind, list) else [kind]
    return next((_HINTS[name] for name in kinds if name in _HINTS), str)


def _path(parts: Any) -> str:
    return ".".join(str(part) for part in parts) or "arguments"
