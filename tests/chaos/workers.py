"""What tests of many workers share: their processes, a load for them, and what came of it."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.engine.audit import verify_desk
from deskhand.errors import StoreUnavailable
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from tests.chaos.worker import Settings, SharedWorld, run
from tests.kit import a_message
from tests.waiting import PATIENCE

_nursery = multiprocessing.get_context("forkserver")
"""Forks workers from a process that has imported everything: seconds less for each that is
killed and replaced."""
_nursery.set_forkserver_preload(["tests.chaos.worker", "dbos"])


class WorkerProcess:
    def __init__(
        self, url: str, folder: Path, settings: Settings, readers: ThreadPoolExecutor
    ) -> None:
        told, boss = _nursery.Pipe(duplex=False)
        self._process = _nursery.Process(
            target=run, args=(url, folder, settings, boss), daemon=True
        )
        self._process.start()
        boss.close()
        self._name: Future[str] = readers.submit(told.recv)
        self._told = told

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def up(self) -> str:
        """Its name in the worker registry, once it works."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.wrap_future(self._name)

    @property
    def is_up(self) -> bool:
        return self._name.done() and self.is_alive

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    async def ended(self) -> int:
        """Its exit code."""
        await asyncio.to_thread(self._process.join, PATIENCE)
        assert self._process.exitcode is not None, "it is still there"
        return self._process.exitcode

    def remove(self) -> None:
        self._process.kill()
        self._process.join()
        with contextlib.suppress(EOFError):
            self._name.result()
        self._told.close()
        self._process.close()


class Workers:
    """Worker processes of a test; whatever still lives at the end is killed."""

    def __init__(self, url: str, folder: Path, settings: Settings | None = None) -> None:
        self._url, self._folder, self._settings = url, folder, settings or Settings()
        self._all: list[WorkerProcess] = []
        self._readers = ThreadPoolExecutor(64)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self._all:
            process.remove()
        self._readers.shutdown(wait=True)

    def start(self, **differences: Any) -> WorkerProcess:
        """Returns at once."""
        process = WorkerProcess(
            self._url, self._folder, replace(self._settings, **differences), self._readers
        )
        self._all.append(process)
        return process


def load(count: int, conversations: int) -> list[list[Message]]:
    """Messages by conversation, in order."""
    by_conversation: dict[int, list[Message]] = {}
    for number in range(count):
        lane = number % conversations
        by_conversation.setdefault(lane, []).append(a_message(number, conversation=f"c{lane}"))
    return list(by_conversation.values())


async def hand_in(
    dispatcher: DbosDispatcher, lanes: Sequence[Sequence[Message]], *, pause: float = 0.0
) -> int:
    """As mailboxes do it: in order, again until it is accepted. Tells how often it was refused."""
    refused = 0

    async def lane(messages: Sequence[Message]) -> None:
        nonlocal refused
        for message in messages:
            while True:
                with contextlib.suppress(StoreUnavailable):
                    await dispatcher.submit(message)
                    break
                refused += 1
                await asyncio.sleep(0.2)
            await asyncio.sleep(pause)

    await asyncio.gather(*map(lane, lanes))
    return refused


async def at_rest(store: PostgresStore, within: float = PATIENCE) -> None:
    """Wait until no run is queued or running.

    One statement asks for both: between two, a run that is taken back from a killed worker goes
    from one to the other and is seen by neither.
    """
    under_way = "SELECT 1 FROM runs WHERE desk=:desk AND status IN ('queued', 'running') LIMIT 1"
    async with asyncio.timeout(within):
        while True:
            with contextlib.suppress(StoreUnavailable):
                if not await store._database.ask(under_way, {"desk": store.desk}):
                    return
            await asyncio.sleep(0.1)


async def report(
    store: PostgresStore, folder: Path, lanes: Sequence[Sequence[Message]]
) -> dict[str, int]:
    """What came of it: everything zero but the runs that ended as they should."""
    total = sum(map(len, lanes))
    runs = await store.runs(limit=2 * total)
    mails = [text for kind, _, text in SharedWorld(folder).happened() if kind == "mail"]
    place = {text: index for index, text in enumerate(mails)}
    counted = Counter(mails)
    for one in runs:
        if one.status is not RunStatus.SENT:
            print(
                f"{one.id} is {one.status} after {one.crashes} crash(es): {one.error_code},"
                f" {one.reason}"
            )
    sent = [run for run in runs if run.status is RunStatus.SENT]
    out_of_order = 0
    for lane in lanes:
        for before, after in pairwise(message.id for message in lane):
            out_of_order += place.get(before, -1) > place.get(after, 1 << 60)
    return {
        "sent": len(sent),
        "other": len(runs) - len(sent),
        "lost": total - len(counted),
        "doubled": len(mails) - len(counted),
        "out_of_order": out_of_order,
        "problems": len((await verify_desk(store)).problems),
    }


def all_well(count: int) -> dict[str, int]:
    return {"sent": count, "other": 0, "lost": 0, "doubled": 0, "out_of_order": 0, "problems": 0}
