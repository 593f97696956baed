"""A worker for tests that kill, stop and wake it, or turn its clock. Its desk thinks, writes and
sends.

What it does in the world, thinking and sending mail, goes into a file that only grows.
"""

import asyncio
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through
from deskhand.cli.service_process import keep_memory_compact, keep_what_was_started
from deskhand.engine.clock import SystemClock
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.errors import StoreUnavailable
from deskhand.model.envelope import Envelope
from deskhand.model.ids import new_id
from deskhand.model.message import Reply
from deskhand.model.spec import AgentSpec
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry
from tests.crash_scenario import ForgetfulMail, World
from tests.kit import a_flow

DESK = "load"
LOST = 3
"""How a worker ends that the others took for dead."""


@dataclass(frozen=True)
class Settings:
    lease: float = 2.0
    in_flight: int = 16
    everywhere: int | None = None
    backlog: int = 10_000
    poll: float = 0.1
    think: float = 0.02
    """Seconds, give or take half."""
    version: str = "v1"
    """Of the flow."""
    clock_errors: tuple[float, ...] = ()
    """By how much its clock is wrong, a new one of these every half second."""

    def limits(self) -> WorkerLimits:
        return WorkerLimits(
            self.in_flight, self.everywhere, self.backlog, self.lease, poll=self.poll
        )


INTAKE = Settings(in_flight=0)


class SharedWorld(World):
    """Written to by several processes at once; a killed process loses nothing that it wrote."""

    def act(self, kind: str, key: str, text: str, *, dedupe: bool = False) -> None:
        with self._file.open("a") as file:
            file.write(f"{kind}\t{key}\t{text}\n")


def close_gate(folder: Path) -> Path:
    """Nobody comes to the end of his thoughts until this file is gone."""
    gate = folder / "gate"
    gate.touch()
    return gate


def flow_of(gate: Gate, folder: Path, settings: Settings) -> Flow:
    world, closed = SharedWorld(folder), folder / "gate"

    async def think(env: Envelope, ctx: Any, settings_: Any) -> dict[str, Any]:
        world.act("thinks", env.run_id, "")
        await asyncio.sleep(random.uniform(0.5, 1.5) * settings.think)
        while closed.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        world.act("thought", env.run_id, "")
        return {"words": "".join(random.choices(ascii_lowercase, k=12))}

    async def write(env: Envelope, ctx: Any, settings_: Any) -> dict[str, Any]:
        assert env.message is not None
        return Reply.to_message(env.message, env.outputs["think"]["words"]).model_dump(mode="json")

    stages = {
        "think": AgentSpec(name="think", service="think", output_key="think", default_next="write"),
        "write": AgentSpec(name="write", service="write", output_key="reply", default_next="send"),
        "send": AgentSpec(name="send", service="dispatch", output_key="send"),
    }
    services = {"think": think, "write": write, "dispatch": dispatch_through(gate)}
    return a_flow(stages, Parts(tools=gate, services=services), version=settings.version)


@asynccontextmanager
async def member(url: str, folder: Path, settings: Settings) -> AsyncIterator[DbosDispatcher]:
    """One worker, or with nothing in flight a process that only takes messages in."""
    database, clock = await PostgresDatabase.open(url), SystemClock()
    store = PostgresStore(database, DESK, new_id("own"), clock.now)
    gate = Gate(ToolRegistry([delivery_tool(ForgetfulMail(SharedWorld(folder)))]), store, desk=DESK)
    worker = Worker(store, {"flow": flow_of(gate, folder, settings)}, clock)
    worker_process = WorkerProcess(database, store.owner, [DESK], settings.limits())
    dispatcher = DbosDispatcher(
        worker_process, store, worker.work, lambda message: "flow", {"flow": settings.version}
    )
    try:
        await dispatcher.start()
        yield dispatcher
    finally:
        await dispatcher.stop(grace=0 if dispatcher.lost.done() else 5)
        await database.close()


def run(url: str, folder: Path, settings: Settings, boss: Connection) -> None:
    """The process: tells its name when it is up, ends on SIGTERM or when it is lost."""
    keep_memory_compact()
    keep_what_was_started()
    sys.exit(asyncio.run(_run(url, folder, settings, boss)))


async def _run(url: str, folder: Path, settings: Settings, boss: Connection) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    turning = asyncio.create_task(_turn_the_clock(settings.clock_errors))
    while not stop.is_set():
        try:
            return await _live(url, folder, settings, boss, stop)
        except StoreUnavailable:
            await asyncio.sleep(0.5)
    turning.cancel()
    return 0


async def _live(
    url: str, folder: Path, settings: Settings, boss: Connection, stop: asyncio.Event
) -> int:
    async with member(url, folder, settings) as dispatcher:
        boss.send(dispatcher._store.owner)
        stopping = asyncio.ensure_future(stop.wait())
        ends: set[asyncio.Future[Any]] = {stopping, dispatcher.lost}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        return LOST if dispatcher.lost.done() and dispatcher.lost.exception() else 0


async def _turn_the_clock(errors: tuple[float, ...]) -> None:
    """For everything in this process that asks for the time, DBOS as well."""
    right, wrong_by = time.time, 0.0
    time.time = lambda: right() + wrong_by
    while errors:
        for wrong_by in errors:  # noqa: B007
            await asyncio.sleep(0.5)
