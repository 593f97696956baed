"""One approval after another, each with a process that is killed somewhere between the click and
the mail's record.

The desk is served by a process of its own, reads a real mailbox and sends through a mail server;
reviewers click over HTTP. What a customer got is counted in his mailbox.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deskhand.engine.audit import verify_desk
from deskhand.model.access import Scope
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, RunStatus
from deskhand.wiring import DeskStore, api_keys, channel_store, open_database, open_store
from tests.chaos.armed_server import ARMED, CRASH_AT, LOG
from tests.chaos.doubts import settle_doubts
from tests.mail_desk import write_desk
from tests.mail_servers import CUSTOMER, SUPPORT, Dovecot, SmtpServer, a_mail, smtp_server
from tests.servers import free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]
NAME = "mails"
EDITED = "It left this morning."
WITHIN = 120.0


@dataclass
class Bench:
    """The desk's process, the mail servers and the people around it; one mail after another."""

    folder: Path
    url: str
    desk: Path
    dovecot: Dovecot
    smtp: SmtpServer
    store: DeskStore
    secret: str
    port: int = field(default_factory=free_port)
    expected: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """By the customer's mail: how many answers he must have got, and of which words."""
    kills: Counter[str] = field(default_factory=Counter)
    _nurse: asyncio.subprocess.Process | None = None
    _child: int = 0
    _over: asyncio.Task[int] | None = None
    """The exit code of the serving process, once it has one."""

    # --- the process

    async def open(self) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self._nurse = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.chaos.armed_server", str(self.folder)),
            cwd=self.folder,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        await self.start()

    async def start(self) -> None:
        assert self._nurse is not None
        assert self._nurse.stdin is not None
        command = ["serve", str(self.desk), "--database", self.url, "--port", str(self.port)]
        self._nurse.stdin.write(json.dumps(command).encode() + b"\n")
        self._child = await self._told()
        self._over = asyncio.create_task(self._told())
        await until(self._answers, WITHIN)

    async def _told(self) -> int:
        assert self._nurse is not None
        assert self._nurse.stdout is not None
        return int(await self._nurse.stdout.readline())

    @property
    def dead(self) -> bool:
        assert self._over is not None
        return self._over.done()

    async def stop(self) -> None:
        if self._over is not None:
            self._signal(signal.SIGTERM)
            await self._over
        if self._nurse is not None:
            assert self._nurse.stdin is not None
            self._nurse.stdin.close()
            await self._nurse.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, number)

    async def arm(self, setting: str) -> None:
        """From now on the process dies at this point; at none where the setting is empty."""
        (self.folder / CRASH_AT).write_text(setting)
        (self.folder / ARMED).unlink(missing_ok=True)
        self._signal(signal.SIGUSR1)
        await until(lambda: self.dead or (self.folder / ARMED).exists(), WITHIN)

    async def dies_or(self, done: Callable[[], Awaitable[bool]]) -> bool:
        """Wait for what was to come of a click, or for the process's death; whether it died. It
        lives afterwards."""

        async def over() -> bool:
            return self.dead or await done()

        await until(over, WITHIN)
        if not self.dead:
            await self.arm("")
        if not self.dead:
            return False
        assert self._over is not None
        assert self._over.result() == -signal.SIGKILL, (self.folder / LOG).read_text()[-3000:]
        await self.start()
        return True

    async def _answers(self) -> bool:
        if self.dead:
            raise AssertionError((self.folder / LOG).read_text()[-3000:])
        try:
            async with httpx.AsyncClient(timeout=10) as client:
                return (
                    await client.get(f"http://127.0.0.1:{self.port}/healthz")
                ).status_code == 200
        except httpx.TransportError:
            return False

    # --- people

    async def review_of(self, mail: str, *, beside: str = "") -> Review:
        """The open review about the answer to a mail."""
        found: list[Review] = []

        async def opened() -> bool:
            waiting = await self.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=200)
            found[:] = [one for one in waiting if _answered(one) == mail and one.id != beside]
            return bool(found)

        await until(opened, WITHIN)
        return found[0]

    async def write(self) -> str:
        """The customer writes; the Message-ID of the mail."""
        number = len(self.expected) + 1
        self.dovecot.deliver(SUPPORT, a_mail(number))
        mail = f"<{number}@example.test>"
        self.expected[mail] = (1, None)
        return mail

    async def click(self, review: Review, action: str = "decision", **body: Any) -> int | None:
        """The status of the answer; None when none came."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        shown = (
            {}
            if action == "undo"
            else {"version": review.version, "payload_hash": review.payload_hash, **body}
        )
        address = f"http://127.0.0.1:{self.port}/api/reviews/{review.id}/{action}"
        try:
            async with httpx.AsyncClient(timeout=60, headers=headers) as client:
                return (await client.post(address, json=shown)).status_code
        except httpx.TransportError:
            return None

    async def status(self, review: Review) -> RunStatus:
        return (await self.store.run(review.run_id)).status

    async def sent(self, review: Review) -> bool:
        """Whether its reply has left; somebody says so where the desk cannot know."""
        await settle_doubts(self.store, self.dovecot, "eve")
        return await self.status(review) is RunStatus.SENT

    # --- what came of it

    def answers(self, mail: str) -> list[str]:
        mails = [one for one in self.dovecot.mails(CUSTOMER) if str(one["In-Reply-To"]) == mail]
        return [str(one.get_content()) for one in mails]

    async def check(self) -> None:
        """After the last stop: what customers and we have, and every chain."""
        for mail, (count, words) in self.expected.items():
            got = self.answers(mail)
            assert len(got) == count, f"{mail}: {len(got)} answers instead of {count}"
            assert words is None or all(words in text for text in got), (mail, got)
        copies = [*self.dovecot.mails(SUPPORT), *self.dovecot.mails(SUPPORT, "Sent")]
        ours = Counter(
            str(one["Message-ID"]) for one in copies if str(one["From"]).endswith(f"<{SUPPORT}>")
        )
        assert all(count == 1 for count in ours.values()), ours
        report = await verify_desk(self.store)
        assert report.ok, report.problems


def _answered(review: Review) -> str:
    return str((review.payload.get("reply") or {}).get("in_reply_to") or "")


@asynccontextmanager
async def bench(folder: Path, postgres: str | None, *, undo: float = 0) -> AsyncIterator[Bench]:
    """A desk at work that a person approves every answer of; checked as a whole once it is
    stopped."""
    url = postgres or str(folder / "desk.db")
    async with AsyncExitStack() as stack:
        dovecot = Dovecot(SUPPORT, CUSTOMER)
        stack.callback(dovecot.remove)
        smtp = await stack.enter_async_context(smtp_server(dovecot, SUPPORT, CUSTOMER))
        more = "limits: {replies_per_hour: 1000000}\nmodes: {else: draft}"
        desk = write_desk(folder, dovecot, smtp, undo=undo, more=more)
        database = await stack.enter_async_context(open_database(url))
        store = open_store(database, NAME)
        _, secret = await api_keys(database).add(
            "eve", (Scope.REVIEWS_READ, Scope.REVIEWS_WRITE), (NAME,)
        )
        here = Bench(folder, url, desk, dovecot, smtp, store, secret)
        try:
            await here.open()
            memory = channel_store(database, NAME, "support", "looking on")

            async def marked() -> bool:
                return await memory.mark("INBOX") is not None

            await until(marked, WITHIN)  # what comes after the mailbox's remembered end counts
            yield here
        finally:
            await here.stop()
        await here.check()


Story = Callable[[Bench, str], Awaitable[bool]]
"""One mail's approval with a point armed; whether the process died."""


