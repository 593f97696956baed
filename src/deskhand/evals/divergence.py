"""Where a replay leaves the record: a model is asked what it was not asked then, and this says
what is different."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.agents.transcript import RESULTS, TURNS, shown
from deskhand.engine.journal import State
from deskhand.engine.story import Document
from deskhand.model.chat import PARTS, ChatRequest, parts_that_differ
from deskhand.model.envelope import Delta
from deskhand.model.run import LlmCall

CONVERSATION = PARTS[-1]
_SHOWN = {
    "instructions": "the system prompt",
    "tools": "the tools it may call",
    "model": "the model or its settings",
}


@dataclass(frozen=True, slots=True)
class Apart:
    """One request that the record has no answer to."""

    stage: str
    turn: int | None
    """Of an agent: which turn is asked for, from 1."""
    differs: tuple[str, ...]
    """The parts of the request that are not what they were; none where the stage asked no model
    then."""
    asked: bool
    """Whether the model was asked anew."""

    @classmethod
    def of(cls, request: ChatRequest, recorded: Iterable[LlmCall], *, asked: bool) -> "Apart":
        """Beside the recorded request of its stage that is most like it."""
        stage, agent = request.origin.stage, request.origin.call_type == "agent"
        turn = (
            1 + sum(message["role"] == "assistant" for message in request.messages)
            if agent
            else None
        )
        digest = request.digest
        found = [
            parts_that_differ(digest, call.request_digest)
            for call in recorded
            if call.stage == stage
        ]
        return cls(stage, turn, min(found, key=len, default=()), asked)

    def document(self, then: Sequence[State], now: Sequence[State]) -> Document:
        """As a report tells it, with the first thing in an agent's conversation that is not what
        it was."""
        known: Document = {
            "stage": self.stage,
            "turn": self.turn,
            "differs": list(self.differs),
            "asked": self.asked,
        }
        if self.turn is not None and CONVERSATION in self.differs:
            known["first"] = _first_difference(
                _Heard.of(then, self.stage), _Heard.of(now, self.stage), self.turn
            )
        return known


def told(document: Document) -> str:
    """`agent, turn 2: the result of find_parcel is not what it was`."""
    place = (
        document["stage"]
        if document["turn"] is None
        else f"{document['stage']}, turn {document['turn']}"
    )
    parts = [
        _SHOWN.get(name) or document.get("first") or "what is said to it"
        for name in document["differs"]
    ]
    what = f"{' and '.join(parts)} changed" if parts else "no model was asked there"
    return (
        f"{place}: {what};"
        f" {'asked anew' if document['asked'] else 'what the model would say is not known'}"
    )


@dataclass(frozen=True, slots=True)
class _Heard:
    """What an agent's rows say that it was told."""

    turns: Sequence[dict[str, Any]]
    results: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, states: Sequence[State], stage: str) -> "_Heard":
        steps = [state.result.delta for state in states if state.row.name.startswith(f"{stage}/")]
        turns = [item for delta in steps for item in turns_in(delta)]
        return cls(turns, [item for delta in steps for item in _added(delta, RESULTS)])


def turns_in(delta: Delta) -> list[dict[str, Any]]:
    """The turns of an agent that a step added."""
    return _added(delta, TURNS)


def _added(delta: Delta, name: str) -> list[dict[str, Any]]:
    whole = [
        item
        for output in delta.outputs.values()
        if isinstance(output, dict)
        for item in output.get(name, ())
    ]
    return whole + [
        item for key, items in delta.append.items() if key.endswith(f".{name}") for item in items
    ]


def _first_difference(then: _Heard, now: _Heard, turn: int) -> str | None:
    """What of the conversation before this turn came out otherwise."""
    for number, (was, is_) in enumerate(zip(then.results, now.results, strict=False)):
        if was["tool"] != is_["tool"] or was["arguments"] != is_["arguments"]:
            return f"call {number + 1} ({is_['tool']})"
        if shown(was) != shown(is_):
            return f"the result of {is_['tool']} (turn {is_['iteration']})"
    spoken = then.turns[turn - 1 :]
    return (
        "what it was told by a person" if turn > 1 and spoken and spoken[0].get("heard") else None
    )
