"""What was accepted of a server's tools, beside what it says of them now."""

import json
from collections.abc import Mapping

from deskhand.adapters.mcp.tool_answers import UNSEEN
from deskhand.config.sections.mcp import Pin

LARGEST_PIN = 60_000
"""Characters of a description together with its schema."""


def changes(pins: Mapping[str, Pin], current: Mapping[str, Pin]) -> dict[str, str]:
    """What differs from what was accepted, in words, by tool."""
    said: dict[str, str] = {}
    for tool, pin in pins.items():
        now = current.get(tool)
        if now is None:
            said[tool] = "it is gone"
        elif now.digest != pin.digest:
            parts = [name for name, differs in _parts(pin, now) if differs]
            said[tool] = f"its {' and its '.join(parts)} changed"
    return said


def _parts(pin: Pin, now: Pin) -> list[tuple[str, bool]]:
    return [
        ("description", pin.description != now.description),
        ("schema", pin.schema_ != now.schema_),
    ]


def unacceptable(pin: Pin) -> str | None:
    """Why nobody should accept a tool's description, whatever it is for."""
    if UNSEEN.search(pin.description) or UNSEEN.search(json.dumps(pin.schema_, ensure_ascii=False)):
        return "its description holds characters that nobody can see"
    if len(pin.description) + len(json.dumps(pin.schema_)) > LARGEST_PIN:
        return f"its description is longer than {LARGEST_PIN:,} characters"
    if pin.schema_.get("type") != "object" or not isinstance(
        pin.schema_.get("properties", {}), dict
    ):
        return "its arguments are not a mapping of names to values"
    return None
