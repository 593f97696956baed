"""A desk put together by hand, as `deskhand.wiring` does it, and what the cases feed it with."""

import random
import string
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.driving import MAIL
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.model.message import Address, Message
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec

STAGES = ("classify", "retrieve", "decide", "execute", "generate", "review", "dispatch")
MODEL = "local/gpt-4o-mini"
CATEGORIES = ("delivery", "refund", "complaint", "other")


def texts(size: int, count: int = 500, seed: int = 1) -> list[str]:
    """Letters nobody can compress, made beforehand so that making them is not measured."""
    letters = random.Random(seed)
    return ["".join(letters.choices(string.ascii_letters, k=size)) for _ in range(count)]


@dataclass(frozen=True)
class BenchDesk:
    database: SqliteDatabase
    store: SqliteStore
    dispatcher: InProcessDispatcher
    empty_bytes: int

    async def one(self, message: Message) -> None:
        """Accept to done."""
        accepted = await self.dispatcher.submit(message)
        status = await self.dispatcher.wait(accepted.run_id)
        assert status is RunStatus.DONE, status

    async def stored_bytes(self) -> int:
        await self.database.checkpoint()
        return self.database.path.stat().st_size - self.empty_bytes


@asynccontextmanager
async def working(
    folder: Path,
    flows: Mapping[str, FlowSpec],
    parts: Callable[[SqliteStore], Parts],
    *,
    in_flight: int,
) -> AsyncIterator[BenchDesk]:
    """A desk at work in `folder`. A message's subject names its flow; without one the first flow
    takes it."""
    database = await SqliteDatabase.open(folder / "desk.db")
    await database.checkpoint()
    store, clock, first = SqliteStore(database, "bench"), SystemClock(), next(iter(flows))
    agents = parts(store)
    built = {}
    for name, spec in flows.items():
        stages = {stage: Agent(agent, agents).process for stage, agent in spec.stages.items()}
        built[name] = Flow(spec, stages)
    work = Worker(store, built, clock).work
    limits = DispatchLimits(in_flight=in_flight)
    dispatcher = InProcessDispatcher(
        store, work, lambda message: message.subject or first, clock, limits
    )
    empty = database.path.stat().st_size
    try:
        await dispatcher.start()
        yield BenchDesk(database, store, dispatcher, empty)
    finally:
        await dispatcher.stop()
        await database.close()


def chain(name: str, stages: Sequence[str], **fields: Any) -> FlowSpec:
    """A flow of equal stages, one after the other."""
    following = (*stages[1:], None)
    specs = {
        stage: AgentSpec(
            name=stage, stage_order=order, output_key=stage, default_next=after, **fields
        )
        for order, (stage, after) in enumerate(zip(stages, following, strict=True))
    }
    return FlowSpec(
        name=name,
        start=stages[0],
        stages=specs,
        version="0123456789abcdef",
        max_hops=len(stages) + 1,
    )


def message(
    number: int, *, conversation: str | None = None, body: str = MAIL, flow: str = ""
) -> Message:
    return Message(
        id=f"m{number}",
        conversation=conversation or f"c{number}",
        sender=Address(address="ana@example.com"),
        subject=flow,
        body=body,
        received_at=datetime.now(UTC),
    )


def chat_model(url: str) -> HttpChatModel:
    return HttpChatModel(provider_table({"local": {"base_url": url}}))
