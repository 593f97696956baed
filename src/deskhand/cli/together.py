"""Several desks in one process: opened one after the other, left side by side."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def together(openings: Iterable[AbstractAsyncContextManager[T]]) -> AsyncIterator[list[T]]:
    """What all of them give; on leaving, the time that each may take to come to rest does not
    add up."""
    opened: list[T] = []
    ways_out: list[AsyncExitStack] = []
    try:
        for opening in openings:
            way_out = AsyncExitStack()
            opened.append(await way_out.enter_async_context(opening))
            ways_out.append(way_out)
        yield opened
    finally:
        left = await asyncio.gather(
            *(way_out.aclose() for way_out in ways_out), return_exceptions=True
        )
        if failed := [end for end in left if isinstance(end, BaseException)]:
            raise failed[0]
