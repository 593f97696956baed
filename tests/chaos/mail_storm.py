"""Many mails, each delivered three times, to processes that are killed while reviewers approve
what they drafted."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from deskhand.model.run import RunStatus
from deskhand.wiring import channel_store, open_database, open_store
from tests.chaos.doubts import settle_doubts
from tests.chaos.reviewers import reviewing
from tests.forked import ForkedCommand
from tests.mail_desk import write_desk
from tests.mail_servers import CUSTOMER, SUPPORT, Dovecot, SmtpServer, a_mail, smtp_server
from tests.waiting import until

DROP_EVERY = 10
COPIES = 3
REVIEWERS = ("eve", "adam")
QUESTION, ORDER = "Where is my parcel?", "Please change my order."
"""What is answered by itself, and what a person approves."""
STAGES = """\
      classify: {task: classify, categories: [question, order], next: draft}
      draft: {task: draft, next: dispatch}
"""
RULES = """
rules:
  - {when: {stage: classify, contains: [order]}, answer: {category: order, confidence: 0.9}}
  - {when: {stage: classify}, answer: {category: question, confidence: 0.9}}
  - {answer: {text: It is on its way., language: en}}
"""


class Server(ForkedCommand):
    """`deskhand serve`, or one of several workers."""

    def __init__(self, desk: Path, url: str, *command: str) -> None:
        folder = desk.parent
        super().__init__((*command, str(desk), "--database", url), folder / "serve.log", folder)


async def storm(
    folder: Path, count: int, *, kills: int, within: float, postgres: str | None = None
) -> dict[str, int | float]:
    """What came of it; every answer is counted where the customer finds it. On PostgreSQL two
    workers share it.

    Every second mail is drafted for a person, and both reviewers go for each of them. Kills come at
    moments that differ from run to run, and once the mailbox's server is away.
    """
    url = postgres or str(folder / "desk.db")
    dovecot = Dovecot(SUPPORT, CUSTOMER)
    try:
        async with smtp_server(dovecot, SUPPORT, CUSTOMER, drop_every=DROP_EVERY) as smtp:
            desk = _desk(folder, dovecot, smtp)
            if postgres:
                servers = [Server(desk, url, "worker") for _ in range(2)]
            else:
                servers = [Server(desk, url, "serve", "--port", "0")]
            for server in servers:
                await server.start()
            began = time.monotonic()
            try:
                await connected(folder, url)
                async with reviewing(url, "mails", *REVIEWERS) as told:
                    delivering = asyncio.create_task(_deliver(dovecot, count))
                    await _trouble(servers, smtp, dovecot, count, kills, within)
                    await delivering
                    await _at_rest(url, count, within, dovecot, told)
            finally:
                for server in servers:
                    await server.end(signal.SIGTERM)
            took = time.monotonic() - began
            return {
                **await _runs(url),
                **_counted(dovecot, count),
                **told,
                "dropped": smtp.dropped,
                "seconds": round(took, 1),
            }
    finally:
        dovecot.remove()


def _desk(folder: Path, dovecot: Dovecot, smtp: SmtpServer) -> Path:
    a_day = "{in_all: 1000000, to_unproven: 1000000}"
    limits = f"limits: {{replies_per_hour: 1000000, replies_per_day: {a_day}}}"
    more = f"{limits}\nmodes: {{question: auto, order: draft}}"
    desk = write_desk(folder, dovecot, smtp, more=more)
    file = desk / "desk.yaml"
    file.write_text(
        file.read_text().replace("      draft: {task: draft, next: dispatch}\n", STAGES)
    )
    (desk / "brain.yaml").write_text(RULES)
    return desk


async def _trouble(
    servers: Sequence[Server],
    smtp: SmtpServer,
    dovecot: Dovecot,
    count: int,
    kills: int,
    within: float,
) -> None:
    """Each kill comes when some more answers have left, at any moment of what is going on then."""
    luck = random.Random()
    for number in range(1, kills + 1):
        share = (number - luck.uniform(0.4, 0.9)) / kills  # some stay in doubt and never leave
        await until(partial(smtp.has_taken, int(2 * count * share)), within)  # each with its copy
        await asyncio.sleep(luck.uniform(0, 0.3))
        unlucky = servers[number % len(servers)]
        await unlucky.end(signal.SIGKILL)
        if number == 1:
            await asyncio.to_thread(dovecot.stop)
            await asyncio.to_thread(dovecot.start)
        await unlucky.start()


def _counted(dovecot: Dovecot, count: int) -> dict[str, int]:
    answers = Counter(str(mail["In-Reply-To"]) for mail in dovecot.mails(CUSTOMER))
    return {
        "answers": len(answers),
        "doubled": sum(answers.values()) - len(answers),
        "lost": len({f"<{number}@example.test>" for number in range(count)} - set(answers)),
    }


async def _deliver(dovecot: Dovecot, count: int) -> None:
    """Each mail three times, in any order, over a while."""
    numbers = [number for number in range(count) for _ in range(COPIES)]
    random.Random(7).shuffle(numbers)
    for number in numbers:
        dovecot.deliver(SUPPORT, a_mail(number, body=ORDER if number % 2 else QUESTION))
        await asyncio.sleep(0.002)


async def connected(folder: Path, url: str) -> None:
    """Once the mailbox's end is remembered, what comes after it counts."""
    if "://" not in url:
        await until((folder / "desk.db").exists)
    async with open_database(url) as database:
        memory = channel_store(database, "mails", "support", "looking on")

        async def marked() -> bool:
            return await memory.mark("INBOX") is not None

        await until(marked)


async def _at_rest(
    url: str, count: int, within: float, dovecot: Dovecot, doubts: Counter[str]
) -> None:
    async with open_database(url) as database:
        store = open_store(database, "mails")

        async def all_sent() -> bool:
            doubts["in doubt"] += await settle_doubts(store, dovecot, REVIEWERS[0])
            return len(await store.runs(status=RunStatus.SENT, limit=count + 1)) >= count

        await until(all_sent, within)


async def _runs(url: str) -> dict[str, int]:
    async with open_database(url) as database:
        runs = await open_store(database, "mails").runs(limit=100_000)
    return {"runs": len(runs), "sent": sum(run.status is RunStatus.SENT for run in runs)}
