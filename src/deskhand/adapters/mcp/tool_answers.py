"""What a server answers, as a tool's result: bounded, and without what nobody can see."""

import json
import re
from collections.abc import Iterable
from typing import Any, cast

from deskhand.errors import ToolError

LONGEST_TEXT = 20_000
"""Characters of a result that a model is shown."""
LARGEST_DATA = 100_000
"""Bytes of JSON in a structured result."""
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def result_of(result: Any) -> dict[str, Any]:
    """Structured data where it is not too large, else the text; ToolError where it failed."""
    text = _text(result.content)
    if result.is_error:
        raise ToolError("tool_failed", one_line(text) or "the tool failed without saying why")
    data = result.structured_content
    if data is not None and len(json.dumps(data).encode()) <= LARGEST_DATA:
        return cast(dict[str, Any], data) if isinstance(data, dict) else {"result": data}
    return {"text": text}


def _text(blocks: Iterable[Any]) -> str:
    texts: list[str] = []
    for block in blocks:
        kind = getattr(block, "type", "")
        texts.append(block.text if kind == "text" else f"[{kind or 'something'} left out]")
    text = UNSEEN.sub("", "\n".join(texts))
    return (
        text
        if len(text) <= LONGEST_TEXT
        else f"{text[:LONGEST_TEXT]}\n[cut off after {LONGEST_TEXT:,} characters]"
    )


def one_line(text: str) -> str:
    return " ".join(UNSEEN.sub("", text).split())[:500]