async def approved(bench: Bench, point: str) -> bool:
    """Whoever got no answer to his click looks again and clicks again if it is still there."""
    review = await bench.review_of(await bench.write())
    await bench.arm(point)
    answer = await bench.click(review, decision=Decision.APPROVE)
    died = await bench.dies_or(lambda: bench.sent(review))
    if answer is None and (await bench.store.review(review.id)).state is ReviewState.OPEN:
        assert await bench.click(review, decision=Decision.APPROVE) == 200
    await until(lambda: bench.sent(review), WITHIN)
    return died


async def approved_again(bench: Bench, point: str) -> bool:
    """Whatever the first click's answer was, everybody clicks once more."""
    review = await bench.review_of(await bench.write())
    await bench.arm(point)
    first = await bench.click(review, decision=Decision.APPROVE)
    died = await bench.dies_or(lambda: bench.sent(review))
    second, third = await asyncio.gather(
        *(bench.click(review, decision=Decision.APPROVE) for _ in range(2))
    )
    assert [first, second, third].count(200) <= 1, (first, second, third)
    assert {first, second, third} <= {200, 409, None}, (first, second, third)
    await until(lambda: bench.sent(review), WITHIN)
    return died


async def edited(bench: Bench, point: str) -> bool:
    mail = await bench.write()
    bench.expected[mail] = (1, EDITED)
    review = await bench.review_of(mail)
    await bench.arm(point)
    answer = await bench.click(review, decision=Decision.EDIT, edit={"text": EDITED})
    died = await bench.dies_or(lambda: bench.sent(review))
    if answer is None and (await bench.store.review(review.id)).state is ReviewState.OPEN:
        assert await bench.click(review, decision=Decision.EDIT, edit={"text": EDITED}) == 200
    await until(lambda: bench.sent(review), WITHIN)
    return died


