"""Messages over many conversations on SQLite, handed in again by every process that takes over.

`python -m tests.chaos.load FOLDER MESSAGES CONVERSATIONS [SECONDS]`, the last of which its disk
takes for a commit.
"""

import asyncio
import random
import sqlite3
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through
from deskhand.engine.audit import verify_desk
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.message import Reply
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry
from tests.crash_scenario import ForgetfulMail, World
from tests.kit import a_flow, a_message


class SlowDisk(sqlite3.Connection):
    """Holds the file's lock while it waits, before the commit is there and after; now and then
    ten times as long."""

    seconds = 0.0

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        if statement != "COMMIT":
            return super().execute(statement, *parameters)
        waits = self.seconds * (10 if random.random() < 0.05 else 1)
        time.sleep(waits / 2)
        done = super().execute(statement, *parameters)
        time.sleep(waits / 2)
        return done


class QuickWorld(World):
    """As the scenario's, with its memory of keys kept, since the file grows long."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._known = {(kind, key) for kind, key, _ in self.happened()}

    def act(self, kind: str, key: str, text: str, *, dedupe: bool = False) -> None:
        super().act(kind, key, text, dedupe=False)
        self._known.add((kind, key))

    def find(self, kind: str, key: str) -> bool:
        return (kind, key) in self._known


class Load:
    def __init__(self, folder: Path, messages: int, conversations: int) -> None:
        self._folder, self._world = folder, QuickWorld(folder)
        self._messages, self._conversations = messages, conversations

    async def work(self) -> None:
        database = await SqliteDatabase.open(self._folder / "desk.db")
        store, clock = SqliteStore(database, "load"), SystemClock()
        gate = Gate(ToolRegistry([delivery_tool(ForgetfulMail(self._world))]), store, desk="load")

        async def think(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
            await asyncio.sleep(random.uniform(0, 0.02))
            return {"words": "".join(random.choices(ascii_lowercase, k=12))}

        async def write(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
            assert env.message is not None
            return Reply.to_message(env.message, env.outputs["think"]["words"]).model_dump(
                mode="json"
            )

        stages = {
            "think": AgentSpec(
                name="think", service="think", output_key="think", default_next="write"
            ),
            "write": AgentSpec(
                name="write", service="write", output_key="reply", default_next="send"
            ),
            "send": AgentSpec(name="send", service="dispatch", output_key="send"),
        }
        parts = Parts(
            tools=gate,
            services={"think": think, "write": write, "dispatch": dispatch_through(gate)},
        )
        worker = Worker(store, {"flow": a_flow(stages, parts)}, clock)
        dispatcher = InProcessDispatcher(
            store, worker.work, lambda message: "flow", clock, DispatchLimits(in_flight=32)
        )
        await dispatcher.start()
        for number in range(self._messages):
            await dispatcher.submit(
                a_message(number, conversation=f"c{number % self._conversations}")
            )
        while unfinished := await store.queued(limit=1) or await store.runs(
            status=RunStatus.RUNNING, limit=1
        ):
            await dispatcher.wait(unfinished[0].id)
        await dispatcher.stop()
        await database.close()

    async def check(self) -> dict[str, int]:
        database = await SqliteDatabase.open(self._folder / "desk.db")
        store = SqliteStore(database, "load")
        runs = await store.runs(limit=10 * self._messages)
        mails = [text for kind, _, text in self._world.happened() if kind == "mail"]
        counted = Counter(mails)
        order: dict[int, list[int]] = {}
        for text in mails:
            order.setdefault(int(text[1:]) % self._conversations, []).append(int(text[1:]))
        report = await verify_desk(store)
        await database.close()
        sent = [run for run in runs if run.status is RunStatus.SENT]
        out_of_order = [numbers for numbers in order.values() if numbers != sorted(numbers)]
        return {
            "runs": len(runs),
            "sent": len(sent),
            "lost": self._messages - len(counted),
            "doubled": len(mails) - len(counted),
            "out_of_order": len(out_of_order),
            "problems": len(report.problems),
        }


def all_well(messages: int) -> dict[str, int]:
    return {
        "runs": messages,
        "sent": messages,
        "lost": 0,
        "doubled": 0,
        "out_of_order": 0,
        "problems": 0,
    }


if __name__ == "__main__":
    place, many, lanes, *slow = sys.argv[1:]
    if slow:
        SlowDisk.seconds = float(slow[0])
        sqlite3.connect = partial(sqlite3.connect, factory=SlowDisk)  # type: ignore[assignment]
    asyncio.run(Load(Path(place), int(many), int(lanes)).work())
