"""What a case has the desk's agent say, turn by turn, in place of its model."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from deskhand.engine.story import Document
from deskhand.errors import ModelRefused
from deskhand.evals.case_sections import SaidSection
from deskhand.model.chat import ChatRequest, Chunk, Completion, ToolRequest

MODEL = "given by the case"


class GivenTurns:
    """A chat model that says what it was given, in order, whatever it is asked."""

    def __init__(self) -> None:
        self._turns: deque[Completion] = deque()
        self._given = 0

    def add(self, turns: Iterable[Completion]) -> None:
        before = len(self._turns)
        self._turns.extend(turns)
        self._given += len(self._turns) - before

    async def complete(self, request: ChatRequest) -> Completion:
        if not self._turns:
            raise ModelRefused(
                f"the case gives {self._given} turns of the agent, and one more is asked for"
            )
        return self._turns.popleft()

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text, whole)


def completion_of(said: SaidSection) -> Completion:
    """A turn as the case writes it."""
    calls = said.call if isinstance(said.call, list) else [said.call]
    requests = tuple(
        ToolRequest("", tool, _text(given)) for call in calls for tool, given in call.items()
    )
    finish = "tool_calls" if requests else "stop"
    return Completion(said.say, MODEL, requests, "length" if said.cut_off else finish)


def said_in(turn: Mapping[str, Any]) -> Document:
    """A recorded turn as a case writes it."""
    calls = [{call["tool"]: _arguments(call["arguments"])} for call in turn["calls"]]
    by_tool: Document = {}
    for call in calls:
        by_tool |= call
    each_tool_once = len(by_tool) == len(calls)
    said = {
        "call": by_tool if each_tool_once else calls,
        "say": turn["text"],
        "cut_off": turn["finish"] == "length",
    }
    return {name: value for name, value in said.items() if value} or {"say": ""}


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _arguments(text: str) -> Any:
    """The arguments as a mapping; as they were written where they are none, so that they are
    read the same again."""
    try:
        read = json.loads(text or "{}")
    except ValueError:
        return text
    return read if isinstance(read, dict) else text
