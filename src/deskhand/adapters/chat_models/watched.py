"""Lets somebody watch what a model writes for one run, where its caller wants the whole answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from deskhand.errors import RetryableError
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.codes import ErrorCode
from deskhand.ports import ChatModel

Watcher = Callable[[str], None]
"""Told all that has been written so far; less than before where the model was asked again."""


class WatchedChatModel:
    """Answers as its model does. An answer that somebody watches is streamed."""

    def __init__(self) -> None:
        self._inner: ChatModel | None = None
        self._watchers: dict[str, Watcher] = {}

    def around(self, chat: ChatModel) -> "WatchedChatModel":
        self._inner = chat
        return self

    @contextmanager
    def watch(self, run_id: str, watcher: Watcher) -> Iterator[None]:
        """Tell of what is written for this run meanwhile."""
        self._watchers[run_id] = watcher
        try:
            yield
        finally:
            del self._watchers[run_id]

    async def complete(self, request: ChatRequest) -> Completion:
        watcher = self._watchers.get(request.origin.run_id or "")
        if watcher is None:
            return await self._model.complete(request)
        return await self._streamed(request, watcher)

    def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        return self._model.stream(request)

    async def _streamed(self, request: ChatRequest, watcher: Watcher) -> Completion:
        chunks = self._model.stream(request)
        written = ""
        whole: Completion | None = None
        try:
            async for chunk in chunks:
                written = "" if chunk.begins_anew else written + chunk.text
                watcher(written)
                whole = chunk.completion or whole
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
        if whole is None:
            raise RetryableError("the model's answer broke off", ErrorCode.MODEL_UNAVAILABLE)
        return whole

    @property
    def _model(self) -> ChatModel:
        assert self._inner is not None
        return self._inner
