"""The in-process dispatcher: works every accepted message once, in order within a conversation."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from deskhand.crashpoints import crash_point
from deskhand.engine.background import Background, was_cancelled
from deskhand.errors import AlreadyServed, Fenced, NotFound, StoreUnavailable
from deskhand.model.message import Message
from deskhand.model.run import Accepted, RunStatus
from deskhand.ports import Clock, Lease, Store

log = logging.getLogger("deskhand.dispatch")

SUSPECT_AFTER = 3
"""From this many crashes on, a run is worked alone among its like: one poisonous run must not
ruin its neighbours."""
PAGE = 500
RETRY_AFTER = 2.0
LOOKS_AT_LEASE = 30
"""How often, in the length of a lease, to look whether somebody else's is still renewed."""


class LeasedStore(Store, Lease, Protocol): ...


@dataclass(frozen=True, slots=True)
class DispatchLimits:
    in_flight: int = 64
    backlog: int = 10_000
    """Accepted and not yet at rest; at this many, intake waits."""
    lease: float = 15.0
    sweep: float = 1.0
    """Seconds between looks for runs that others queued: a decision made in another process,
    say."""


class InProcessDispatcher:
    """Works a bounded number of runs at once, one of a conversation at a time.

    It keeps nothing that is not in the store.
    """

    def __init__(
        self,
        store: LeasedStore,
        work: Callable[[str], Awaitable[RunStatus | None]],
        flow_for: Callable[[Message], str],
        clock: Clock,
        limits: DispatchLimits | None = None,
        *,
        routed: Callable[[Message], Awaitable[Message]] | None = None,
    ) -> None:
        self._store = store
        self._work = work
        self._flow_for = flow_for
        self._clock = clock
        self._routed = routed
        self._limits = limits or DispatchLimits()
        self._lanes: dict[str, deque[str]] = {}
        """Runs by conversation, in order of acceptance; the first of a lane may be at work."""
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        """Conversations whose first run may be worked."""
        self._known: dict[str, int] = {}
        """Every run in a lane, with the crashes it caused or saw."""
        self._sleeping: dict[str, str] = {}
        """Runs that wait for a model, each with its conversation, whose first it may be."""
        self._working: set[str] = set()
        self._waiters: dict[str, list[asyncio.Future[RunStatus]]] = {}
        self._changed = asyncio.Condition()
        self._suspects: asyncio.Queue[str] = asyncio.Queue()
        """Conversations whose first run was in flight in too many crashes: worked by one task,
        one after the other."""
        self._tasks: list[asyncio.Task[None]] = []
        self._sweeping = Background(
            self._sweep,
            name=f"sweep of {store.desk}",
            failed="cannot look for queued runs",
            log=log,
            every=self._limits.sweep,
        )
        self._caught_up = False
        self._loaded = 0
        """The position up to which the runs found at the start were admitted."""
        self._passed_by = 0
        """Runs accepted before we had caught up, left for the loading to find in their order."""
        self._entering = 0
        self._open = False
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Fails with Fenced when another process took the database over."""

    # --- life

    async def start(self) -> None:
        """Take the lease, take up every unfinished run, open for intake.

        Raises AlreadyServed when another process renews its lease.
        """
        await self._take_lease()
        recovered = await self._store.recover()
        if recovered:
            log.warning("taking up %d run(s) that an earlier process left unfinished", recovered)
        self._open = True
        await self._load()
        self._tasks = [
            asyncio.create_task(self._serve(self._ready)) for _ in range(self._limits.in_flight)
        ]
        self._tasks += [asyncio.create_task(self._serve(self._suspects))]
        self._tasks += [asyncio.create_task(self._keep_lease())]
        self._sweeping.start()

    async def stop(self, *, grace: float = 10.0) -> None:
        """Close intake, give runs `grace` seconds to come to rest, hand the others back."""
        self._open = False
        await self._announce()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace), self._changed:
                await self._changed.wait_for(lambda: not self._working)
        await self._sweeping.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(StoreUnavailable, Fenced):
            for run_id in self._working:
                await self._store.release(run_id)
            await self._store.give_up()
        for future in [future for waiting in self._waiters.values() for future in waiting]:
            future.cancel()
        self.lost.cancel()

    async def _take_lease(self) -> None:
        """A lease that nobody renews is left to end: its holder may have been killed."""
        first: float | None = None
        while True:
            try:
                return await self._store.acquire(self._limits.lease)
            except AlreadyServed as error:
                if error.until is None or error.until != (first or error.until):
                    raise
                if first is None:
                    log.warning("waiting whether that process is still there: %s", error)
                first = error.until
            await self._clock.sleep(self._limits.lease / LOOKS_AT_LEASE)

    # --- intake

    async def submit(self, message: Message) -> Accepted:
        """Durable when it returns; waits while the backlog is full.

        A caller who gives up half-way may have handed the message in: then it is worked, in its
        place.
        """
        entering = asyncio.create_task(self._enter(message))
        entering.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(entering)

    async def _enter(self, message: Message) -> Accepted:
        if self._routed is not None:
            message = await self._routed(message)
        async with self._changed:
            await self._changed.wait_for(lambda: not (self.full and self._open))
            self._entering += 1
        before = len(self._known) + self._passed_by
        try:
            if not self._open:
                raise StoreUnavailable("the desk is shutting down; hand the message in again later")
            crash_point("dispatch.before_accept")
            accepted = await self._store.accept(message, flow=self._flow_for(message))
            crash_point("dispatch.after_accept")
            if not accepted.duplicate:
                if self._caught_up:
                    self._admit(accepted.run_id, message.conversation)
                else:
                    self._passed_by += 1
            return accepted
        finally:
            self._entering -= 1
            is_free_again = len(self._known) + self._passed_by <= before
            if is_free_again:
                await self._announce()

    @property
    def full(self) -> bool:
        """Whether handing in a message would have to wait."""
        return len(self._known) + self._passed_by + self._entering >= self._limits.backlog

    async def wait(self, run_id: str) -> RunStatus:
        future: asyncio.Future[RunStatus] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(run_id, []).append(future)
        try:
            if run_id not in self._known:
                status = (await self._store.run(run_id)).status
                if not status.is_active:
                    self._tell(run_id, status)
            return await future
        finally:
            self._forget(run_id, future)

    def wake(self) -> None:
        """Look at once for runs that somebody queued."""
        self._sweeping.nudge()

    # --- lanes

    def _admit(
        self, run_id: str, conversation: str, crashes: int = 0, due_at: float | None = None
    ) -> None:
        if run_id in self._known:
            return
        self._known[run_id] = crashes
        if due_at is not None and due_at > self._clock.now():
            self._sleeping[run_id] = conversation
        lane = self._lanes.setdefault(conversation, deque())
        lane.append(run_id)
        if len(lane) == 1:
            self._offer(conversation)

    def _offer(self, conversation: str) -> None:
        """Have the conversation's first run worked, unless it waits for a model."""
        first = self._lanes[conversation][0]
        if first in self._sleeping:
            return
        suspect = self._known[first] >= SUSPECT_AFTER
        (self._suspects if suspect else self._ready).put_nowait(conversation)

    async def _serve(self, offered: "asyncio.Queue[str]") -> None:
        while True:
            conversation = await offered.get()
            if not self._open:
                continue
            lane = self._lanes[conversation]
            run_id = lane[0]
            self._working.add(run_id)
            status = await self._work_one(run_id)
            self._working.discard(run_id)
            if status is RunStatus.QUEUED:
                self._sleeping[run_id] = conversation
                await self._announce()
                continue
            lane.popleft()
            self._known.pop(run_id, None)
            if lane:
                self._offer(conversation)
            else:
                del self._lanes[conversation]
            await self._tell_rest(run_id, status)
            await self._announce()

    async def _work_one(self, run_id: str) -> RunStatus | None:
        """Work until the run is at rest; while the database is away the run waits here."""
        while True:
            try:
                return await self._work(run_id)
            except Fenced:
                if not await self._is_still_ours(run_id):
                    log.warning("run %s is worked elsewhere; leaving it alone", run_id)
                    return None
                log.warning(
                    "run %s: a write arrived after all that seemed lost; reading its rows again",
                    run_id,
                )
            except StoreUnavailable as error:
                log.error("run %s waits for the database: %s", run_id, error)
            except Exception:
                log.exception("run %s could not be put down; trying again", run_id)
            if was_cancelled():
                raise asyncio.CancelledError
            await self._clock.sleep(RETRY_AFTER)

    async def _is_still_ours(self, run_id: str) -> bool:
        """Whether the fence was our own row, committed although the database said otherwise."""
        try:
            run = await self._store.run(run_id)
        except StoreUnavailable:
            return True
        return run.status is RunStatus.RUNNING and run.owner == self._store.owner

    async def _tell_rest(self, run_id: str, status: RunStatus | None) -> None:
        """Those who wait hear of a run that others ended (cancelled it, say), too."""
        if status is None and run_id in self._waiters:
            with contextlib.suppress(StoreUnavailable, NotFound):
                stored = (await self._store.run(run_id)).status
                status = None if stored.is_active else stored
        if status is not None:
            self._tell(run_id, status)

    def _tell(self, run_id: str, status: RunStatus) -> None:
        for future in self._waiters.pop(run_id, ()):
            if not future.done():
                future.set_result(status)

    def _forget(self, run_id: str, future: "asyncio.Future[RunStatus]") -> None:
        waiting = self._waiters.get(run_id, [])
        if future in waiting:
            waiting.remove(future)
        if not waiting:
            self._waiters.pop(run_id, None)

    async def _announce(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # --- what the store knows and we do not

    async def _load(self) -> None:
        """Admit queued runs in order of acceptance, as far as there is room.

        Meanwhile `submit` leaves its own runs to this.
        """
        while len(self._known) < self._limits.backlog:
            passed_by = self._passed_by
            page = await self._store.queued(after=self._loaded, limit=PAGE)
            for run in page:
                self._admit(run.id, run.conversation, run.crashes, run.due_at)
                self._loaded = run.position
            if len(page) < PAGE and passed_by == self._passed_by:
                self._caught_up = True
                self._passed_by = 0
                return

    async def _look(self) -> None:
        """Admit what others queued, such as runs that a person decided in another process."""
        for run in await self._store.queued(limit=2 * PAGE, ready_at=self._clock.now()):
            self._admit(run.id, run.conversation, run.crashes)

    async def _sweep(self) -> None:
        await self._store.expire_reviews(self._clock.now())
        await self._wake_sleeping()
        if not self._caught_up:
            await self._load()
        elif len(self._known) - len(self._sleeping) < PAGE:
            await self._look()

    async def _wake_sleeping(self) -> None:
        """Offer the runs whose wait is over: their time has come, or somebody cancelled them."""
        sleeping = list(self._sleeping.items())
        if not sleeping:
            return
        waiting = await self._store.waiting(self._clock.now())
        for run_id, conversation in sleeping:
            if run_id in waiting:
                continue
            del self._sleeping[run_id]
            if self._lanes[conversation][0] == run_id:
                self._offer(conversation)

    async def _keep_lease(self) -> None:
        while True:
            await self._clock.sleep(self._limits.lease / 3)
            try:
                await self._store.renew(self._limits.lease)
            except StoreUnavailable as error:
                log.error("cannot renew the lease: %s", error)
            except Fenced as error:
                self._open = False
                if not self.lost.done():
                    self.lost.set_exception(error)
                return
            except Exception:
                log.exception("cannot renew the lease; trying again")
