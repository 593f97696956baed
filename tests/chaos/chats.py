"""Many visitors chat with the orders desk while its processes are killed: every turn is answered,
and every line is there once."""

import asyncio
import contextlib
import random
import secrets
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from deskhand.engine.audit import verify_desk
from deskhand.model.chats import DESK, VISITOR, ChatLine
from deskhand.model.run import RunStatus
from deskhand.wiring import SHIPPED, chats_of, open_database, open_store
from tests.chaos.mail_storm import Server
from tests.servers import free_port
from tests.waiting import until

CHAT = """channels: {web: {chat: {turns_per_hour: 10000, turns_per_network: 10000,
  turns_per_desk: 10000, chats_per_network: 10000, chats_per_desk: 10000,
  replies_per_hour: 10000}}}
"""
TURNS = (
    "Where is my parcel?",
    "why do you need that?",
    "12",
    "never mind, forget it",
    "Please open a ticket: your size chart shows the wrong numbers",
    "thank you",
)
"""What each visitor says: a question of the desk, what is said to it, an effect, and thanks."""
AT_REST = (RunStatus.SENT, RunStatus.DONE, RunStatus.WAITING_USER, RunStatus.NEEDS_REVIEW)


@dataclass(frozen=True)
class Plan:
    """How many chat. Without workers, one process on SQLite does it all."""

    chats: int
    kills: int
    workers: int = 0
    seed: int = 1


@dataclass
class Findings:
    """What came of it: nothing but `kills` and `turns` is to be more than 0."""

    lost: int = 0
    doubled: int = 0
    unanswered: int = 0
    gaps: int = 0
    broken: list[str] = field(default_factory=list[str])
    kills: int = 0
    turns: int = 0

    @property
    def is_well(self) -> bool:
        return not any((self.lost, self.doubled, self.unanswered, self.gaps, self.broken))


class Storm:
    """Visitors at work, and somebody who kills what they talk to."""

    def __init__(self, folder: Path, plan: Plan, url: str) -> None:
        self._folder, self._plan, self._url = folder, plan, url
        self._luck = random.Random(plan.seed)
        self._port = free_port()
        self._said = 0
        self._tokens: dict[int, str] = {}
        self.findings = Findings()

    async def run(self) -> Findings:
        async with self._serving(self._write_desk()) as servers:
            killing = asyncio.create_task(self._kill(servers))
            address = f"http://127.0.0.1:{self._port}"
            async with httpx.AsyncClient(base_url=address, timeout=30) as client:
                visits = [self._visit(client, number) for number in range(self._plan.chats)]
                await asyncio.gather(*visits)
            await killing
            await self._rest()
        await self._count()
        return self.findings

    def _write_desk(self) -> Path:
        desk = self._folder / "orders"
        shutil.copytree(SHIPPED / "orders", desk)
        yaml = (desk / "desk.yaml").read_text().replace("mode: draft ", "mode: auto ")
        brain = "brain: {signature: Lantern Shop, error_budget: 0.15}"
        assert brain in yaml
        scripted = yaml.replace(brain, "brain: {scripted: brain.yaml}")
        (desk / "desk.yaml").write_text(scripted + CHAT)
        return desk

    @asynccontextmanager
    async def _serving(self, desk: Path) -> AsyncIterator[list[Server]]:
        intake = ("serve", "--port", str(self._port))
        servers = [Server(desk, self._url, *intake)]
        if self._plan.workers:
            servers = [Server(desk, self._url, *intake, "--workers")]
            servers += [Server(desk, self._url, "worker") for _ in range(self._plan.workers)]
        for server in servers:
            await server.start()
        try:
            yield servers
        finally:
            for server in servers:
                await server.end(signal.SIGTERM)

    async def _kill(self, servers: Sequence[Server]) -> None:
        """Each time after some more turns were taken in, whoever it hits."""
        every = self._plan.chats * len(TURNS)
        for kill in range(1, self._plan.kills + 1):
            due = every * kill // (self._plan.kills + 1)
            await until(lambda due=due: self._said >= due)
            await asyncio.sleep(self._luck.uniform(0, 0.3))
            unlucky = servers[kill % len(servers)]
            await unlucky.end(signal.SIGKILL)
            await unlucky.start()
            self.findings.kills += 1

    # --- the visitors

    async def _visit(self, client: httpx.AsyncClient, number: int) -> None:
        """Says each turn until it was taken, and then once more, as a widget that heard nothing."""
        opens = secrets.token_urlsafe(32)
        for turn, text in enumerate(TURNS):
            body = {"id": f"{number}-{turn}", "text": text}
            body |= {"opens": opens} if turn == 0 else {"chat": opens}
            runs = {await self._post(client, body) for _ in range(2)}
            self.findings.doubled += len(runs) - 1
            self._said += 1
        self._tokens[number] = opens

    async def _post(self, client: httpx.AsyncClient, body: dict[str, str]) -> str:
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await client.post("/api/chat", json=body)
                if answer.is_success:
                    return str(answer.json()["run"])
                assert answer.is_server_error, answer.text
            await asyncio.sleep(0.3)

    # --- what came of it

    async def _rest(self) -> None:
        async with open_database(self._url) as database:
            store = open_store(database, "orders")

            async def all_rest() -> bool:
                runs = await store.runs(limit=100_000)
                return all(run.status in AT_REST for run in runs)

            await until(all_rest)

    async def _count(self) -> None:
        async with open_database(self._url) as database:
            chats = chats_of(database, "orders")
            store = open_store(database, "orders")
            for token in self._tokens.values():
                chat = await chats.find(token)
                assert chat is not None
                self._count_lines(await chats.lines(chat.id))
            runs = await store.runs(limit=100_000)
            report = await verify_desk(store)
        self.findings.turns = len(runs)
        self.findings.lost += max(0, len(TURNS) * self._plan.chats - len(runs))
        self.findings.doubled += max(0, len(runs) - len(TURNS) * self._plan.chats)
        self.findings.broken = [str(problem) for problem in report.problems]

    def _count_lines(self, lines: Sequence[ChatLine]) -> None:
        """Each turn is a line, with one line of the desk that answers it; a ticket is answered and
        handed over."""
        said = Counter(line.text for line in lines if line.author == VISITOR)
        answers = [line.text for line in lines if line.author == DESK]
        self.findings.lost += sum(said[text] == 0 for text in TURNS)
        self.findings.doubled += sum(count - 1 for count in said.values())
        self.findings.unanswered += max(0, len(TURNS) - len(answers))
        self.findings.doubled += max(0, len(answers) - len(TURNS))
        numbers = [line.number for line in lines]
        self.findings.gaps += numbers != list(range(1, len(lines) + 1))
