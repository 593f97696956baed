"""A desk as an operator runs it, seen from outside: messages over HTTP, each posted twice, and
mails, while processes are killed, the model is away and, on SQLite, a backup is restored.

Customers write in waves, so that the desk has much in flight at times and nothing at others: what
a game takes is mostly waiting, and several can be played side by side.
"""

import asyncio
import contextlib
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from deskhand.model.run import RunStatus
from deskhand.wiring import api_keys, open_database, open_store
from tests.chaos.desk_process import DeskProcess, run_command
from tests.chaos.findings import (
    Answers,
    Findings,
    HandedIn,
    at_rest,
    count_findings,
    errors_in,
)
from tests.chaos.mail_storm import connected
from tests.chaos.run_counts import Counts, run_counts
from tests.fake_openai import FakeOpenAI, Reply, failure, hang, regular
from tests.mail_desk import write_desk
from tests.mail_servers import CUSTOMER, SUPPORT, Dovecot, SmtpServer, a_mail, smtp_server
from tests.servers import free_port
from tests.waiting import until

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
KEPT_AFTER = 0.8
"""The share of all messages after which nothing is killed any more."""
A_LIFES_WORK, LONGEST_LIFE = 0.025, 30.0
"""The share of all messages that come to rest between two kills, and how long a kill waits for
that: on a machine that does much else, nobody would live long enough to answer anything."""
LOOK_EVERY = 0.2


@dataclass(frozen=True)
class Plan:
    """How much comes, to how many workers. None of them: one process on SQLite does it all."""

    seed: int
    workers: int
    messages: int = 1000
    mails: int = 300
    conversations: int = 50
    wave_every: float = 6.0
    """Seconds from wave to wave: in each, every conversation has its next message, and mails come
    in proportion."""
    within: float = 600.0
    """Seconds in which nothing comes to rest, after which what does not rest is stuck."""

    @property
    def waves(self) -> int:
        return self.messages // self.conversations


class Model:
    """A model that is away at times: it answers with errors, asks to come later, or hangs."""

    def __init__(self) -> None:
        self.away: Reply | None = None

    def __call__(self, request: dict[str, Any]) -> Reply:
        return self.away or regular(request)


