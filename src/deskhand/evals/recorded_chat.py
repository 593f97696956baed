"""A chat model that answers from the record, and where a replay leaves the record: a model is asked
what it was not asked then."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.agents.transcript import RESULTS, TURNS, shown
from deskhand.engine.journal import State
from deskhand.engine.story import Document
from deskhand.errors import DeskhandError, ModelAnswerInvalid, ModelRefused, ModelUnavailable
from deskhand.model.chat import PARTS, ChatRequest, Chunk, Completion, Usage, parts_that_differ
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Delta
from deskhand.model.run import LlmCall
from deskhand.ports import ChatModel

CONVERSATION = PARTS[-1]
_PARTS_IN_WORDS = {
    "instructions": "the system prompt",
    "tools": "the tools it may call",
    "model": "the model or its settings",
}


@dataclass(frozen=True, slots=True)
class Divergence:
    """A request that the record has no answer to."""

    stage: str
    turn: int | None
    """With an agent: which turn is asked for, from 1."""
    differs: tuple[str, ...]
    """The parts of the request that changed; none where the stage asked no model then."""
    asked: bool
    """Whether the model was asked anew."""

    @classmethod
    def of(cls, request: ChatRequest, recorded: Iterable[LlmCall], *, asked: bool) -> "Divergence":
        """Compares a request with the recorded one of its stage that is most like it."""
        stage = request.origin.stage
        differences = [
            parts_that_differ(request.digest, call.request_digest)
            for call in recorded
            if call.stage == stage
        ]
        return cls(stage, _turn_of(request), min(differences, key=len, default=()), asked)

    def document(self, then: Sequence[State], now: Sequence[State]) -> Document:
        """As a report shows it, with the first change in an agent's conversation under `first`."""
        document: Document = {
            "stage": self.stage,
            "turn": self.turn,
            "differs": list(self.differs),
            "asked": self.asked,
        }
        if self.turn is not None and CONVERSATION in self.differs:
            document["first"] = _first_difference(
                _Heard.of(then, self.stage), _Heard.of(now, self.stage), self.turn
            )
        return document


def _turn_of(request: ChatRequest) -> int | None:
    if request.origin.call_type != "agent":
        return None
    spoken = [message for message in request.messages if message["role"] == "assistant"]
    return 1 + len(spoken)


def divergence_in_words(document: Document) -> str:
    """`agent, turn 2: the result of find_parcel is not what it was`."""
    turn = document["turn"]
    place = document["stage"] if turn is None else f"{document['stage']}, turn {turn}"
    conversation = document.get("first") or "what is said to it"
    parts = [_PARTS_IN_WORDS.get(name) or conversation for name in document["differs"]]
    change = f"{' and '.join(parts)} changed" if parts else "no model was asked there"
    answer = "asked anew" if document["asked"] else "what the model would say is not known"
    return f"{place}: {change}; {answer}"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What an agent's rows say that it was told."""

    turns: Sequence[dict[str, Any]]
    results: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, states: Sequence[State], stage: str) -> "_Heard":
        steps = [state.result.delta for state in states if state.row.name.startswith(f"{stage}/")]
        turns = [item for delta in steps for item in turns_in(delta)]
        results = [item for delta in steps for item in _added(delta, RESULTS)]
        return cls(turns, results)


def turns_in(delta: Delta) -> list[dict[str, Any]]:
    """Returns the turns of an agent that a step added."""
    return _added(delta, TURNS)


def _added(delta: Delta, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for output in delta.outputs.values():
        if isinstance(output, dict):
            items += output.get(name, ())
    for key, appended in delta.append.items():
        if key.endswith(f".{name}"):
            items += appended
    return items


def _first_difference(then: _Heard, now: _Heard, turn: int) -> str | None:
    """What changed first in the conversation before this turn; None where nothing is found."""
    for number, (was, is_now) in enumerate(zip(then.results, now.results, strict=False), 1):
        if was["tool"] != is_now["tool"] or was["arguments"] != is_now["arguments"]:
            return f"call {number} ({is_now['tool']})"
        if shown(was) != shown(is_now):
            return f"the result of {is_now['tool']} (turn {is_now['iteration']})"
    said_by_a_person = turn > 1 and any(heard.get("heard") for heard in then.turns[turn - 1 : turn])
    return "what it was told by a person" if said_by_a_person else None


_FAULTS: dict[str, type[DeskhandError]] = {
    "ModelUnavailable": ModelUnavailable,
    "ModelAnswerInvalid": ModelAnswerInvalid,
    "ModelRefused": ModelRefused,
}


class NotRecorded(ModelUnavailable):
    """The record has no answer to this request, and the model is not asked again without --live."""


@dataclass
class Tally:
    """How many requests were answered from the record, how many were asked anew."""

    recorded: int = 0
    asked: int = 0
    divergences: dict[str, dict[str, Divergence]] = field(default_factory=lambda: defaultdict(dict))
    """The requests that the record has no answer to, by run and digest."""

    def missing(self, run_id: str) -> int:
        """Requests of the run that nobody answered."""
        return sum(not request.asked for request in self.divergences.get(run_id, {}).values())

    @property
    def all_missing(self) -> int:
        return sum(map(self.missing, self.divergences))


class RecordedChat:
    """Gives each run the answers that were recorded for the same requests, in the same order."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._live: ChatModel | None = None
        self._calls: dict[tuple[str, str], deque[LlmCall]] = {}

    def before(self, live: ChatModel | None) -> "RecordedChat":
        """Ask `live` for what is not recorded; with None such requests stay open."""
        self._live = live
        return self

    def load(self, run_id: str, calls: Sequence[LlmCall], *, waited: bool = False) -> None:
        """With `waited`, the run waited for its model: calls that it asked again are left out."""
        answered = {call.request_digest for call in calls if call.answer is not None}
        for call in calls:
            asked_again = waited and call.answer is None and call.request_digest in answered
            if (call.answer is not None or call.error is not None) and not asked_again:
                self._calls.setdefault((run_id, call.request_digest), deque()).append(call)

    async def complete(self, request: ChatRequest) -> Completion:
        run_id = request.origin.run_id or ""
        recorded = self._calls.get((run_id, request.digest))
        if recorded:
            self.tally.recorded += 1
            return _again(recorded.popleft() if len(recorded) > 1 else recorded[0])
        calls = (call for (run, _), same in self._calls.items() if run == run_id for call in same)
        self.tally.divergences[run_id][request.digest] = Divergence.of(
            request, calls, asked=self._live is not None
        )
        if self._live is not None:
            self.tally.asked += 1
            return await self._live.complete(request)
        raise NotRecorded(f"no answer is recorded for what stage {request.origin.stage!r} asks now")

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text, whole)


def _again(call: LlmCall) -> Completion:
    if call.answer is not None:
        return Completion.of_record(
            call.answer,
            Usage(
                call.prompt_tokens,
                call.completion_tokens,
                call.cost,
                call.cached_tokens,
                call.reasoning_tokens,
            ),
        )
    kind, _, words = (call.error or "").partition(": ")
    if kind == "CancelledError":
        raise DeskhandError("the model did not answer in time", ErrorCode.STAGE_TIMEOUT)
    raise _FAULTS.get(kind, ModelUnavailable)(words or kind)
