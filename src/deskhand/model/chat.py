"""Requests to and answers from a chat model, in the shape the OpenAI API made common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.model.run import canonical_hash

PARTS = ("instructions", "tools", "model", "conversation")
"""What a request consists of: the system prompt, the tools and the schema, the model and its
settings, the rest."""
NATIVE = "native"
"""A field of an assistant's message: what only the model that wrote it understands, as the
signatures of its thoughts. It goes back to that model as it came, and to no other."""
_PIECE = 16


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asks: the run and stage a model call is booked on."""

    run_id: str | None = None
    stage: str = ""
    call_type: str = "task"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    messages: tuple[Mapping[str, Any], ...]
    model: str
    """`provider/model`, as `gemini/gemini-3.8-flash` or `ollama/qwen3`."""
    tools: tuple[Mapping[str, Any], ...] = ()
    schema: Mapping[str, Any] | None = None
    """A JSON schema the answer must follow; None asks for plain text."""
    temperature: float | None = None
    max_tokens: int | None = None
    origin: Origin = Origin()
    private: tuple[str, ...] = ()
    """Names of the person this is about: never sent, and hidden wherever they occur when the
    desk redacts."""

    @property
    def digest(self) -> str:
        """Equal requests have equal digests, whoever asks: what a replay finds recorded answers by.

        One piece for each of `PARTS`, so that two digests tell in which parts their requests
        differ.
        """
        system = [message for message in self.messages if message["role"] == "system"]
        rest = [message for message in self.messages if message["role"] != "system"]
        parts = (
            system,
            [list(self.tools), self.schema],
            [self.model, self.temperature, self.max_tokens],
            rest,
        )
        return "".join(canonical_hash(part)[:_PIECE] for part in parts)


def parts_that_differ(digest: str, other: str) -> tuple[str, ...]:
    """In which of `PARTS` the requests of two digests differ."""
    places = (
        (name, slice(_PIECE * number, _PIECE * (number + 1))) for number, name in enumerate(PARTS)
    )
    return tuple(name for name, place in places if digest[place] != other[place])


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call as the model wrote it; `arguments` is its text, not yet parsed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    cached_tokens: int = 0
    """Those of the prompt that the provider had read before."""
    reasoning_tokens: int = 0
    """Those of the answer that were thoughts."""


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    model: str
    tool_calls: tuple[ToolRequest, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    redacted: str | None = None
    """The text as the model wrote it, where personal data was hidden from it: what errors may
    quote."""
    native: Mapping[str, Any] | None = None
    """What goes back to this model with its answer, under `NATIVE`; `model` says to which."""

    def as_record(self) -> dict[str, Any]:
        """What a replay needs to give the same answer again."""
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in self.tool_calls
        ]
        record = {
            "text": self.text,
            "model": self.model,
            "tool_calls": calls,
            "finish_reason": self.finish_reason,
        }
        return record if self.native is None else {**record, NATIVE: dict(self.native)}

    @classmethod
    def of_record(cls, record: Mapping[str, Any], usage: Usage | None = None) -> "Completion":
        calls = tuple(
            ToolRequest(call["id"], call["name"], call["arguments"])
            for call in record["tool_calls"]
        )
        return cls(
            record["text"],
            record["model"],
            calls,
            record["finish_reason"],
            usage or Usage(),
            native=record.get(NATIVE),
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streamed answer; the last one carries the whole completion."""

    text: str = ""
    completion: Completion | None = None
    begins_anew: bool = False
    """The stream broke off and the model is asked again: what came before does not count."""
