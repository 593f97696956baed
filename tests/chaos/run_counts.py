"""How many runs of a desk stand where, asked again and again at little cost."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from typing import Any

import asyncpg

from deskhand.model.run import RunStatus

Counts = Callable[[], Awaitable[Counter[RunStatus]]]
_QUERY = "SELECT status, count(*) FROM runs WHERE desk = {} GROUP BY status"


@asynccontextmanager
async def run_counts(url: str, desk: str) -> AsyncIterator[Counts]:
    """On PostgreSQL over one connection. A SQLite file is opened to read and closed each time, as
    it must be able to be replaced, and what a killed process left is for its successor to mend."""
    if "://" not in url:

        async def count_in_file() -> Counter[RunStatus]:
            with closing(sqlite3.connect(f"file:{url}?mode=ro", uri=True, timeout=60)) as file:
                rows = file.execute(_QUERY.format("?"), (desk,)).fetchall()
            return _counted(rows)

        yield count_in_file
        return
    connection = await asyncpg.connect(url)
    turn = asyncio.Lock()

    async def count_in_server() -> Counter[RunStatus]:
        async with turn:
            return _counted(await connection.fetch(_QUERY.format("$1"), desk))

    try:
        yield count_in_server
    finally:
        await connection.close()


def _counted(rows: Iterable[Sequence[Any]]) -> Counter[RunStatus]:
    return Counter({RunStatus(status): count for status, count in rows})
