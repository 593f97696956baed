"""This process as one of a database's workers: heartbeat, housekeeping, joining and leaving."""

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from deskhand.adapters.dispatch.dbos_queue import (
    Executor,
    Left,
    QueuedRun,
    Queues,
    QueueSettings,
    queue_of,
)
from deskhand.adapters.dispatch.worker_registry import SilenceWatch, WorkerRegistry
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.engine.background import was_cancelled
from deskhand.errors import Fenced, StoreUnavailable

log = logging.getLogger("deskhand.workers")

LOOKS = 10
"""The fewest heartbeats, and looks at those of others, in one lease."""
LONGEST_REST = 1.0
"""The most seconds between two of them: a look that comes late makes the lease longer."""
HAND_BACK_SECONDS = 5.0
BATCH = 100


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    in_flight: int = 32
    """Runs at work in one worker, each desk; 0 takes messages in and works none."""
    everywhere: int | None = None
    """Runs at work on all workers together, each desk; costs throughput, see QueueSettings."""
    backlog: int = 10_000
    """Queued on a desk; at this many, intake waits."""
    lease: float = 10.0
    """A worker silent for so long is taken for dead, and its runs are taken up by others."""
    sweep: float = 1.0
    """Seconds between looks for runs that nobody handed to the queue: after a decision, or a
    crash in between."""
    poll: float = 0.1
    """Seconds between looks of an idle worker at its queue."""
    keep: float = 3600.0
    """Seconds for which DBOS remembers a workflow that ended."""


MakeSure = Callable[[list[QueuedRun]], Awaitable[int | None]]
"""Sees that runs are on the queue; returns how many were not, None while another worker looks."""


class WorkersDesk(Protocol):
    """A desk's dispatcher, as far as its worker process needs it."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> Sequence[tuple[str, str]]:
        """The desk's flows with the version of each."""
        ...

    async def attend(self, run_id: str) -> None:
        """Return when the run is at rest."""
        ...

    async def sweep(self, make_sure: MakeSure, time_now: float) -> None:
        """See that every queued run of the desk is on the queue."""
        ...

    def not_handed_in(self, run_id: str) -> None:
        """The queue did not take this run."""
        ...


