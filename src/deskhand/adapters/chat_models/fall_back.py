"""Asks another model where one cannot be asked: `models: {good: [a/x, b/y]}`."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace

from deskhand.errors import (
    DeskhandError,
    ModelAway,
    ModelNotUsable,
    ModelUnavailable,
    SpendingCapReached,
)
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel

log = logging.getLogger("deskhand.models")


class FallBackChatModel:
    """Stands outside the circuits: a model that is left alone is passed over at once.

    What a model wrote and what it refused for its content is never asked of another one.
    """

    def __init__(self, inner: ChatModel, fall_backs: Mapping[str, tuple[str, ...]]) -> None:
        self._inner, self._fall_backs = inner, fall_backs

    async def complete(self, request: ChatRequest) -> Completion:
        faults: list[DeskhandError] = []
        for model in self._models(request):
            try:
                return await self._inner.complete(replace(request, model=model))
            except (ModelUnavailable, ModelNotUsable) as error:
                self._note(error, model, faults)
        raise _first_to_come_back(faults)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        """Where a model's answer breaks off for good, the next model's begins anew."""
        faults: list[DeskhandError] = []
        has_shown = False
        for model in self._models(request):
            if has_shown:
                yield Chunk(begins_anew=True)
            has_shown = False
            chunks = self._inner.stream(replace(request, model=model))
            try:
                async for chunk in chunks:
                    has_shown = True
                    yield chunk
                return
            except (ModelUnavailable, ModelNotUsable) as error:
                self._note(error, model, faults)
            finally:
                if isinstance(chunks, AsyncGenerator):
                    await chunks.aclose()
        raise _first_to_come_back(faults)

    def _models(self, request: ChatRequest) -> tuple[str, ...]:
        return (request.model, *self._fall_backs.get(request.model, ()))

    def _note(self, error: DeskhandError, model: str, faults: list[DeskhandError]) -> None:
        if isinstance(error, SpendingCapReached):
            raise error
        faults.append(error)
        log.info("%s cannot be asked: %s", model, error)


def _first_to_come_back(faults: list[DeskhandError]) -> DeskhandError:
    """The fault to raise where no model could be asked: what waits, waits for the first of them
    that is tried again."""
    away = [fault for fault in faults if isinstance(fault, ModelAway)]
    if away:
        return min(away, key=lambda fault: fault.until)
    passing = [fault for fault in faults if isinstance(fault, ModelUnavailable)]
    return (passing or faults)[0]
