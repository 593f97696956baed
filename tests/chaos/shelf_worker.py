"""A process that reserves and cancels at the pharmacy desk until all is done; it may be killed and
started again.

Its ledger is in memory, so a new process knows nothing of what an earlier one did: only the desk's
tables do.
"""

import asyncio
import random
import sys

from deskhand.wiring import open_database, own_database, read_desk
from tests.pharmacy_kit import Counter, known

WISH = {"action": "create", "drug_name": "Ibalgin 400", "pharmacy_id": "PH01"}
SIDE_BY_SIDE = 10


def cancels(number: int) -> bool:
    """Every fifth customer changes his mind."""
    return number % 5 == 0


async def serve(counter: Counter, number: int) -> None:
    who = known(f"customer{number}")
    made = await counter.ask(who, run=f"create-{number}", **WISH)
    if made.result.ok and cancels(number):
        await counter.ask(who, run=f"cancel-{number}", action="cancel", drug_name="Ibalgin 400")
    print(number, flush=True)


async def main(url: str, seed: int, customers: int) -> None:
    loaded = read_desk("pharmacy")
    order = list(range(customers))
    random.Random(seed).shuffle(order)
    places = asyncio.Semaphore(SIDE_BY_SIDE)
    async with open_database(url) as database:
        counter = Counter(loaded, own_database(database, "pharmacy"))

        async def one(number: int) -> None:
            async with places:
                await serve(counter, number)

        await asyncio.gather(*(one(number) for number in order))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
