"""A process that delivers webhooks until a crash point kills it: `python -m tests.webhook_scenario
DATABASE`."""

import asyncio
import sys

from deskhand.wiring import open_database, webhook_courier


async def deliver(url: str) -> None:
    async with open_database(url) as database:
        await webhook_courier(database, "desk").once()


if __name__ == "__main__":
    asyncio.run(deliver(sys.argv[1]))