class BlackBox:
    """One run of the harness."""

    def __init__(self, folder: Path, plan: Plan, url: str) -> None:
        self._folder, self._plan, self._url = folder, plan, url
        self._luck = random.Random(plan.seed)
        self._port = free_port()
        self._key = ""
        self._model = Model()
        self._last_kill = KEPT_AFTER * (plan.messages + plan.mails)
        self._handed_in = HandedIn()
        self._counts: Counts
        self._client: aiohttp.ClientSession
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
                async with (
                    self._serving(desk) as servers,
                    run_counts(self._url, DESK) as self._counts,
                    aiohttp.ClientSession(
                        f"http://127.0.0.1:{self._port}",
                        headers={"Authorization": f"Bearer {self._key}"},
                        timeout=aiohttp.ClientTimeout(30),
                    ) as self._client,
                ):
                    await until(self._is_served, every=LOOK_EVERY)
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
    async def _serving(self, desk: Path) -> AsyncIterator[list[DeskProcess]]:
        """The one that takes messages in first. One of each kind begins for real."""
        only_intake = ("--workers",) if self._plan.workers else ()
        intake = ("serve", "--port", str(self._port), *only_intake)
        servers = [DeskProcess(desk, self._url, *intake, begins_for_real=True)]
        for number in range(self._plan.workers):
            is_first = number == 0
            servers.append(DeskProcess(desk, self._url, "worker", begins_for_real=is_first))
        for server in servers:
            await server.start()
        try:
            yield servers
        finally:
            for server in servers:
                if code := await server.end(signal.SIGTERM):
                    self.findings.died.append(f"while it stopped, with exit code {code}")

    # --- what happens

    async def _storm(self, servers: Sequence[DeskProcess], dovecot: Dovecot) -> None:
        kills = asyncio.create_task(self._kill(servers))
        outages = asyncio.create_task(self._take_the_model_away())
        try:
            await asyncio.gather(self._post_all(), self._deliver_in_waves(dovecot))
            await self._rest(self._plan.messages + self._plan.mails)
            await asyncio.wait([kills], timeout=LONGEST_LIFE)  # whom it killed, it begins again
            if kills.done():
                kills.result()
        finally:
            for task in (kills, outages):
                task.cancel()
            await asyncio.gather(kills, outages, return_exceptions=True)
            self._model.away = None

    async def _kill(self, servers: Sequence[DeskProcess]) -> None:
        rested = 0
        while (rested := await self._moment_to_kill(rested)) <= self._last_kill:
            unlucky = self._luck.choice(servers)
            self.findings.in_flight += (await self._counts())[RunStatus.RUNNING]
            await self._end(unlucky)
            self.findings.kills += 1
            await unlucky.start()
            await until(self._is_served, self._plan.within, every=LOOK_EVERY)  # may be slow

    async def _moment_to_kill(self, rested: int) -> int:
        """Some time from now. Where nothing is in flight then, up to the longest time later; where
        little has come to rest since the last kill, when more has.

        Returns how many runs have come to rest.
        """
        begun, (shortest, longest) = time.monotonic(), KILL_EVERY
        enough = rested + A_LIFES_WORK * (self._plan.messages + self._plan.mails)
        await asyncio.sleep(self._luck.uniform(shortest, longest))
        while True:
            counts, lived = await self._counts(), time.monotonic() - begun
            has_work = counts[RunStatus.RUNNING] or lived > longest
            has_lived = at_rest(counts) > enough or lived > LONGEST_LIFE
            if (has_work and has_lived) or at_rest(counts) > self._last_kill:
                return at_rest(counts)
            await asyncio.sleep(LOOK_EVERY)

    async def _end(self, unlucky: DeskProcess) -> None:
        code = await unlucky.end(signal.SIGKILL)
        if code != -signal.SIGKILL:
            self.findings.died.append(f"with exit code {code}")

    async def _is_served(self) -> bool:
        try:
            async with self._client.get("/healthz") as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

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
        begun = time.monotonic()
        await asyncio.gather(*(self._post_lane(lane, begun) for lane in lanes))

    async def _post_lane(self, numbers: list[int], begun: float) -> None:
        """In order, one a wave, each twice, and again until it was accepted."""
        for wave, number in enumerate(numbers):
            await self._wave(begun, wave)
            runs = {await self._post(number) for _ in range(2)}
            self.findings.doubled += len(runs) - 1
            self._handed_in.posted |= runs

    async def _wave(self, begun: float, wave: int) -> None:
        """Wait for somebody's moment in a wave, unless it is late."""
        at = begun + (wave + self._luck.uniform(0, 0.2)) * self._plan.wave_every
        await asyncio.sleep(at - time.monotonic())

    async def _post(self, number: int) -> str:
        """Few texts differ: what a message costs is not what is tried."""
        lane = number % self._plan.conversations
        message = {
            "id": f"m{number}",
            "conversation": f"c{lane}",
            "from": f"customer{lane}@example.test",
            "subject": f"A question ({lane % 5})",
            "body": "Where is my parcel?",
        }
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with self._client.post("/api/messages", json=message) as answer:
                    if answer.ok:
                        return str((await answer.json())["run"])
                    assert answer.status >= 500, await answer.text()
            await asyncio.sleep(0.3)

    async def _deliver_in_waves(self, dovecot: Dovecot) -> None:
        begun, waves = time.monotonic(), self._plan.waves
        for wave in range(waves):
            await self._wave(begun, wave)
            first, end = (number * self._plan.mails // waves for number in (wave, wave + 1))
            await self._deliver(dovecot, first, end)

    async def _deliver(self, dovecot: Dovecot, first: int, end: int) -> None:
        for number in range(first, end):
            await asyncio.to_thread(dovecot.deliver, SUPPORT, a_mail(number))
            self._handed_in.mails.add(f"<{number}@example.test>")
            await asyncio.sleep(self._luck.uniform(0, 0.1))

    async def _restore(self, server: DeskProcess, dovecot: Dovecot) -> None:
        """A backup, more mails that are worked, a kill, and the backup in the database's place.

        Not every mail is answered: after a kill in the middle of sending, a person decides.
        """
        file, backup = Path(self._url), self._folder / "backup.db"
        first, last = self._plan.mails, self._plan.mails + 20
        await self._back_up(backup)
        await self._deliver(dovecot, first, last)
        await self._rest(self._plan.messages + last)
        await self._end(server)
        for rest in ("-wal", "-shm"):
            Path(f"{file}{rest}").unlink(missing_ok=True)
        shutil.copy(backup, file)
        await server.start()
        await self._deliver(dovecot, last, last + 5)
        await self._rest(self._plan.messages + last + 5)

    async def _back_up(self, backup: Path) -> None:
        command = ("db", "backup", str(backup), "--database", self._url)
        assert await run_command(self._folder, *command) == 0

    # --- what came of it

    async def _rest(self, count: int) -> None:
        """Until the runs of so many messages have ended or wait for a person; what does not get
        there is stuck.

        A restored desk also reads copies of its own replies that it does not remember; these runs
        are done at once, and not counted.
        """
        most, since = 0, time.monotonic()
        while time.monotonic() < since + self._plan.within:
            counts = await self._counts()
            resting = at_rest(counts)
            if resting - counts[RunStatus.DONE] >= count and resting == counts.total():
                return
            if resting > most:
                most, since = resting, time.monotonic()
            await asyncio.sleep(LOOK_EVERY)

    async def _count(self, dovecot: Dovecot) -> None:
        self.findings.lost += self._plan.messages - len(self._handed_in.posted)
        sent = Counter(file.name.partition(".")[0] for file in self._folder.rglob("outbox/*.eml"))
        answers = Answers(
            sent, Counter(str(mail["In-Reply-To"]) for mail in dovecot.mails(CUSTOMER))
        )
        async with open_database(self._url) as database:
            await count_findings(
                self.findings, self._handed_in, answers, open_store(database, DESK)
            )
        self.findings.errors = errors_in(self._folder / "serve.log")