class WorkerProcess:
    """One a process, for the named desks.

    It starts with the last of their dispatchers and stops with the first. The queues' settings lie
    in the database: those of the worker that started last hold for all.
    """

    def __init__(
        self,
        database: PostgresDatabase,
        worker_id: str,
        desks: Sequence[str],
        limits: WorkerLimits | None = None,
    ) -> None:
        self.limits = limits or WorkerLimits()
        self.worker_id = worker_id
        """Our name in the worker registry and the owner of our runs; a new one at every start."""
        self.suspects = asyncio.Lock()
        """Held while a run is worked that may have caused crashes."""
        self.nudge = asyncio.Event()
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Fails with Fenced when the others took us for dead."""
        self.open = False
        self.desks: dict[str, WorkersDesk] = {}
        self._named = tuple(desks)
        self._database = database
        self._aside = PostgresDatabase(database.url)
        """Connections of our own: a heartbeat must not wait for those that the runs share."""
        self._registry = WorkerRegistry(self._aside, database.name)
        self._queues = Queues(database.url)
        self._executor: Executor | None = None
        self._loop = asyncio.get_running_loop()
        self._attending: set[asyncio.Task[None]] = set()
        self._handed_in: list[QueuedRun] = []
        self._tickets = asyncio.Event()
        self._keepers: list[asyncio.Task[None]] = []
        self._joined = 0
        self._leaving: asyncio.Task[None] | None = None

    # --- life

    async def join(self) -> None:
        """Called by each desk's dispatcher; the last call starts the work."""
        self._joined += 1
        if self._joined < len(self._named):
            return
        assert sorted(self.desks) == sorted(self._named)
        if self.limits.in_flight:
            await self._take_up_work()
        else:
            await self._prepare_queues()
        self.open = True
        keepers: list[Callable[[], Awaitable[None]]] = [self._keep_handing_in, self._keep_sweeping]
        if self.limits.in_flight:
            keepers += [self._keep_beating, self._keep_house]
        self._keepers = [asyncio.create_task(self._forever(keeper)) for keeper in keepers]

    async def leave(self, grace: float) -> None:
        """Stop all desks, whichever asks first; returns when all work is put down."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave(grace))
        await asyncio.shield(self._leaving)

    async def _leave(self, grace: float) -> None:
        self.open = False
        if self._executor is not None:
            await self._put_down_work(self._executor, grace)
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        if self._executor is not None:
            with contextlib.suppress(StoreUnavailable):
                await self._sign_off()
        await asyncio.to_thread(self._queues.close)
        await self._aside.close()
        self.lost.cancel()

    async def _prepare_queues(self) -> None:
        try:
            await asyncio.to_thread(self._queues.prepare)
        except Exception as error:
            raise StoreUnavailable(
                f"the queue cannot be prepared on {self._database.name}: {_first(error)}"
            ) from error

    async def _take_up_work(self) -> None:
        versions = {
            f"{name}/{flow}": version
            for name, desk in self.desks.items()
            for flow, version in desk.versions
        }
        await self._registry.sign_on(
            self.worker_id, list(self.desks), versions, 3 * self.limits.lease
        )
        self._executor = Executor(self._database.url, self.worker_id, self._work)
        settings = QueueSettings(self.limits.in_flight, self.limits.everywhere, self.limits.poll)
        try:
            await asyncio.to_thread(self._executor.launch, list(self.desks), settings)
        except Exception as error:
            await self._registry.sign_off(self.worker_id, list(self.desks))
            raise StoreUnavailable(
                f"DBOS cannot start on {self._database.name}: {error}"
            ) from error

    async def _put_down_work(self, executor: Executor, grace: float) -> None:
        """Take nothing more; what is not at rest after the grace is let go of."""
        patience = grace + HAND_BACK_SECONDS if self._attending else 0
        destroying = asyncio.create_task(asyncio.to_thread(executor.destroy, patience))
        if self._attending and not self.lost.done():
            await asyncio.wait(self._attending, timeout=grace)
        for task in self._attending:
            task.cancel()
        await destroying
        if self._attending:
            await asyncio.wait(self._attending)

    async def _sign_off(self) -> None:
        """Put our workflows back on the queue and sign off; their runs are queued again by now."""
        try:
            taken = await asyncio.to_thread(self._queues.taken, self._queue_names())
            ours = [workflow for workflow in taken if workflow.worker == self.worker_id]
            await asyncio.to_thread(self._queues.hand_back, ours)
        except Exception as error:
            log.warning("others will notice what this worker could not hand back: %s", error)
            return
        await self._registry.sign_off(self.worker_id, list(self.desks))

    # --- working

    def _work(self, desk: str, run_id: str) -> None:
        """Called in a thread of DBOS: have our event loop attend to the run, and wait for it."""
        try:
            attended = asyncio.run_coroutine_threadsafe(self._attend(desk, run_id), self._loop)
            attended.result()
        except (concurrent.futures.CancelledError, RuntimeError):
            raise Left(run_id) from None

    async def _attend(self, desk: str, run_id: str) -> None:
        # work may come before we are open: what we leave stays ours
        if self._leaving is not None or self.lost.done():
            raise asyncio.CancelledError
        task = asyncio.current_task()
        assert task is not None
        self._attending.add(task)
        try:
            await self.desks[desk].attend(run_id)
        finally:
            self._attending.discard(task)

    # --- handing in

    def hand_in(self, ticket: QueuedRun) -> None:
        """Put a run on the queue soon; should we die before, a sweep finds it."""
        self._handed_in.append(ticket)
        self._tickets.set()

    async def _keep_handing_in(self) -> None:
        await self._tickets.wait()
        tickets = self._handed_in[:BATCH]
        self._handed_in = self._handed_in[BATCH:]
        if not self._handed_in:
            self._tickets.clear()
        try:
            await asyncio.to_thread(self._queues.hand_in, tickets)
        except Exception as error:
            for ticket in tickets:
                self.desks[ticket.desk].not_handed_in(ticket.run_id)
            log.warning(
                "%d run(s) wait for a sweep, the queue did not take them: %s",
                len(tickets),
                _first(error),
            )

    async def _keep_sweeping(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.sweep):
                await self.nudge.wait()
        self.nudge.clear()
        for desk in self.desks.values():
            try:
                await desk.sweep(self._make_sure, await self._registry.time())
            except Exception as error:
                log.warning("cannot look for queued runs of %s: %s", desk.name, _first(error))

    async def _make_sure(self, tickets: list[QueuedRun]) -> int | None:
        return await asyncio.to_thread(self._queues.make_sure, tickets)

    # --- keeping watch

    async def _keep_beating(self) -> None:
        """Beat, look who else does, and strike off who fell silent."""
        looks = max(LOOKS, ceil(self.limits.lease / LONGEST_REST))
        pause = self.limits.lease / looks
        watch = SilenceWatch(looks)
        database_away = False
        due = self._loop.time()
        while True:
            due = max(due + pause, self._loop.time())
            await asyncio.sleep(due - self._loop.time())
            try:
                await self._beat(watch)
                database_away = False
            except StoreUnavailable as error:
                if not database_away:
                    log.warning("no heartbeat while the database is away: %s", error)
                database_away = True
            except Fenced as error:
                self._lose(error)
                return

    async def _beat(self, watch: SilenceWatch) -> None:
        beats = await self._registry.beat(
            self.worker_id, list(self.desks), len(self._attending), 3 * self.limits.lease
        )
        silent = watch.look(beats)
        silent.pop(self.worker_id, None)
        if silent and (struck := await self._registry.strike_off(silent)):
            log.warning("worker(s) %s fell silent; taking up their runs", ", ".join(struck))
            await self._take_back()

    async def _keep_house(self) -> None:
        """Clean up what crashes left behind: runs and workflows of lost workers, old records."""
        await asyncio.sleep(self.limits.lease)
        try:
            await self._take_back()
            before = await self._registry.time() - self.limits.keep
            await asyncio.to_thread(self._queues.forget, self._queue_names(), before)
        except Exception as error:
            log.warning("cannot look for what was left behind: %s", _first(error))

    async def _take_back(self) -> None:
        """Queue the runs of workers that are no longer registered, and their workflows.

        Doing it twice is harmless.
        """
        recovered = await self._registry.recover(list(self.desks))
        taken = await asyncio.to_thread(self._queues.taken, self._queue_names())
        alive = await self._registry.ids()
        orphans = [workflow for workflow in taken if workflow.worker not in alive]
        if orphans:
            await asyncio.to_thread(self._queues.hand_back, orphans)
        if recovered or orphans:
            log.warning("taken back: %d run(s), %d workflow(s)", recovered, len(orphans))

    async def _forever(self, keeper: Callable[[], Awaitable[None]]) -> None:
        while not self.lost.done() and not was_cancelled():
            try:
                await keeper()
            except Exception:
                log.exception("a keeper failed; it goes on")
                await asyncio.sleep(0 if was_cancelled() else 1)

    def _lose(self, error: Fenced) -> None:
        self.open = False
        for task in self._attending:
            task.cancel()
        if not self.lost.done():
            self.lost.set_exception(error)

    def _queue_names(self) -> list[str]:
        return [queue_of(desk) for desk in self.desks]


def _first(error: Exception) -> str:
    """The first line: SQLAlchemy's errors quote whole statements."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
