"""The DBOS dispatcher of one desk: any worker works its messages, in order by conversation."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from deskhand.adapters.dispatch.dbos_queue import QueuedRun
from deskhand.adapters.dispatch.worker_process import MakeSure, WorkerProcess
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.crashpoints import crash_point
from deskhand.engine.background import Background, was_cancelled
from deskhand.engine.dispatcher import SUSPECT_AFTER
from deskhand.errors import Fenced, NotFound, StoreUnavailable
from deskhand.model.message import Message
from deskhand.model.run import Accepted, Run, RunStatus

log = logging.getLogger("deskhand.dispatch")

PAGE, BATCH = 500, 100
RETRY_AFTER = 1.0
LOOK_AGAIN = 0.2
VERIFIED_FOR = 30.0
"""Seconds for which a sweep trusts that a queued run it has seen on the queue is still there."""
VERIFIED_AFTER_WAIT = 2.0
"""The same for a run that waited for a model: what was seen may be the pass that put it down."""
NEW = 0.0


class DbosDispatcher:
    """Accepting writes a row to the store; the queue hears of it afterwards.

    The store sets right what the queue loses or doubles.
    """

    def __init__(
        self,
        worker_process: WorkerProcess,
        store: PostgresStore,
        work: Callable[[str], Awaitable[RunStatus | None]],
        flow_for: Callable[[Message], str],
        versions: Mapping[str, str],
        *,
        routed: Callable[[Message], Awaitable[Message]] | None = None,
    ) -> None:
        assert store.owner == worker_process.worker_id, (
            "a worker's runs are owned under its name in the worker registry"
        )
        self.name = store.desk
        self.versions = sorted(versions.items())
        self.lost = worker_process.lost
        self._process = worker_process
        self._store = store
        self._work = work
        self._flow_for = flow_for
        self._routed = routed
        self._at_work: set[str] = set()
        self._waiters: dict[str, list[asyncio.Future[RunStatus]]] = {}
        self._waiting = asyncio.Event()
        self._watching = Background(
            self._watch,
            name=f"runs awaited on {store.desk}",
            failed="those who wait for runs wait on",
            log=log,
        )
        self._verified: dict[tuple[str, float], float] = {}
        """When we last knew a run on the queue, by the run and the time it was queued again."""
        self._seen: set[tuple[str, float]] = set()
        self._swept = 0
        self._backlog = self._entering = 0
        self._accepting = True
        self._room = asyncio.Event()
        self._room.set()
        store.among_many(SUSPECT_AFTER)
        worker_process.desks[store.desk] = self

    async def start(self) -> None:
        await self._process.join()
        self._watching.start()

    async def stop(self, *, grace: float = 10.0) -> None:
        """Close intake, let what runs here come to rest for `grace` seconds, hand the rest to
        the other workers."""
        self._accepting = False
        self._room.set()
        await self._process.leave(grace)
        await self._watching.stop()
        for future in [future for waiting in self._waiters.values() for future in waiting]:
            future.cancel()

    # --- intake

    async def submit(self, message: Message) -> Accepted:
        """Durable when it returns; StoreUnavailable while the database is away."""
        while not self._room.is_set():
            await self._room.wait()
        if not self._is_open:
            raise StoreUnavailable("the desk is shutting down; hand the message in again later")
        self._count(entering=1)
        try:
            if self._routed is not None:
                message = await self._routed(message)
            crash_point("dispatch.before_accept")
            accepted = await self._store.accept(message, flow=self._flow_for(message))
            crash_point("dispatch.after_accept")
        finally:
            self._count(entering=-1)
        if not accepted.duplicate:
            self._count(queued=self._backlog + 1)
            self._verified[accepted.run_id, NEW] = time.monotonic()
            self._process.hand_in(QueuedRun(accepted.run_id, self.name, message.conversation))
        return accepted

    @property
    def full(self) -> bool:
        """Whether handing in a message would have to wait; counted anew with every sweep."""
        return self._backlog + self._entering >= self._process.limits.backlog

    @property
    def _is_open(self) -> bool:
        return self._accepting and self._process.open

    def _count(self, *, queued: int | None = None, entering: int = 0) -> None:
        self._backlog = self._backlog if queued is None else queued
        self._entering += entering
        if self.full and self._is_open:
            self._room.clear()
        else:
            self._room.set()

    async def wait(self, run_id: str) -> RunStatus:
        """The status in which the run comes to rest; NotFound where the desk has no such run."""
        future: asyncio.Future[RunStatus] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(run_id, []).append(future)
        self._waiting.set()
        return await future

    def wake(self) -> None:
        """Look at once for runs that somebody queued."""
        self._process.nudge.set()

    # --- a run that the queue gave us

    async def attend(self, run_id: str) -> None:
        """Return when the run is at rest, or waits for a model; its conversation is ours until
        then."""
        while not was_cancelled():
            try:
                if (status := await self._work_alone(run_id)) is not None:
                    return self._tell(run_id, status)
                active = await self._store.ahead(run_id)
                if not active or active[-1].id != run_id:
                    return
                if _waits(active[0]):
                    self._verified.pop(_pass_of(active[-1]), None)
                    return
                await self._make_way(active[0])
            except Fenced:
                log.warning("run %s is not ours any more; leaving it alone", run_id)
            except StoreUnavailable as error:
                log.warning("run %s waits for the database: %s", run_id, error)
                await asyncio.sleep(RETRY_AFTER)
            except Exception:
                log.exception("run %s could not be put down; trying again", run_id)
                await asyncio.sleep(RETRY_AFTER)

    async def _make_way(self, first: Run) -> None:
        """Work the conversation's first active run, which ours waits for; one that may have
        caused crashes is worked alone."""
        if first.status is RunStatus.RUNNING and not self._was_left_here(first):
            await asyncio.sleep(LOOK_AGAIN)
        elif first.crashes < SUSPECT_AFTER:
            await self._work_and_tell(first.id)
        else:
            async with self._process.suspects:
                with self._store.admitting(first.id):
                    await self._work_and_tell(first.id)

    def _was_left_here(self, run: Run) -> bool:
        """Whether an attempt of ours left the run running because the database was away."""
        return run.owner == self._store.owner and run.id not in self._at_work

    async def _work_and_tell(self, run_id: str) -> None:
        if (status := await self._work_alone(run_id)) is not None:
            self._tell(run_id, status)

    async def _work_alone(self, run_id: str) -> RunStatus | None:
        """Work a run unless it is at work here already: the queue may give us the same twice."""
        if run_id in self._at_work:
            await asyncio.sleep(LOOK_AGAIN)
            return None
        self._at_work.add(run_id)
        try:
            return await self._work(run_id)
        except asyncio.CancelledError:
            await self._let_go(run_id)
            raise
        finally:
            self._at_work.discard(run_id)

    async def _let_go(self, run_id: str) -> None:
        """Queue the run again, without a crash; should that fail, others see that we are gone."""
        if self._process.lost.done():
            return
        try:
            await asyncio.shield(self._store.release(run_id))
        except (StoreUnavailable, Fenced) as error:
            log.warning("run %s could not be handed back: %s", run_id, error)

    # --- what others did

    async def sweep(self, make_sure: MakeSure, time_now: float) -> None:
        """See that every queued run is on the queue: the oldest every time, the others by pages.

        A new run counts only when it is seen again: whoever accepted it is about to hand it in.
        """
        await self._store.expire_reviews(time_now)
        now = time.monotonic()
        self._verified = {run: at for run, at in self._verified.items() if now - at < VERIFIED_FOR}
        runs = {_pass_of(run): run for run in await self._queued(time_now)}
        seen, self._seen = self._seen, set(runs)
        doubtful = [
            (queued_pass, run)
            for queued_pass, run in runs.items()
            if queued_pass not in self._verified and (queued_pass[1] != NEW or queued_pass in seen)
        ]
        for start in range(0, len(doubtful), BATCH):
            batch = doubtful[start : start + BATCH]
            tickets = [QueuedRun(run.id, self.name, run.conversation) for _, run in batch]
            missing = await make_sure(tickets)
            if missing is None:
                return
            for queued_pass, run in batch:
                self._verified[queued_pass] = _seen_at(run, now)
            if missing:
                log.info("%d run(s) of %s were not on the queue; they are now", missing, self.name)

    async def _queued(self, now: float) -> list[Run]:
        """The oldest page, and one page of the others; each sweep goes on where this one ends.

        Runs that wait for a model are left out, and those behind them.
        """
        oldest = await self._store.queued(limit=PAGE, ready_at=now)
        further: list[Run] = []
        if oldest:
            after = max(self._swept, oldest[-1].position)
            further = await self._store.queued(after=after, limit=PAGE, ready_at=now)
        self._swept = further[-1].position if len(further) == PAGE else 0
        if len(oldest) < PAGE:
            self._count(queued=len(oldest))
        else:
            self._count(queued=await self._store.backlog())
        return [*oldest, *further]

    def not_handed_in(self, run_id: str) -> None:
        """The queue did not take it: leave it to the next sweep."""
        self._verified.pop((run_id, NEW), None)

    async def _watch(self) -> None:
        """Tell those who wait of runs that came to rest elsewhere."""
        await self._waiting.wait()
        waited_for = list(self._waiters)
        self._tell_all(waited_for, await self._store.statuses(waited_for))
        await asyncio.sleep(LOOK_AGAIN)
        if not self._waiters:
            self._waiting.clear()

    def _tell_all(self, waited_for: list[str], statuses: Mapping[str, RunStatus]) -> None:
        for run_id in waited_for:
            status = statuses.get(run_id)
            if status is None:
                for future in self._waiters.pop(run_id, ()):
                    future.set_exception(NotFound(f"there is no run {run_id} on desk {self.name}"))
            elif not status.is_active:
                self._tell(run_id, status)

    def _tell(self, run_id: str, status: RunStatus) -> None:
        if status.is_active:
            return
        for future in self._waiters.pop(run_id, ()):
            if not future.done():
                future.set_result(status)


def _waits(run: Run) -> bool:
    """Whether it waits for a model, and everything behind it in its conversation as well."""
    return run.due_at is not None and run.due_at > time.time()


def _seen_at(run: Run, now: float) -> float:
    """When a run counts as seen on the queue."""
    return now if run.due_at is None else now - VERIFIED_FOR + VERIFIED_AFTER_WAIT


def _pass_of(run: Run) -> tuple[str, float]:
    """A run queued again is another pass than the one before."""
    return run.id, NEW if run.flow_version is None else run.updated_at
