"""A chat model that is made when it is first asked."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel


class ClosingChatModel(ChatModel, Protocol):
    """A chat model that holds connections."""

    async def aclose(self) -> None: ...


class ChatModelOnDemand:
    """Stands for a model whose HTTP client takes long to import: many desks never ask one."""

    def __init__(self, make: Callable[[], ClosingChatModel]) -> None:
        self._make = make
        self._made: ClosingChatModel | None = None

    async def complete(self, request: ChatRequest) -> Completion:
        return await self._model().complete(request)

    def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        return self._model().stream(request)

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()

    def _model(self) -> ClosingChatModel:
        if self._made is None:
            self._made = self._make()
        return self._made
