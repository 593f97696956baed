"""The one Jinja2 environment that templates written by a desk's author are compiled in."""

import json
import traceback
from collections.abc import Callable
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic_core import to_jsonable_python

from deskhand.brain.fencing import as_data

_FILE = "template:"

Source = Callable[[str], str | None]


def template_environment(source: Source | None = None) -> ImmutableSandboxedEnvironment:
    """Sandboxed, strict about undefined names, no HTML escaping; `source` finds templates that
    are included by name."""

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        text = None if source is None else source(name)
        return None if text is None else (text, _FILE + name, lambda: True)

    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
    )
    environment.filters["tojson"] = _plain_json
    environment.filters["as_data"] = as_data
    return environment


def place_of(error: BaseException) -> tuple[str | None, int | None]:
    """Name and line of the template that an error comes from, innermost first."""
    if isinstance(error, TemplateSyntaxError):
        return error.name, error.lineno
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(_FILE):
            return frame.filename.removeprefix(_FILE), frame.lineno
    return None, None


def _plain_json(value: Any, indent: int | None = None) -> str:
    """Jinja's own `tojson` writes for HTML pages and turns every < into an escape."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=to_jsonable_python)
