"""Keeping a conversation inside the model's window: old tool results are shortened first, and the row says so."""

import json
from collections.abc import Sequence
from typing import Any

from deskhand.errors import PermanentError
from deskhand.model.codes import ErrorCode

CHARACTERS_A_TOKEN = 3
"""Fewer than models need on average, so that the estimate errs on the safe side (Czech needs about three)."""
KEPT = 300
"""Characters of a shortened result that stay, where it is not dropped altogether."""
RECENT = 2
"""Results at the end that are shortened only when nothing older is left."""


def fitted(
    messages: list[dict[str, Any]], beside: int, window: int, reserved: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages within `window` tokens less those `reserved` for the answer, and what was shortened for it.

    `beside` is how many characters go along with them.
    Oldest tool results first: to their beginning, then to nothing; those of the last turn come last.
    """
    budget = (window - reserved) * CHARACTERS_A_TOKEN
    length = _length(messages) + beside
    if length <= budget:
        return messages, []
    fitting = list(messages)
    trimmed: dict[int, dict[str, Any]] = {}
    places = [place for place, message in enumerate(messages) if message["role"] == "tool"]
    for most, eligible in ((KEPT, places[:-RECENT]), (0, places[:-RECENT]), (KEPT, places), (0, places)):
        for place in eligible:
            if length <= budget:
                return fitting, list(trimmed.values())
            before = str(fitting[place]["content"])
            after = _shortened(str(messages[place]["content"]), most)
            if len(after) >= len(before):
                continue
            fitting[place] = {**messages[place], "content": after}
            length -= len(before) - len(after)
            trimmed[place] = {
                "result": places.index(place) + 1,
                "characters": len(str(messages[place]["content"])),
                "kept": most,
            }
    if length > budget:
        raise PermanentError(
            f"the conversation has about {length // CHARACTERS_A_TOKEN} tokens and the model's window "
            f"{window} with {reserved} reserved for the answer; raise `context_tokens` if the model can read more",
            ErrorCode.MODEL_REFUSED,
        )
    return fitting, list(trimmed.values())


def tools_length(specs: Sequence[Any]) -> int:
    """Characters that the tools' descriptions add to every request."""
    return len(json.dumps(specs, ensure_ascii=False)) if specs else 0


def _length(messages: Sequence[dict[str, Any]]) -> int:
    return sum(
        len(message.get("content") or "")
        + sum(len(call["function"]["name"]) + len(call["function"]["arguments"]) for call in calls)
        + 12
        for message in messages
        for calls in (message.get("tool_calls") or (),)
    )


def _shortened(content: str, most: int) -> str:
    words = f"an older result of {len(content)} characters, shortened; call the tool again if you need all of it"
    kept = {"begins": content[:most]} if most else {}
    return json.dumps({"shortened": words, **kept}, ensure_ascii=False, separators=(",", ":"))
