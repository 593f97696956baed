"""A day's cap on what models cost: once it is reached they are not asked any more."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from deskhand.errors import SpendingCapReached
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel, Clock

SpentSince = Callable[[float], Awaitable[float]]
"""What calls of models have cost since a time."""


class CappedChatModel:
    """Asks what was spent before every call. Calls under way when the cap is reached are paid."""

    def __init__(
        self, inner: ChatModel, spent_today: Callable[[], Awaitable[float]], cap: float
    ) -> None:
        self._inner, self._spent_today, self._cap = inner, spent_today, cap

    async def complete(self, request: ChatRequest) -> Completion:
        await self._check()
        return await self._inner.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        await self._check()
        async for chunk in self._inner.stream(request):
            yield chunk

    async def _check(self) -> None:
        spent = await self._spent_today()
        if spent >= self._cap:
            raise SpendingCapReached(
                f"models have cost {spent:.2f} today and the desk's cap is {self._cap:g}; "
                "a person works this, or raise caps.day.model_spend"
            )


def spent_today(
    spent_since: SpentSince, clock: Clock, time_zone: str
) -> Callable[[], Awaitable[float]]:
    """What models have cost since midnight in this time zone."""

    async def spent() -> float:
        now = datetime.fromtimestamp(clock.now(), ZoneInfo(time_zone))
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return await spent_since(midnight.timestamp())

    return spent
