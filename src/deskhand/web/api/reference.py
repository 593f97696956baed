"""The pages for somebody who comes with a browser: `/` leads to the approvals, `/docs` describes
the API. Everything they load is ours, and they run no script."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from jinja2 import Template

HOME, DOCS, STYLE = "/", "/docs", "/docs/style.css"
OPEN_PAGES = frozenset({HOME, DOCS, STYLE})
"""They say the same on every installation, so they need no key."""

_HERE = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
_VERBS = ("get", "post", "put", "patch", "delete")

Schema = Mapping[str, Any]
router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """A parameter, or a field of a document."""

    name: str
    place: str
    """`path`, `query`, `header`, or nothing for a field."""
    kind: str
    required: bool
    words: str


@dataclass(frozen=True, slots=True)
class RouteEntry:
    """One route, as a caller needs it."""

    verb: str
    path: str
    words: str
    needs_key: bool
    parameters: list[FieldEntry]
    body: list[FieldEntry]
    answer: list[FieldEntry]

    @property
    def anchor(self) -> str:
        return f"{self.verb}{self.path}".replace("/", "-").replace("{", "").replace("}", "")


@router.get(HOME)
async def home(request: Request) -> Response:
    """To the console where there is one, else to the description of the API."""
    return RedirectResponse(request.app.state.home, 303)


@router.get(STYLE)
async def style() -> Response:
    sheet = (_HERE / "static" / "reference.css").read_text(encoding="utf-8")
    return Response(sheet, media_type="text/css")


@router.get(DOCS)
async def docs(request: Request) -> Response:
    """All routes, from the same document that /openapi.json returns."""
    document: Schema = request.app.openapi()
    page = _template().render(
        version=document["info"]["version"],
        groups=_groups(document),
        style=STYLE.removeprefix("/"),
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return templates.get_template("reference.html")


def _groups(document: Schema) -> dict[str, list[RouteEntry]]:
    """Routes by tag, in the order in which the API lists them."""
    groups: dict[str, list[RouteEntry]] = {}
    for path, verbs in document["paths"].items():
        for verb in _VERBS:
            if verb in verbs:
                entry = _entry(document, verb, path, verbs[verb])
                groups.setdefault((verbs[verb].get("tags") or ["other"])[0], []).append(entry)
    return groups


def _entry(document: Schema, verb: str, path: str, operation: Schema) -> RouteEntry:
    parameters = [
        FieldEntry(
            parameter["name"],
            parameter["in"],
            _kind(document, parameter["schema"]),
            bool(parameter.get("required")),
            parameter.get("description", ""),
        )
        for parameter in operation.get("parameters", ())
    ]
    body = _json_of(operation.get("requestBody", {}))
    good = [code for code in operation["responses"] if code.startswith("2")]
    answer = _json_of(operation["responses"][good[0]]) if good else {}
    return RouteEntry(
        verb.upper(),
        path,
        operation.get("description") or operation.get("summary", ""),
        bool(operation.get("security")),
        parameters,
        list(_fields(document, body)),
        list(_fields(document, answer)),
    )


def _json_of(part: Schema) -> Schema:
    schema: Schema = part.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _fields(document: Schema, schema: Schema) -> Iterator[FieldEntry]:
    """The fields of a document; those of one item where it is a list."""
    resolved = _resolved(document, schema)
    if resolved.get("type") == "array":
        resolved = _resolved(document, resolved["items"])
    required = resolved.get("required", ())
    for name, field in resolved.get("properties", {}).items():
        words = field.get("description", "")
        yield FieldEntry(name, "", _kind(document, field), name in required, words)


def _resolved(document: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[-1]
    named_schema: Schema = document["components"]["schemas"][name]
    return named_schema


def _kind(document: Schema, schema: Schema) -> str:
    """A type in words: `text`, `number`, `list of text`, `one of: a, b`."""
    resolved = _resolved(document, schema)
    choices = [choice for choice in resolved.get("anyOf", ()) if choice.get("type") != "null"]
    if choices:
        return " or ".join(dict.fromkeys(_kind(document, choice) for choice in choices))
    if "enum" in resolved:
        return "one of: " + ", ".join(map(str, resolved["enum"]))
    if resolved.get("type") == "array":
        return f"list of {_kind(document, resolved.get('items', {}))}"
    kinds = {"string": "text", "integer": "whole number", "boolean": "yes or no"}
    kind = str(resolved.get("type", "anything"))
    return resolved.get("format", "") or kinds.get(kind, kind)
