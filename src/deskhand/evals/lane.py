"""Lanes of a sandbox: where each conversation of an eval or a replay is worked by the real loop.

A lane has its own store and its own time. Conversations are independent, so many are worked at
once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from deskhand.config.desk import DeskSpec
from deskhand.engine.loop import Process
from deskhand.engine.worker import Worker
from deskhand.model.knowledge import CitedText, Hit
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.ports import SearchesKnowledge, Store
from deskhand.tickets.service import Tickets
from deskhand.trust.standing import first_mode, lower_of

Around = Callable[[str, Process], Process]
"""Wraps the work of the stage of this name."""

SentLately = Callable[[str, float], int]
"""How many replies left in the conversation since then, without those of the run of this id."""

Item = TypeVar("Item")
Made = TypeVar("Made")


class EarnedModes(Protocol):
    """The modes that runs met in the record, for a desk whose modes are not in desk.yaml."""

    def mode(self) -> str | None:
        """What the stage at work met; None where the record does not say."""
        ...

    async def checks(self, run_id: str, category: str | None) -> bool:
        """Whether this reply was picked for a spot check."""
        ...


async def recorded_mode(spec: DeskSpec, earned: EarnedModes, category: str | None) -> str:
    """The mode that a replayed reply met, but no more than desk.yaml allows by now."""
    ceiling = spec.mode_for(category)
    return lower_of(earned.mode() or first_mode(spec.trust, ceiling), ceiling)


@dataclass(frozen=True, slots=True)
class Lane:
    store: Store
    worker: Worker
    flow_for: Callable[[Message], str]
    routed: Callable[[Message, bool | None], Awaitable[Message]]
    tickets: Tickets

    async def accept(self, message: Message, *, agents: bool | None = None) -> str:
        """Returns the id of the message's run, which is not worked yet.

        `agents` says who works a message that is routed to an agent: the agent (True, its answers
        are known beforehand) or the flow that stands in for it (False). With None the agent works
        it if there is a model to ask.
        """
        message = await self.routed(message, agents)
        accepted = await self.store.accept(message, flow=self.flow_for(message))
        return accepted.run_id

    async def work(self, run_id: str) -> RunStatus | None:
        return await self.worker.work(run_id)


class LaneClock:
    """A clock that stands still between steps: only `sleep` and setting `at` move it.

    Sleeping takes no real time, unless `waits` says that something outside is waited for.
    """

    def __init__(self, at: float, *, waits: bool = False) -> None:
        self.at = at
        self._waits = waits

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        duration = max(seconds, 0.0)
        self.at += duration
        await asyncio.sleep(duration if self._waits else 0)


class SandboxKnowledge:
    """A desk's articles, and which of them each run of the sandbox quoted.

    The runs of a sandbox are in no desk's records, so their sources are kept here for as long as
    the sandbox is open.
    """

    def __init__(self, knowledge: SearchesKnowledge) -> None:
        self._knowledge = knowledge
        self._quoted: dict[str, list[CitedText]] = {}

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        return await self._knowledge.search(
            question, category=category, language=language, limit=limit
        )

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        self._quoted.setdefault(run_id, []).extend(
            CitedText(hit.article, hit.title, hit.text) for hit in hits
        )

    async def texts(self, run_id: str) -> list[CitedText]:
        """The texts that a run's reply was drawn from."""
        return self._quoted.get(run_id, [])


async def side_by_side(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Made]], at_once: int
) -> list[Made]:
    """Works at most `at_once` items at a time; returns what came of each, in the items' order.

    The first failure cancels the rest and is raised.
    """
    room = asyncio.Semaphore(at_once)

    async def work_in_turn(item: Item) -> Made:
        async with room:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work_in_turn(item)) for item in items]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
