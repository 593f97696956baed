"""What tests of the engine share: small flows from Python functions, messages, and an engine
that can be abandoned."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message, Reply
from deskhand.model.principal import asserted
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.ports import StageContext
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.gate_call import Terms
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.services import ServiceResult

ServiceWork = Callable[
    [Envelope, StageContext, Mapping[str, Any]], Awaitable[dict[str, Any] | ServiceResult]
]


def a_message(
    number: int | str = 1, *, conversation: str | None = None, body: str = "Where is my parcel?"
) -> Message:
    return Message(
        id=f"m{number}",
        conversation=conversation or f"c{number}",
        sender=Address(address="ann@example.com", name="Ann"),
        subject="My parcel",
        body=body,
        received_at=datetime(2026, 11, 15, 9, 0, tzinfo=UTC),
        principal=asserted("c-ann", by="a test", address="ann@example.com"),
    )


class TestClock:
    """Time that passes only when somebody sleeps; sleeping takes no time."""

    __test__ = False

    def __init__(self, at: float = 1_800_000_000.0) -> None:
        self.at = at
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
            self.at += seconds
        await asyncio.sleep(0)


@dataclass
class MemoryOutbox:
    """Counts every arrival; remembers keys as a mail server remembers Message-IDs."""

    sent: list[tuple[str, Reply]] = field(default_factory=list)
    keyed: bool = True

    async def send(self, reply: Reply, key: str) -> str:
        self.sent.append((key, reply))
        return f"memory:{key}"

    async def find(self, key: str) -> str | None:
        if self.keyed and key in dict(self.sent):
            return f"memory:{key}"
        return None


def chain_of(names: list[str], **fields: Any) -> dict[str, AgentSpec]:
    """Service stages one after the other, each served by the service of its own name."""
    following = [*names[1:], None]
    return {
        name: AgentSpec(
            name=name,
            stage_order=order,
            service=name,
            output_key=name,
            default_next=after,
            **fields,
        )
        for order, (name, after) in enumerate(zip(names, following, strict=True), 1)
    }


def a_flow(
    stages: Mapping[str, AgentSpec],
    parts: Parts,
    *,
    version: str = "v1",
    name: str = "flow",
    **fields: Any,
) -> Flow:
    spec = FlowSpec(
        name=name, start=next(iter(stages)), stages=dict(stages), version=version, **fields
    )
    return Flow(
        spec, {key: Agent(stage, parts).process for key, stage in stages.items()}, backoff=1.0
    )


@dataclass
class Engine:
    store: SqliteStore
    dispatcher: InProcessDispatcher
    database: SqliteDatabase
    outbox: MemoryOutbox
    gate: Gate

    async def work(self, message: Message) -> str:
        """Hand the message in and wait for rest; returns the run's id."""
        accepted = await self.dispatcher.submit(message)
        await self.dispatcher.wait(accepted.run_id)
        return accepted.run_id


Build = Callable[[Gate], Flow]


@asynccontextmanager
async def engine(
    path: Path,
    build: Build,
    *,
    tools: tuple[Tool, ...] = (),
    outbox: MemoryOutbox | None = None,
    clock: TestClock | None = None,
    limits: DispatchLimits | None = None,
    desk: str = "test",
    terms: Terms | None = None,
) -> AsyncIterator[Engine]:
    database = await SqliteDatabase.open(path)
    store = SqliteStore(database, desk)
    clock, outbox = clock or TestClock(), outbox or MemoryOutbox()
    gate = Gate(
        ToolRegistry((*tools, delivery_tool(outbox))),
        store,
        desk=desk,
        terms=terms,
        record_event=store.record_event,
    )
    flow = build(gate)
    worker = Worker(store, {flow.spec.name: flow}, clock)
    wall = _Wall(clock)
    dispatcher = InProcessDispatcher(
        store, worker.work, lambda message: flow.spec.name, wall, limits
    )
    try:
        await dispatcher.start()
        yield Engine(store, dispatcher, database, outbox, gate)
    finally:
        await dispatcher.stop(grace=5)
        await database.close()


class _Wall:
    """The dispatcher's own rhythm stays real, so that its keepers do not spin."""

    def __init__(self, clock: TestClock) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.05))


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python a piece of work runs: a measure of time that no clock disturbs."""
    count = 0

    def tracer(*_: object) -> object:
        nonlocal count
        count += 1
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)  # type: ignore[arg-type]
    try:
        work()
    finally:
        sys.settrace(before)
    return count
