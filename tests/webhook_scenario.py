"""A process that delivers webhooks until a crash point kills it (`tests/forked.py`)."""

from deskhand.wiring import open_database, webhook_courier


async def main(url: str) -> None:
    async with open_database(url) as database:
        await webhook_courier(database, "desk").once()
