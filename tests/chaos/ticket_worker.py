"""A process that brings messages to their tickets when it is told to: `python -m
tests.chaos.ticket_worker URL NAME`. It reads the number of a matter from each line, places its own
message about it, and answers with the ticket."""

import asyncio
import sys

from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from tests.tickets_kit import accepted, mail, placing_of, tickets_of


async def main(url: str, name: str) -> None:
    database = await PostgresDatabase.open(url)
    store = PostgresStore(database, "desk", None)
    placing = placing_of(tickets_of(store))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        order = 70_000 + int(line)
        message = mail(
            f"{line}-{name}",
            f"Where is order {order}?",
            address=f"c{line}@example.com",
            conversation=f"{name}-{line}",
        )
        placed = await placing.place(await accepted(store, message), message)
        sys.stdout.write(f"{placed.ticket_id}\n")
        sys.stdout.flush()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
