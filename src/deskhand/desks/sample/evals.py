"""A scorer of this desk's own: cases name it under `score:`."""

from typing import Any

from deskhand import scorer


@scorer("signed")
def signed(run: dict[str, Any], expected: str) -> bool:
    """The reply ends with this line."""
    return bool(run["reply"]) and run["reply"]["text"].rstrip().endswith(expected)
