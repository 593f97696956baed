"""One message worked by an agent in eight turns, each with a read and an effect; worked to rest
after any crash.

Used in process and as a process of its own that kills itself (`tests/forked.py`). What the model
was asked and what its calls did is written to a file that only grows.
"""

from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.engine.audit import verify_desk
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.worker import Worker
from deskhand.model.chat import ChatRequest, Completion
from deskhand.model.run import EffectState, RunStatus
from deskhand.tools.context import Context
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import Tool, ToolRegistry, tool
from deskhand.wiring import open_store
from tests.crash_scenario import ForgetfulMail, World
from tests.kit import a_message
from tests.loop_kit import a_profile, agent_flow, asks, says

TURNS = 8


def model_of(world: World) -> ScriptedChatModel:
    """It never words its answer the same way twice."""

    def choose(request: ChatRequest) -> Completion:
        turn = [message["role"] for message in request.messages].count("assistant") + 1
        world.act("asked", str(turn), "")
        if turn > TURNS:
            return says("Thank you for your message." + " " * (uuid4().int % 1000) + "Thank you.")
        return asks(
            ("look", {"text": f"{turn} {uuid4()}"}), ("charge", {"text": f"{turn} {uuid4()}"})
        )

    return ScriptedChatModel(choose)


def tools_of(world: World) -> tuple[Tool, ...]:
    @tool(effect="read")
    async def look(text: str) -> dict[str, Any]:
        """Look."""
        return {"seen": text}

    @tool(effect="keyed")
    async def charge(text: str, ctx: Context) -> dict[str, Any]:
        """Charge once a key."""
        world.act("charge", ctx.effect_key, text, dedupe=True)
        return {"charged": text}

    return look, charge


class LoopScene:
    """One process's life in the scenario."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.world = folder, World(folder)

    async def open(self) -> None:
        self.database = await SqliteBackend.open(self.folder / "desk.db")
        self.store = open_store(self.database, "crash")
        tools = tools_of(self.world)
        gate = Gate(
            ToolRegistry((*tools, delivery_tool(ForgetfulMail(self.world)))),
            self.store,
            desk="crash",
        )
        flow = agent_flow(model_of(self.world), tools, a_profile(tools))(gate)
        clock = SystemClock()
        worker = Worker(self.store, {flow.spec.name: flow}, clock)
        self.dispatcher = InProcessDispatcher(
            self.store,
            worker.work,
            lambda message: flow.spec.name,
            clock,
            DispatchLimits(in_flight=4, sweep=0.02, lease=1.0),
        )

    async def work(self) -> None:
        await self.dispatcher.start()
        accepted = await self.dispatcher.submit(a_message(1))
        await self.dispatcher.wait(accepted.run_id)

    async def close(self) -> None:
        await self.dispatcher.stop(grace=1)
        await self.database.close()

    async def check(self) -> None:
        """Every effect once, every turn's row once, no turn asked for again once its answer was
        written down."""
        (run,) = await self.store.runs()
        assert run.status is RunStatus.SENT, run
        names = [row.name for row in await self.store.rows(run.id)]
        assert len(names) == len(set(names)), names
        wanted = [f"agent/turn {turn}" for turn in range(1, TURNS + 2)]
        assert [name for name in names if "/turn" in name] == wanted
        happened = Counter(kind for kind, _, _ in self.world.happened())
        assert (happened["charge"], happened["mail"]) == (TURNS, 1), happened
        assert not await self.store.effects(state=EffectState.UNKNOWN)
        report = await verify_desk(self.store)
        assert report.ok, report.problems

    def asked(self) -> Counter[int]:
        """How often the model was asked for each turn."""
        return Counter(int(key) for kind, key, _ in self.world.happened() if kind == "asked")


async def main(folder: str) -> None:
    scene = LoopScene(Path(folder))
    await scene.open()
    await scene.work()
    await scene.close()
