"""The conversation of a tool loop, as the rows of its run hold it and as a model is shown it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any, cast

from deskhand.model.chat import NATIVE, Completion
from deskhand.model.loop import AgentToolCall
from deskhand.model.message import ESCALATE

TURNS, RESULTS = "turns", "results"
ESCALATED = "escalated"
"""A field of a result: why the desk's policy wants a person at once, whatever the agent had in
mind next."""
MOST_CALLS = 50
"""Calls of one turn that are looked at; a model that asks for more has lost its way, and the
rest is left out."""


@dataclass(slots=True)
class Transcript:
    """Turns of the model and results of its calls, both in order. A result belongs to
    (iteration, call)."""

    turns: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    before: int = 0
    """Turns of earlier rounds: before a reviewer sent the agent back, say."""
    closed: bool = False
    """Whether the round has ended: a further turn begins another one."""
    _said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The conversation so far, in the shape a model is shown it."""

    @classmethod
    def of(cls, output: Any) -> "Transcript":
        """The transcript that a stage's output holds; an empty one where there is none."""
        if not isinstance(output, dict):
            return cls()
        kept = cast(dict[str, Any], output)
        turns, results = kept.get(TURNS), kept.get(RESULTS)
        if not isinstance(turns, list) or not isinstance(results, list):
            return cls()
        ended = int(kept.get("iterations", 0))
        closed = ended == len(turns) > 0
        talk = cls(before=int(kept.get("began", 0)) if closed else ended, closed=closed)
        left = iter(results)
        for turn in turns:
            talk.add_turn(turn)
            for result in islice(left, len(turn["calls"])):
                talk.add_result(result)
        return talk

    def add_turn(self, turn: dict[str, Any]) -> None:
        self.turns.append(turn)
        self._said += [{"role": "user", "content": text} for text in turn.get("heard", ())]
        self._said.append(_assistant(turn))

    def add_result(self, result: dict[str, Any]) -> None:
        call = self.turns[-1]["calls"][self.answered]
        self.results.append(result)
        content = json.dumps(shown(result), ensure_ascii=False, separators=(",", ":"))
        self._said.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    @property
    def iterations(self) -> int:
        return len(self.turns)

    @property
    def last(self) -> dict[str, Any] | None:
        return self.turns[-1] if self.turns else None

    @property
    def answered(self) -> int:
        """How many calls of the last turn have their result."""
        return sum(1 for _ in self._own())

    @property
    def open_calls(self) -> list[tuple[int, dict[str, Any]]]:
        """The calls of the last turn that have no result yet, each with its place in the turn."""
        calls = self.last["calls"] if self.last else []
        return list(enumerate(calls))[self.answered :]

    @property
    def said_last_word(self) -> bool:
        return self.last is not None and not self.last["calls"]

    @property
    def stopped(self) -> bool:
        """A call of the last turn ended the agent's work: no further turn, and no further call
        of this one."""
        return any(
            ESCALATED in result or (result["tool"] == ESCALATE and not result.get("error"))
            for result in self._own()
        )

    def _own(self) -> Iterator[dict[str, Any]]:
        """The results of the last turn."""
        last = len(self.turns)
        return takewhile(lambda result: result["iteration"] == last, reversed(self.results))

    @property
    def final_message(self) -> str:
        """The newest text of the model's own."""
        return next((str(turn["text"]) for turn in reversed(self.turns) if turn["text"]), "")

    def spent(self) -> tuple[int, float]:
        """Tokens and money of this round."""
        own = self.turns[self.before :]
        tokens = sum(sum(turn["tokens"]) for turn in own)
        cost = sum(turn.get("cost", 0.0) for turn in own)
        return tokens, cost

    def tool_calls(self) -> tuple[AgentToolCall, ...]:
        return tuple(
            AgentToolCall.model_construct(
                tool_name=entry["tool"],
                arguments=entry["arguments"],
                result=shown(entry),
                iteration=entry["iteration"],
            )
            for entry in self.results
        )

    def messages(self, system: str, heard: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The conversation in the OpenAI shape; `heard` is what is said before the next turn."""
        return [
            {"role": "system", "content": system},
            *self._said,
            *({"role": "user", "content": text} for text in heard),
        ]


def turn_of(
    completion: Completion,
    iteration: int,
    heard: Sequence[str],
    trimmed: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The model's answer as its row keeps it, before any of its calls runs."""
    calls = [
        {
            "id": call.id or f"call_{iteration}_{place}",
            "tool": call.name,
            "arguments": call.arguments,
        }
        for place, call in enumerate(completion.tool_calls)
    ]
    usage = completion.usage
    turn: dict[str, Any] = {
        "iteration": iteration,
        "text": completion.text,
        "calls": calls[:MOST_CALLS],
        "model": completion.model,
        "finish": completion.finish_reason,
        "tokens": [usage.prompt_tokens, usage.completion_tokens],
    }
    optional = {
        NATIVE: dict(completion.native or {}),
        "heard": list(heard),
        "cost": usage.cost,
        "trimmed": list(trimmed),
        "calls_left_out": len(calls[MOST_CALLS:]),
    }
    return turn | {name: value for name, value in optional.items() if value}


def shown(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the model is told of a call: its data, or `{"error": message}`."""
    error = result.get("error")
    return {"error": error["message"]} if error else dict(result.get("data") or {})


def _assistant(turn: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn["text"] or None}
    if turn["calls"]:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["tool"], "arguments": call["arguments"] or "{}"},
            }
            for call in turn["calls"]
        ]
    elif message["content"] is None:
        message["content"] = ""
    if NATIVE in turn:
        message[NATIVE] = turn[NATIVE]
    return message
