"""An agent's last words: the reply, and what its writer says of it.

A model ends with a JSON object, or with plain text. Plain text rests on nothing but what tools
found. Any other data is no reply: an `{"error": ...}` is never sent to a customer.
"""

import json
import re
from typing import Any

from deskhand.outgoing.sentences import is_program_text

FIELDS = ("hand_over", "reason", "confidence", "sources")
HOW_TO_END = (
    "End with one JSON object and nothing else, unless a tool has handed your reply in:"
    ' {"text": the reply, "hand_over": true if a colleague must answer, "reason": why or null,'
    ' "confidence": 0 to 1, "sources": [{"id": the tool or article, "quote": its very words}]}.'
    " Quote for every sentence that states a fact what it is taken from. What nothing says, leave"
    " out; if that is what was asked, hand over."
)
"""Stands in an agent's rules."""


_TEXT_FIELD = re.compile(r'[{,]\s*"text"\s*:\s*"')
_WHOLE_LETTERS = re.compile(r'(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
"""A JSON string up to its end, or up to an escape that has not come whole."""


def last_words(text: str) -> dict[str, Any] | None:
    """The fields of a reply, `text` among them; None where these words are no reply."""
    given = _object_in(text)
    if given is None:
        return None if is_program_text(text) else {"text": text}
    said = given.get("text")
    if not isinstance(said, str) or not said.strip() or is_program_text(said):
        return None
    return {"text": said, **{name: given[name] for name in FIELDS if name in given}}


def draft_so_far(text: str) -> str:
    """The reply in words that are still being written: plain ones, or an object's `text` as far
    as it has come."""
    begun = text.lstrip()
    if begun.startswith("```"):
        begun = begun.partition("\n")[2].lstrip()
    if not begun.startswith("{"):
        return text
    field = _TEXT_FIELD.search(begun)
    if field is None:
        return ""
    written = _WHOLE_LETTERS.match(begun, field.end())
    assert written is not None
    words: str = json.loads(f'"{written[0]}"', strict=False)
    return words.encode("utf-8", "ignore").decode()  # half of a pair of surrogates is left out


def _object_in(text: str) -> dict[str, Any] | None:
    """The object that the words are, inside a fence or not."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.partition("\n")[2].rpartition("```")[0].strip()
    if not stripped.startswith("{"):
        return None
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
