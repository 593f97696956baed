"""A desk as an operator runs it, seen from outside: messages over HTTP, each posted twice, and
mails, while processes are killed, the model is away and, on SQLite, a backup is restored."""

import asyncio
import contextlib
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from deskhand.engine.audit import verify_desk
from deskhand.model.run import Run, RunStatus
from deskhand.wiring import api_keys, open_database, open_store
from tests.chaos.mail_storm import connected
from tests.fake_openai import FakeOpenAI, Reply, failure, hang, regular
from tests.mail_desk import write_desk
from tests.mail_servers import CUSTOMER, SUPPORT, Dovecot, SmtpServer, a_mail, smtp_server
from tests.servers import free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]
DESK = "mails"
MORE = """\
limits: {{replies_per_hour: 1000000, replies_per_day: {{in_all: 1000000, to_unproven: 1000000}}}}
mode: auto
models: {{fast: local/small}}
providers: {{local: {{base_url: '{url}'}}}}
"""
BRAIN = "brain: {scripted: brain.yaml}"
KILL_EVERY = (3.0, 8.0)
OUTAGE = (4.0, 10.0)
WITH_A_PERSON = (RunStatus.WAITING_REVIEW, RunStatus.NEEDS_REVIEW)
AT_REST = (RunStatus.SENT, RunStatus.DONE, RunStatus.FAILED, *WITH_A_PERSON)
KEPT_AFTER = 0.8
"""The share of all messages after which nothing is killed any more."""


@dataclass(frozen=True)
class Plan:
    """How much comes, to how many workers. None of them: one process on SQLite does it all."""

    seed: int
    workers: int
    messages: int = 1000
    mails: int = 300
    conversations: int = 50
    within: float = 1800.0


@dataclass
class Findings:
    """What came of it; every number but the last four is to be 0."""

    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    stuck: int = 0
    broken: list[str] = field(default_factory=list)
    """What the audit found."""
    with_a_person: int = 0
    kills: int = 0
    outages: int = 0
    seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        return not any((self.lost, self.doubled, self.out_of_order, self.stuck, self.broken))


class Model:
    """A model that is away at times: it answers with errors, asks to come later, or hangs."""

    def __init__(self) -> None:
        self.away: Reply | None = None

    def __call__(self, request: dict[str, Any]) -> Reply:
        return self.away or regular(request)


class Server:
    """`deskhand serve`, or one of several workers, as an operator starts it."""

    COMMAND = (sys.executable, "-m", "deskhand.cli")

    def __init__(self, desk: Path, url: str, *command: str) -> None:
        self._desk, self._url, self._command = desk, url, command
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        with (self._desk.parent / "serve.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(*self.COMMAND, *self._command, str(self._desk), "--database", self._url),
                cwd=self._desk.parent,
                env=environment,
                stdout=log,
                stderr=log,
            )

    async def end(self, number: signal.Signals) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        await self._process.wait()


