"""Work on many things at once, a bounded number at a time; the first fault ends it all."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


async def side_by_side(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Made]], at_once: int
) -> list[Made]:
    """What the work makes of each item, in the items' order."""
    room = asyncio.Semaphore(at_once)

    async def one(item: Item) -> Made:
        async with room:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [task.result() for task in tasks]
