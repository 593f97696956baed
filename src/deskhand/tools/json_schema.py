"""JSON schemas as every model endpoint takes them: no references, no titles, optional without
`null`."""

from collections.abc import Mapping
from typing import Any, cast

_NOISE = ("title", "$defs", "additionalProperties", "discriminator")
_SCHEMAS = ("items", "not", "additionalProperties")
"""Keys that hold a schema."""
_SCHEMAS_BY_NAME = ("properties",)
"""Keys that hold schemas by name."""
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
"""Keys that hold several schemas."""


_ONLY_CHECKED = (
    "default",
    "examples",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
)
"""Keys that some endpoint refuses, or cannot be held to; the gate checks them in any case."""
_TOLD = ("format", "pattern", "default")
"""Those that a model should know of: they are said in the description."""


_SCALAR = str | int | float | bool


def closed_schema(schema: Any) -> Any:
    """The schema as it goes to a model: objects take no other fields, and nothing is in it that
    some endpoint refuses."""
    if isinstance(schema, list):
        return [closed_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    shown = {key: value for key, value in schema.items() if key not in _ONLY_CHECKED}
    closed = {key: _closed_value(key, value) for key, value in shown.items()}
    limits = [f"{key}: {schema[key]}" for key in _TOLD if isinstance(schema.get(key), _SCALAR)]
    if limits:
        closed["description"] = f"{closed.get('description', '')} ({', '.join(limits)})".strip()
    if "properties" in closed and not closed.get("additionalProperties"):
        closed["additionalProperties"] = False
    return closed


def _closed_value(key: str, value: Any) -> Any:
    if key in (*_SCHEMAS_BY_NAME, "$defs"):
        return {name: closed_schema(each) for name, each in value.items()}
    if key in (*_SCHEMAS, *_LISTS_OF_SCHEMAS):
        return closed_schema(value)
    return value


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`{"type": "object", "properties": ..., "required": [...]}`, with definitions written out
    where they are used."""
    definitions = cast(dict[str, Any], schema.get("$defs", {}))
    plain = _plain(schema, definitions, ())
    plain.setdefault("properties", {})
    plain.setdefault("required", [])
    if recursive := _references(plain):
        plain["$defs"] = {}
        while recursive:
            name = recursive.pop()
            plain["$defs"][name] = _plain(definitions[name], definitions, (name,))
            recursive |= _references(plain["$defs"][name]) - plain["$defs"].keys()
    order = ("type", "properties", "required")
    rest = [key for key in plain if key not in (*order, "description")]
    return {key: plain[key] for key in (*order, *rest)}


def _plain(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]
) -> dict[str, Any]:
    schema = _without_null(schema)
    if isinstance(schema.get("$ref"), str):
        return _written_out(schema, definitions, inside)
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "const":
            plain["enum"] = [value]
        elif key in _SCHEMAS_BY_NAME:
            plain[key] = {name: _plain(each, definitions, inside) for name, each in value.items()}
        elif key in _LISTS_OF_SCHEMAS:
            plain[key] = [_plain(each, definitions, inside) for each in value]
        elif key in _SCHEMAS and isinstance(value, dict):
            plain[key] = _plain(value, definitions, inside)
        elif key not in _NOISE:
            plain[key] = value
    return plain


def _written_out(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]
) -> dict[str, Any]:
    """What a reference stands for; the reference itself where it leads back into its own."""
    name = str(schema["$ref"]).rpartition("/")[2]
    if name in inside:
        return dict(schema)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return _plain({**definitions[name], **beside}, definitions, (*inside, name))


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter that may be left out need not say that it may also be null."""
    kinds = schema.get("anyOf")
    if not isinstance(kinds, list) or "default" not in schema or schema["default"] is not None:
        return dict(schema)
    real = [kind for kind in cast(list[dict[str, Any]], kinds) if kind != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**real[0], **rest} if len(real) == 1 else {**rest, "anyOf": real}


def _references(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        own = (
            {schema["$ref"].rpartition("/")[2]}
            if isinstance(schema.get("$ref"), str)
            else set[str]()
        )
        return own.union(*(_references(value) for value in schema.values()))
    if isinstance(schema, list):
        return set[str]().union(*(_references(value) for value in schema))
    return set()
