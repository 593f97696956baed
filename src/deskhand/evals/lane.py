"""Where one conversation is worked in a sandbox: message after message through the real loop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from deskhand.engine.loop import Process
from deskhand.engine.worker import Worker
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.ports import Store

Around = Callable[[str, Process], Process]
"""Wraps the work of the stage of this name."""


SentLately = Callable[[str, float], int]
"""How many replies left in the conversation since then, those of the run of this id not counted."""


class EarnedModes(Protocol):
    """The modes that runs met in the record, for a desk whose modes are not in desk.yaml."""

    def mode(self) -> str | None:
        """What the stage at work met; None where the record does not say."""
        ...

    async def checks(self, run_id: str, category: str | None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Lane:
    store: Store
    worker: Worker
    flow_for: Callable[[Message], str]
    routed: Callable[[Message, bool | None], Awaitable[Message]]

    async def accept(self, message: Message, *, agents: bool | None = None) -> str:
        """The id of the message's run, which is not worked yet.

        `agents` says whether a desk's agents work what is routed to them (what they say is known
        beforehand) or the flows that stand in for them; None leaves it to whether there is a model
        to ask.
        """
        message = await self.routed(message, agents)
        return (await self.store.accept(message, flow=self.flow_for(message))).run_id

    async def work(self, run_id: str) -> RunStatus | None:
        return await self.worker.work(run_id)
