"""Books every call of a model: what it said, what it cost, how long it took, whether it failed."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any

from deskhand.adapters.chat_models.redaction import redacted
from deskhand.model.chat import ChatRequest, Chunk, Completion, Usage
from deskhand.model.run import LlmCall
from deskhand.ports import ChatModel, Clock

log = logging.getLogger("deskhand.models")

Record = Callable[[LlmCall], Coroutine[Any, Any, None]]


class RecordingChatModel:
    """Wraps a model so that each call leaves one LlmCall, also when it fails."""

    def __init__(
        self, inner: ChatModel, record: Record, clock: Clock, *, waits: bool = True
    ) -> None:
        """Without `waits` a call does not wait until its record is written."""
        self._inner, self._record, self._clock, self._waits = inner, record, clock, waits
        self._under_way: set[asyncio.Task[None]] = set()

    async def complete(self, request: ChatRequest) -> Completion:
        started = self._clock.now()
        try:
            completion = await self._inner.complete(request)
        except BaseException as error:
            await self._book(request, started, error=_words(error))
            raise
        await self._book(request, started, completion)
        return completion

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        started = self._clock.now()
        whole: Completion | None = None
        error = "the stream ended without a completion"
        chunks = self._inner.stream(request)
        try:
            async for chunk in chunks:
                if chunk.completion is not None:
                    whole, error = chunk.completion, ""
                yield chunk
        except GeneratorExit:
            error = error and "the reader stopped before the end"
            raise
        except BaseException as raised:
            error = _words(raised)
            raise
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
            await self._book(request, started, whole, error=error or None)

    async def _book(
        self,
        request: ChatRequest,
        started: float,
        completion: Completion | None = None,
        *,
        error: str | None = None,
    ) -> None:
        now, origin = self._clock.now(), request.origin
        spent = Usage() if completion is None else completion.usage
        call = LlmCall(
            run_id=origin.run_id,
            stage=origin.stage,
            call_type=origin.call_type,
            model=request.model,
            request_digest=request.digest,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cost=spent.cost,
            latency_ms=max(now - started, 0.0) * 1000,
            error=error,
            at=started,
            answer=None if completion is None else completion.as_record(),
            cached_tokens=spent.cached_tokens,
            reasoning_tokens=spent.reasoning_tokens,
        )
        if self._waits:
            await self._record(call)
            return
        writing = asyncio.ensure_future(self._record(call))
        self._under_way.add(writing)
        writing.add_done_callback(self._written)

    def _written(self, writing: "asyncio.Task[None]") -> None:
        self._under_way.discard(writing)
        if not writing.cancelled() and (error := writing.exception()) is not None:
            log.error("a model call could not be booked: %s", error)


def _words(error: BaseException) -> str:
    said = str(error)
    return redacted(f"{type(error).__name__}: {said}" if said else type(error).__name__, limit=500)