class BlackBox:
    """One run of the harness."""

    def __init__(self, folder: Path, plan: Plan, url: str) -> None:
        self._folder, self._plan, self._url = folder, plan, url
        self._luck = random.Random(plan.seed)
        self._port = free_port()
        self._key = ""
        self._model = Model()
        self._posted: set[str] = set()
        self.findings = Findings()

    async def run(self) -> Findings:
        begun = time.monotonic()
        dovecot = Dovecot(SUPPORT, CUSTOMER)
        try:
            async with (
                smtp_server(dovecot, SUPPORT, CUSTOMER) as smtp,
                FakeOpenAI(otherwise=self._model) as model,
            ):
                model.keep_requests = False
                desk = self._write_desk(dovecot, smtp, model.base_url)
                await self._make_key()
                async with self._serving(desk) as servers:
                    await connected(self._folder, self._url)
                    await self._storm(servers, dovecot)
                    if not self._plan.workers:
                        await self._restore(servers[0], dovecot)
                await self._count(dovecot)
        finally:
            dovecot.remove()
        self.findings.seconds = round(time.monotonic() - begun, 1)
        return self.findings

    def _write_desk(self, dovecot: Dovecot, smtp: SmtpServer, model: str) -> Path:
        desk = write_desk(self._folder, dovecot, smtp, more=MORE.format(url=model))
        file = desk / "desk.yaml"
        file.write_text(file.read_text().replace(BRAIN, "brain: {use: llm}"))
        return desk

    async def _make_key(self) -> None:
        async with open_database(self._url) as database:
            open_store(database, DESK)
            _, self._key = await api_keys(database).add("box", ["messages:write"], [DESK])

    @asynccontextmanager
    async def _serving(self, desk: Path) -> AsyncIterator[list[Server]]:
        """The one that takes messages in first."""
        intake = ("serve", "--port", str(self._port))
        if self._plan.workers:
            servers = [Server(desk, self._url, *intake, "--workers")]
            servers += [Server(desk, self._url, "worker") for _ in range(self._plan.workers)]
        else:
            servers = [Server(desk, self._url, *intake)]
        for server in servers:
            await server.start()
        try:
            yield servers
        finally:
            for server in servers:
                await server.end(signal.SIGTERM)

    # --- what happens

    async def _storm(self, servers: Sequence[Server], dovecot: Dovecot) -> None:
        trouble = [
            asyncio.create_task(self._kill(servers)),
            asyncio.create_task(self._take_the_model_away()),
        ]
        try:
            await asyncio.gather(self._post_all(), self._deliver(dovecot, 0, self._plan.mails))
            await self._rest(self._plan.messages + self._plan.mails)
        finally:
            for task in trouble:
                task.cancel()
            await asyncio.gather(*trouble, return_exceptions=True)

    async def _kill(self, servers: Sequence[Server]) -> None:
        enough = KEPT_AFTER * (self._plan.messages + self._plan.mails)
        while True:
            await asyncio.sleep(self._luck.uniform(*KILL_EVERY))
            if len([run for run in await self._runs() if run.status in AT_REST]) > enough:
                return
            unlucky = self._luck.choice(servers)
            await unlucky.end(signal.SIGKILL)
            await unlucky.start()
            self.findings.kills += 1
            await until(self._is_served, self._plan.within)  # on a slow machine, too

    async def _is_served(self) -> bool:
        try:
            async with httpx.AsyncClient(timeout=10) as client:
                answer = await client.get(f"http://127.0.0.1:{self._port}/healthz")
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    async def _take_the_model_away(self) -> None:
        ways = [failure(503), failure(429, retry_after="3"), hang()]
        while True:
            await asyncio.sleep(self._luck.uniform(10, 20))
            self._model.away = self._luck.choice(ways)
            self.findings.outages += 1
            await asyncio.sleep(self._luck.uniform(*OUTAGE))
            self._model.away = None

    async def _post_all(self) -> None:
        lanes: list[list[int]] = [[] for _ in range(self._plan.conversations)]
        for number in range(self._plan.messages):
            lanes[number % self._plan.conversations].append(number)
        headers = {"Authorization": f"Bearer {self._key}"}
        url = f"http://127.0.0.1:{self._port}"
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as client:
            await asyncio.gather(*(self._post_lane(client, lane) for lane in lanes))

    async def _post_lane(self, client: httpx.AsyncClient, numbers: list[int]) -> None:
        """In order, each twice, and again until it was accepted."""
        for number in numbers:
            runs = {await self._post(client, number) for _ in range(2)}
            self.findings.doubled += len(runs) - 1
            self._posted |= runs

    async def _post(self, client: httpx.AsyncClient, number: int) -> str:
        lane = number % self._plan.conversations
        message = {
            "id": f"m{number}",
            "conversation": f"c{lane}",
            "from": f"customer{lane}@example.test",
            "subject": f"A question ({number})",
            "body": "Where is my parcel?",
        }
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await client.post("/api/messages", json=message)
                if answer.is_success:
                    return str(answer.json()["run"])
                assert answer.is_server_error, answer.text
            await asyncio.sleep(0.3)

    async def _deliver(self, dovecot: Dovecot, first: int, end: int) -> None:
        for number in range(first, end):
            await asyncio.to_thread(dovecot.deliver, SUPPORT, a_mail(number))
            await asyncio.sleep(self._luck.uniform(0, 0.1))

    async def _restore(self, server: Server, dovecot: Dovecot) -> None:
        """A backup, more mails that are worked, a kill, and the backup in the database's place.

        Not every mail is answered: after a kill in the middle of sending, a person decides.
        """
        file, backup = Path(self._url), self._folder / "backup.db"
        first, last = self._plan.mails, self._plan.mails + 20
        await self._back_up(backup)
        await self._deliver(dovecot, first, last)
        await self._rest(self._plan.messages + last)
        await server.end(signal.SIGKILL)
        for rest in ("-wal", "-shm"):
            Path(f"{file}{rest}").unlink(missing_ok=True)
        shutil.copy(backup, file)
        await server.start()
        await self._deliver(dovecot, last, last + 5)
        await self._rest(self._plan.messages + last + 5)

    async def _back_up(self, backup: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            *Server.COMMAND, "db", "backup", str(backup), "--database", self._url
        )
        assert await process.wait() == 0

    # --- what came of it

    async def _runs(self) -> list[Run]:
        async with open_database(self._url) as database:
            return await open_store(database, DESK).runs(limit=100_000)

    async def _rest(self, count: int) -> None:
        """Until so many runs have ended or wait for a person; what does not get there is stuck."""

        async def all_rest() -> bool:
            runs = await self._runs()
            return len(runs) >= count and all(run.status in AT_REST for run in runs)

        with contextlib.suppress(TimeoutError):
            await until(all_rest, self._plan.within)

    async def _count(self, dovecot: Dovecot) -> None:
        runs = await self._runs()
        findings, answers = self.findings, _answers(dovecot)
        findings.stuck = sum(run.status not in AT_REST for run in runs)
        sent = Counter(file.name.partition(".")[0] for file in self._folder.rglob("outbox/*.eml"))
        with_a_person = {run.id for run in runs if run.status in WITH_A_PERSON}
        findings.with_a_person = len(with_a_person)
        findings.doubled += sum(count - 1 for count in (*answers.values(), *sent.values()))
        findings.lost = len(self._posted - sent.keys() - with_a_person)
        findings.lost += self._plan.messages - len(self._posted)
        mails = {f"<{number}@example.test>" for number in range(self._plan.mails)}
        unanswered = len(mails - answers.keys())
        mailed = sum(run.id not in self._posted for run in runs if run.id in with_a_person)
        findings.lost += max(0, unanswered - mailed)
        findings.out_of_order = _out_of_order(runs)
        async with open_database(self._url) as database:
            report = await verify_desk(open_store(database, DESK))
        findings.broken = [str(problem) for problem in report.problems]


def _answers(dovecot: Dovecot) -> Counter[str]:
    """How many answers each mail has in the customer's mailbox."""
    return Counter(str(mail["In-Reply-To"]) for mail in dovecot.mails(CUSTOMER))


def _out_of_order(runs: Sequence[Run]) -> int:
    """Runs that ended before an earlier one of their conversation did."""
    lanes: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.position):
        lanes.setdefault(run.conversation, []).append(run)
    return sum(
        earlier.updated_at > later.updated_at
        for lane in lanes.values()
        for earlier, later in pairwise(lane)
        if earlier.status is later.status is RunStatus.SENT
    )
