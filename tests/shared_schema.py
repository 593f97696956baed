"""The JSON Schema of desk.yaml, made once in a process: it takes a second."""

from functools import cache
from typing import Any

from deskhand.config.schema import desk_schema


@cache
def shared_schema() -> dict[str, Any]:
    """To be read, not changed."""
    return desk_schema()
