"""Tool arguments as models write them."""

import json
from collections.abc import Mapping
from typing import Any, cast


def parse_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """The arguments in a model's text; what cannot be read is `{}` with a note that says why."""
    if not text.strip():
        return {}, None
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not JSON: {error}"
    return _object(value)


def read_arguments(parameters: Mapping[str, Any] | str) -> tuple[dict[str, Any], str | None]:
    """The same for arguments that may be parsed already."""
    return parse_arguments(parameters) if isinstance(parameters, str) else _object(parameters)


def _object(value: object) -> tuple[dict[str, Any], str | None]:
    if not isinstance(value, Mapping):
        return {}, f"the arguments are not an object but {type(value).__name__}"
    given = cast(Mapping[object, Any], value)
    return {str(key): item for key, item in given.items()}, None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
