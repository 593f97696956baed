"""How tests wait: for a state that is certain to come, never for time to pass."""

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE = 300.0
"""Seconds after which a wait has failed. A ceiling alone: it costs nothing where all is well, and
is high enough for a machine that does much else."""


async def until(
    holds: Callable[[], bool] | Callable[[], Awaitable[bool]], within: float = PATIENCE
) -> None:
    """Wait for something to become true; TimeoutError when it does not."""
    async with asyncio.timeout(within):
        while True:
            answer = holds()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.02)
