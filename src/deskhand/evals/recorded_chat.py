"""A chat model that answers from the record and counts what the record has no answer to."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from deskhand.errors import DeskhandError, ModelAnswerInvalid, ModelRefused, ModelUnavailable
from deskhand.evals.divergence import Divergence
from deskhand.model.chat import ChatRequest, Chunk, Completion, Usage
from deskhand.model.codes import ErrorCode
from deskhand.model.run import LlmCall
from deskhand.ports import ChatModel

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
