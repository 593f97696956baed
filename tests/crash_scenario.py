"""Three messages, two of one conversation, each with three kinds of effects, worked to rest after
any crash.

Used in process (a crash abandons the engine) and as a process of its own that kills itself
(`tests/forked.py`). The world the effects happen in is a file that only grows.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from deskhand.adapters.stores.postgres_backend import PostgresBackend
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through
from deskhand.engine.audit import verify_desk
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message, Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, EffectState, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.model.spec import AgentSpec
from deskhand.tools.context import Context
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import Tool, ToolRegistry, tool
from deskhand.wiring import Database, open_store
from tests.kit import a_flow, a_message

MESSAGES: list[Message] = [
    a_message(1, conversation="same"),
    a_message(2, conversation="same"),
    a_message(3, conversation="other"),
]


class World:
    """The other side: every line is something that really happened."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "world"

    def happened(self) -> list[tuple[str, str, str]]:
        if not self._file.exists():
            return []
        lines = self._file.read_text().splitlines()
        deeds = []
        for line in lines:
            kind, key, text = line.split("\t")
            deeds.append((kind, key, text))
        return deeds

    def act(self, kind: str, key: str, text: str, *, dedupe: bool = False) -> None:
        if dedupe and self.find(kind, key):
            return
        with self._file.open("a") as file:
            file.write(f"{kind}\t{key}\t{text}\n")
            file.flush()
            os.fsync(file.fileno())

    def find(self, kind: str, key: str) -> bool:
        return any((kind, key) == (known, its) for known, its, _ in self.happened())


class ForgetfulMail:
    """A mail server that takes the same mail twice, but can be asked for a Message-ID."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def send(self, reply: Reply, key: str) -> str:
        self._world.act("mail", key, reply.in_reply_to or "")
        return key

    async def find(self, key: str) -> str | None:
        return key if self._world.find("mail", key) else None


def tools_of(world: World) -> tuple[Tool, ...]:
    @tool(effect="keyed")
    async def charge(text: str, ctx: Context) -> dict[str, Any]:
        """Charge once a key."""
        world.act("charge", ctx.effect_key, text, dedupe=True)
        return {"charged": text}

    async def asked(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return {"posted": True} if world.find("post", key) else None

    @tool(effect="irreversible", probe=asked)
    async def post(text: str, ctx: Context) -> dict[str, Any]:
        """Post something that cannot be taken back, but can be looked up."""
        world.act("post", ctx.effect_key, text)
        return {"posted": True}

    @tool(effect="irreversible")
    async def burn(text: str, ctx: Context) -> dict[str, Any]:
        """Nobody can say afterwards whether it happened."""
        world.act("burn", ctx.effect_key, text)
        return {"burnt": True}

    return charge, post, burn


def _words() -> str:
    """Other words every time, in letters alone: digits among them could read as somebody's
    account number."""
    return uuid4().hex.translate(str.maketrans("0123456789abcdef", "ghijklmnopqrstuv"))


def flow_of(gate: Gate) -> Flow:
    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        """A model that never words its answer the same way twice."""
        assert env.message is not None
        names = ["charge", "post", *(["burn"] if env.message.id == "m3" else [])]
        return {
            "steps": [{"tool": name, "parameters": {"text": f"{name} {uuid4()}"}} for name in names]
        }

    async def answer(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"words": _words()}

    async def reply(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        assert env.message is not None
        return Reply.to_message(env.message, env.outputs["answer"]["words"]).model_dump(mode="json")

    names = ("charge", "post", "burn")
    stages = {
        "plan": AgentSpec(name="plan", service="plan", output_key="plan", default_next="act"),
        "act": AgentSpec(
            name="act", has_tools=True, tools=names, output_key="act", default_next="answer"
        ),
        "answer": AgentSpec(
            name="answer", service="answer", output_key="answer", default_next="write"
        ),
        "write": AgentSpec(name="write", service="reply", output_key="reply", default_next="send"),
        "send": AgentSpec(name="send", service="dispatch", output_key="send"),
    }
    services = {"plan": plan, "answer": answer, "reply": reply, "dispatch": dispatch_through(gate)}
    return a_flow(stages, Parts(tools=gate, services=services))


class Scene:
    """One process's life in the scenario."""

    build: Callable[[Gate], Flow] = staticmethod(flow_of)

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder, self.url, self.world = folder, url, World(folder)

    async def open(self) -> None:
        self.database: Database = (
            await SqliteBackend.open(self.folder / "desk.db")
            if self.url is None
            else await PostgresBackend.open(self.url)
        )
        self.store = open_store(self.database, "crash")
        registry = ToolRegistry((*tools_of(self.world), delivery_tool(ForgetfulMail(self.world))))
        flow = self.build(Gate(registry, self.store, desk="crash"))
        clock = SystemClock()
        worker = Worker(self.store, {"flow": flow}, clock)
        self.dispatcher = InProcessDispatcher(
            self.store,
            worker.work,
            lambda message: "flow",
            clock,
            DispatchLimits(in_flight=4, sweep=0.02, lease=1.0),
        )

    async def work(self) -> None:
        """Hand everything in, as a mailbox would that heard nothing, and approve what is held
        until all is at rest."""
        await self.dispatcher.start()
        runs = [(await self.dispatcher.submit(message)).run_id for message in MESSAGES]
        while True:
            statuses = [await self.dispatcher.wait(run) for run in runs]
            open_reviews = await self.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
            calls = [review for review in open_reviews if review.kind is ReviewKind.TOOL_CALL]
            assert all(review.kind is not ReviewKind.REPLY for review in open_reviews), open_reviews
            if not calls and not any(status is RunStatus.WAITING_REVIEW for status in statuses):
                return
            for review in calls:
                await self.store.decide(
                    review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
                )
            self.dispatcher.wake()
            await asyncio.sleep(0)

    async def close(self) -> None:
        await self.dispatcher.stop(grace=1)
        await self.database.close()

    async def check(self) -> None:
        """Nothing lost, nothing doubled, order kept, everything at rest, every chain whole."""
        runs = {(await self._message_of(run.id)): run for run in await self.store.runs()}
        assert set(runs) == {"m1", "m2", "m3"}, runs
        happened = self.world.happened()
        unknown = await self.store.effects(state=EffectState.UNKNOWN)
        assert all(effect.tool == "burn" for effect in unknown), unknown
        for name, run in runs.items():
            finished = [row.name for row in await self.store.rows(run.id) if "/" in row.name]
            assert len(finished) == len(set(finished)), finished
            per_run = [(kind, key) for kind, key, _ in happened if key.startswith(run.id)]
            kinds = sorted(kind for kind, _ in per_run)
            wanted = ["charge", "mail", "post"]
            if name == "m3" and unknown:
                assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "effect_unknown"), (
                    run
                )
                assert [kind for kind in kinds if kind != "burn"] == ["charge", "post"], kinds
                assert kinds.count("burn") <= 1, kinds
                continue
            assert run.status is RunStatus.SENT, run
            assert kinds == sorted([*wanted, *(["burn"] if name == "m3" else [])]), (name, kinds)
        mails = [text for kind, _, text in happened if kind == "mail" and text in ("m1", "m2")]
        assert mails == ["m1", "m2"], mails
        report = await verify_desk(self.store)
        assert report.ok, report.problems

    async def _message_of(self, run_id: str) -> str:
        message = await self.store.message(run_id)
        assert message is not None
        return message.id


async def main(folder: str, url: str | None = None) -> None:
    scene = Scene(Path(folder), url)
    await scene.open()
    await scene.work()
    await scene.close()