async def revised(bench: Bench, point: str) -> bool:
    """Sent back for another draft, which is approved: one answer, and none before that."""
    mail = await bench.write()
    review = await bench.review_of(mail)
    await bench.arm(point)
    answer = await bench.click(review, decision=Decision.REVISE, note="shorter")

    async def again() -> bool:
        waiting = await bench.store.find_reviews(
            ReviewFilter(state=ReviewState.OPEN, run_id=review.run_id)
        )
        return bool(waiting) and waiting[0].id != review.id

    died = await bench.dies_or(again)
    if answer is None and (await bench.store.review(review.id)).state is ReviewState.OPEN:
        assert await bench.click(review, decision=Decision.REVISE, note="shorter") == 200
    new = await bench.review_of(mail, beside=review.id)
    assert bench.answers(mail) == []
    assert await bench.click(review, decision=Decision.APPROVE) == 409
    assert await bench.click(new, decision=Decision.APPROVE) == 200
    await until(lambda: bench.sent(new), WITHIN)
    return died


async def undone(bench: Bench, point: str) -> bool:
    """Approved, and stopped before its time is over: nothing leaves, and what was stopped can be
    rejected."""
    mail = await bench.write()
    bench.expected[mail] = (0, None)
    review = await bench.review_of(mail)
    assert await bench.click(review, decision=Decision.APPROVE) == 200
    leaving = await bench.review_of(mail, beside=review.id)
    await bench.arm(point)
    answer = await bench.click(review, "undo")

    async def held() -> bool:
        return (await bench.store.review(leaving.id)).fallback is None

    died = await bench.dies_or(held)
    if not await held():
        assert answer is None, "it was told that the reply is stopped"
        assert await bench.click(review, "undo") == 200
    stopped = await bench.store.review(leaving.id)
    assert (stopped.state, stopped.fallback) == (ReviewState.OPEN, None), stopped
    assert await bench.click(stopped, decision=Decision.REJECT) == 200
    return died


async def every_passage(bench: Bench, story: Story, point: str, most: int = 40) -> int:
    """The story with a death at the first passage of a point, at the second and so on, until one
    is never come to."""
    for passage in range(1, most + 1):
        if not await story(bench, f"{point}:{passage}"):
            return passage - 1
        bench.kills[point] += 1
    return most
