"""Keeping a conversation inside the model's window: old tool results are shortened, then left out,
and the row says so.

Only what the model is shown gets shorter. The run keeps every result whole, and the gate goes by
the run.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deskhand.agents.shortening import Measure, dropped, names_in, shortened
from deskhand.errors import PermanentError
from deskhand.model.codes import ErrorCode

CHARACTERS_A_TOKEN = 3
"""Fewer than models need on average, so that the estimate errs on the safe side (Czech needs
about three)."""
BIG = 2000
"""Characters of a result from which it is shortened before anything smaller is."""
RECENT = 2
"""Results at the end that are shortened only when nothing older is left."""
SOME, LITTLE = Measure(items=5, characters=400), Measure(items=2, characters=120)

Messages = list[dict[str, Any]]


def fitted(
    messages: Messages, beside: int, window: int, reserved: int
) -> tuple[Messages, list[dict[str, Any]]]:
    """The messages within `window` tokens less those `reserved` for the answer, and what was
    shortened for it.

    `beside` is how many characters go along with them. Big results first, to their head and what
    later calls speak of; then all of them to less; then the oldest are left out. Those of the last
    turn come last.
    """
    budget = (window - reserved) * CHARACTERS_A_TOKEN
    length = _length(messages) + beside
    if length <= budget:
        return messages, []
    fitting = list(messages)
    results = list(_results(messages))
    for result, shorter in _passes(results):
        if length <= budget:
            break
        before, after = str(fitting[result.place]["content"]), shorter(result.content)
        if len(after) < len(before):
            fitting[result.place] = {**messages[result.place], "content": after}
            length -= len(before) - len(after)
    if length > budget:
        raise PermanentError(
            f"the conversation has about {length // CHARACTERS_A_TOKEN} tokens and the model's"
            f" window {window} with {reserved} reserved for the answer; raise `context_tokens` if"
            " the model can read more",
            ErrorCode.MODEL_REFUSED,
        )
    return fitting, [
        entry
        for result in results
        for entry in result.shortened_rows(str(fitting[result.place]["content"]))
    ]


def tools_length(specs: Sequence[Any]) -> int:
    """Characters that the tools' descriptions add to every request."""
    return len(json.dumps(specs, ensure_ascii=False)) if specs else 0


@dataclass(frozen=True, slots=True)
class _Result:
    """A tool result among the messages."""

    number: int
    """Among the results, from 1."""
    place: int
    """Among the messages."""
    tool: str
    content: str
    named: tuple[str, ...]
    """What calls after it speak of."""

    def shortened_rows(self, now: str) -> Iterator[dict[str, Any]]:
        """What its row says, where the model is shown less than all of it."""
        if len(now) < len(self.content):
            yield {
                "result": self.number,
                "tool": self.tool,
                "characters": len(self.content),
                "kept": 0 if now == dropped(self.content) else len(now),
                "tokens_saved": (len(self.content) - len(now)) // CHARACTERS_A_TOKEN,
            }


def _passes(results: Sequence[_Result]) -> Iterator[tuple[_Result, Callable[[str], str]]]:
    """What to shorten next and how, the least loss first."""
    older, recent = results[:-RECENT], results[-RECENT:]
    for some, big in ((older, True), (older, False), (recent, True), (recent, False)):
        for measure in (SOME,) if big else (SOME, LITTLE):
            for result in some:
                if not big or len(result.content) >= BIG:
                    yield result, partial(shortened, measure=measure, named=result.named)
        if not big:
            yield from ((result, dropped) for result in some)


def _results(messages: Messages) -> Iterator[_Result]:
    """The results among messages, in their order, each with its tool's name."""
    calls = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
    named = [tuple(names_in(call["arguments"])) for call in calls]
    asked = number = 0
    for place, message in enumerate(messages):
        asked += len(message.get("tool_calls") or ())
        if message["role"] == "tool":
            number += 1
            later = dict.fromkeys(name for names in named[asked:] for name in names)
            yield _Result(
                number, place, calls[number - 1]["name"], str(message["content"]), tuple(later)
            )


def _length(messages: Sequence[dict[str, Any]]) -> int:
    length = 0
    for message in messages:
        length += len(message.get("content") or "") + 12
        for call in message.get("tool_calls") or ():
            function = call["function"]
            length += len(function["name"]) + len(function["arguments"])
    return length
