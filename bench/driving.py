"""What every engine is driven with. Nothing of Deskhand is imported here: some run in an
environment of their own."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from bench.case import measuring

Result = dict[str, Any]

ITERATIONS = 10
"""Tool calls of a loop, before its last word."""
MAIL = (
    "Hello, I ordered a pair of running shoes on 3 March and the parcel has not arrived yet. The"
    " order number is A-10423. Could you tell me where it is, and whether I can still change the"
    " delivery address? Thank you, Ana"
)


def lookup_order(order_id: str) -> str:
    """Look an order up."""
    return f"order {order_id} was shipped"


def by_iteration(result: Result) -> Result:
    """A loop of N tool calls makes N + 1 calls of the model."""
    return {"cpu_ms": result["cpu_ms"] / (ITERATIONS + 1)}


async def drive(one: Callable[[], Awaitable[Any]], n: int, in_flight: int) -> Result:
    for _ in range(max(3, in_flight)):
        await one()
    left = itertools.count()

    async def lane() -> None:
        while next(left) < n:
            await one()

    with measuring() as meter:
        await asyncio.gather(*(lane() for _ in range(in_flight)))
    return {"cpu_ms": meter.cpu / n * 1000}
