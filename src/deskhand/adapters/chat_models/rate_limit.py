"""One rate for a model, shared by every worker of a database."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

import sqlalchemy as sa

from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.errors import ModelAway
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel

LONGEST_WAIT = 60.0
BURST = 1.0
"""Seconds of unused rate that may be made up for at once."""

_RESERVE = sa.text(
    "INSERT INTO model_rates AS r(model, free_at) VALUES(:model, :first)"
    " ON CONFLICT (model) DO UPDATE SET free_at = greatest(r.free_at, :earliest) + :gap"
    " WHERE r.free_at < :latest RETURNING free_at"
).bindparams(
    *(sa.bindparam(name, type_=sa.Double) for name in ("first", "earliest", "gap", "latest"))
)
_NOW = sa.text("SELECT extract(epoch from clock_timestamp())::float8")


class SharedRate:
    """Each call reserves the next free moment in one row: exact over all workers."""

    def __init__(self, database: CoreDatabase, per_minute: Mapping[str, float]) -> None:
        self._database, self._per_minute = database, per_minute

    async def turn(self, model: str) -> None:
        """Return when it is our turn; ModelAway when that is too far off."""
        rate = self._per_minute.get(model)
        if rate is None:
            return
        gap = 60.0 / rate

        def op(core: sa.Connection) -> float | None:
            now = core.execute(_NOW).scalar_one()
            values = {
                "first": now + gap,
                "earliest": now - BURST,
                "gap": gap,
                "latest": now + LONGEST_WAIT,
            }
            free_at = core.execute(_RESERVE, {"model": model, **values}).scalar()
            return None if free_at is None else free_at - gap - now

        wait = await self._database.write_core(op)
        if wait is None:
            words = (
                f"{model} is asked for more than {rate:g} times a minute; the queue for it is full"
            )
            raise ModelAway(words, model=model, until=time.time() + LONGEST_WAIT / 2, asked=False)
        await asyncio.sleep(max(0.0, wait))


class RatedChatModel:
    def __init__(self, inner: ChatModel, rate: SharedRate) -> None:
        self._inner, self._rate = inner, rate

    async def complete(self, request: ChatRequest) -> Completion:
        await self._rate.turn(request.model)
        return await self._inner.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        await self._rate.turn(request.model)
        async for chunk in self._inner.stream(request):
            yield chunk
