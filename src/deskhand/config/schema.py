"""The JSON Schema of desk.yaml, so that an editor completes, describes and checks it while it is
written."""

from typing import Any, cast

from deskhand.conditions import OPERATORS
from deskhand.config.sections.desk_file import DeskSection
from deskhand.config.sections.slots import OPTIONS

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_MEASURE: Schema = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9P]"}]}
_OTHER_FACT: Schema = {
    "type": "object",
    "properties": {"fact": {"type": "string", "minLength": 1}},
    "required": ["fact"],
    "additionalProperties": False,
    "description": "What another fact is.",
}
_OPERANDS: dict[str, Schema] = {
    "is": {"description": "Equal to this value, this list or this mapping."},
    "is_not": {"description": "There, and not equal to this."},
    "in": {"type": "array", "minItems": 1, "description": "Equal to one of these."},
    "not_in": {"type": "array", "minItems": 1, "description": "There, and equal to none of these."},
    "at_least": {
        **_MEASURE,
        "description": "This or more: a number, `50 EUR`, `30 days`, `2030-01-31`.",
    },
    "at_most": {
        **_MEASURE,
        "description": "This or less: a number, `50 EUR`, `30 days`, `2030-01-31`.",
    },
    "above": {
        **_MEASURE,
        "description": "More than this: a number, `50 EUR`, `30 days`, `2030-01-31`.",
    },
    "below": {
        **_MEASURE,
        "description": "Less than this: a number, `50 EUR`, `30 days`, `2030-01-31`.",
    },
    "contains": {
        **_SCALAR,
        "minLength": 1,
        "description": "A text with this piece, or a list with this item.",
    },
    "starts_with": {
        "type": "string",
        "minLength": 1,
        "description": "A text that begins like this.",
    },
    "exists": {"type": "boolean", "description": "Whether the fact is there at all."},
}
_ROUTE_FORMS: tuple[tuple[str, ...], ...] = (
    ("when", "to"),
    ("when", "outcome"),
    ("condition", "target"),
    ("condition", "outcome"),
)


def desk_schema() -> Schema:
    """Draft 2020-12; it checks what can be seen in the file alone, `load_desk` checks the rest."""
    schema = cast(Schema, tidy(DeskSection.model_json_schema(by_alias=True)))
    schema["$defs"]["RouteSection"] = _route(schema["$defs"]["RouteSection"])
    schema["$defs"]["SlotSection"] = _slot(schema["$defs"]["SlotSection"])
    schema["$defs"]["RuleSpec"]["properties"]["when"]["$ref"] = "#/$defs/Condition"
    schema["$defs"] |= condition_definitions()
    schema["required"] = ["desk"]
    schema["anyOf"] = [{"required": ["flows"]}, {"required": ["agent"]}]
    schema["properties"]["flows"]["minProperties"] = 1
    head = {"$schema": DRAFT, "title": "Deskhand desk.yaml"}
    return {**head, **schema}


def tidy(node: Any) -> Any:
    """The schema without what pydantic adds for Python: nulls that stand for `absent`, titles made
    from names, open mappings."""
    if isinstance(node, list):
        return [tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: tidy(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
    if "default" in kept and kept["default"] is None:
        del kept["default"]
    choices = [choice for choice in kept.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del kept["anyOf"]
        kept = {**choices[0], **kept}
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    return kept


def _route(route: Schema) -> Schema:
    """Both ways to write a route: `{when, to}` and the short `{condition, value, target}`."""
    properties: Schema = route["properties"]
    described = {"description": properties["when"]["description"]}
    properties["when"] = {"$ref": "#/$defs/Condition", **described}
    forms = []
    for first, second in _ROUTE_FORMS:
        other = ("condition", "value", "target") if first == "when" else ("when", "to")
        forms.append({"required": [first, second], "properties": dict.fromkeys(other, False)})
    return {**route, "anyOf": forms}


def _slot(slot: Schema) -> Schema:
    """Each type with its own options only."""
    every = {option for options in OPTIONS.values() for option in options}
    forms = []
    for kind, options in OPTIONS.items():
        form: Schema = {"properties": dict.fromkeys(sorted(every - set(options)), False)}
        if kind == "pattern":
            form["required"] = ["pattern"]
        if kind == "name":
            form["oneOf"] = [{"required": ["names"]}, {"required": ["file"]}]
        forms.append(
            {"if": {"properties": {"type": {"const": kind}}, "required": ["type"]}, "then": form}
        )
    return {**slot, "allOf": forms}


def condition_definitions() -> Schema:
    """The condition language, to be referred to as `#/$defs/Condition`."""
    return {"Condition": _condition(), "Comparison": _comparison()}


def _condition() -> Schema:
    these = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Condition"}}
    return {
        "type": "object",
        "description": "Holds when every line holds: a fact's name with a value or with operators.",
        "minProperties": 1,
        "properties": {
            "all": {**these, "description": "Every one of these holds."},
            "any": {**these, "description": "At least one of these holds."},
            "not": {"$ref": "#/$defs/Condition", "description": "This does not hold."},
        },
        "additionalProperties": {"$ref": "#/$defs/Comparison"},
    }


def _comparison() -> Schema:
    operators = {
        "type": "object",
        "minProperties": 1,
        "properties": {name: _operand(name) for name in OPERATORS},
        "additionalProperties": False,
    }
    return {
        "description": "A value the fact must equal, or operators.",
        "anyOf": [_SCALAR, operators],
    }


def _operand(name: str) -> Schema:
    """A value, or another fact to compare with."""
    operand = _OPERANDS[name]
    if name == "exists" or not operand.keys() & {"type", "anyOf"}:
        return operand
    value = {key: part for key, part in operand.items() if key != "description"}
    return {"description": operand["description"], "anyOf": [value, _OTHER_FACT]}
