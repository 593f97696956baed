"""Reviewers hear of what waits: each digest until it arrives, and none of them twice."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.notices import SqlNoticeStore
from deskhand.config.sections.notify import ClockTime, DigestSpec
from deskhand.engine.notifier import RETRY_AFTER, STALE, Digest, Notifier, slot_of
from deskhand.errors import RetryableError, ToolError
from deskhand.model.causes import Cause
from deskhand.model.message import Reply
from deskhand.model.notice import NoticeState
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import NewReview, ReviewKind, RunStatus
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import TestClock, a_message
from tests.many_reviews import add_like

MORNING = datetime(2026, 11, 16, 8, 31, tzinfo=UTC).timestamp()
TWICE_A_DAY = (ClockTime(8, 30), ClockTime(13, 0))


@pytest.fixture(params=sorted(ADAPTERS))
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened


async def parked(store: Any, number: int, **fields: Any) -> Any:
    accepted = await store.accept(a_message(number, body="a secret matter"), flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    known = {
        "causes": (Cause.BELOW_THRESHOLD,),
        "facts": {"category": "inquiry", "language": "en"},
        **fields,
    }
    review = NewReview(
        ReviewKind.REPLY, "a secret reason", {"reply": {"text": "a secret draft"}}, 0, **known
    )
    await store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
    return (await store.find_reviews(ReviewFilter(run_id=accepted.run_id)))[-1]


async def test_a_digest_counts_all_that_waits(stores: Stores) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    await add_like(store, await parked(store, 1), 1100)
    post = Post()
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    await Notifier(store, notices, clock, digest=post.digest()).once()
    assert "1101 waiting for a person" in post.sent[0][2]


@dataclass
class Post:
    """A mail server: what it does with each attempt, and what has left."""

    faults: list[Exception | None] = field(default_factory=list)
    """What it answers next; a ConnectionError after it has taken the mail."""
    sent: list[tuple[str, str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    knows: bool = True
    """Whether it can say what has left."""

    async def mail(self, reply: Reply, key: str) -> None:
        fault = self.faults.pop(0) if self.faults else None
        if fault is None or isinstance(fault, ConnectionError):
            self.sent.append((key, reply.to, reply.text))
        if fault is not None:
            raise fault

    async def find(self, key: str) -> str | None:
        self.asked.append(key)
        if not self.knows:
            raise ToolError("no_copy", "no copy would show it", recoverable=False)
        return next((key for known, _, _ in self.sent if known == key), None)

    def digest(self, *to: str, **more: Any) -> Digest:
        people = to or ("lead@acme.example", "ida@acme.example")
        spec = DigestSpec(channel="support", to=people, at=TWICE_A_DAY, **more)
        return Digest(spec, self.mail, self.find, "UTC")


async def test_a_digest_leaves_once_a_time_and_person_however_many_processes_there_are(
    stores: Stores,
) -> None:
    clock = TestClock(MORNING)
    many = [await stores(now=clock.now) for _ in range(4)]
    post = Post()
    sent = post.sent
    everywhere = [
        Notifier(one, SqlNoticeStore(one._database, "desk", clock.now), clock, digest=post.digest())
        for one in many
    ]
    await asyncio.gather(*(one.once() for one in everywhere))
    assert sent == []  # nothing waits
    review = await parked(many[0], 1)
    await asyncio.gather(*(one.once() for one in everywhere * 2))
    assert sorted(to for _, to, _ in sent) == ["ida@acme.example", "lead@acme.example"]
    assert "below threshold" in sent[0][2]
    assert review.id in sent[0][2]
    assert "My parcel" not in sent[0][2]
    clock.at = MORNING + 4.5 * 3600
    await asyncio.gather(*(one.once() for one in everywhere))
    assert len(sent) == 4


async def tried(stores: Stores, post: Post, times: int) -> dict[str, NoticeState]:
    """A digest to one person, from processes that each die after one attempt."""
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    await parked(store, 1)
    for attempt in range(times):
        notifier = Notifier(store, notices, clock, digest=post.digest("lead@acme.example"))
        await notifier.once()
        await notifier.once()  # not before its time
        clock.at += RETRY_AFTER[attempt] + 1
    return await notices.states()


async def test_a_digest_that_did_not_leave_is_sent_later_also_by_another_process(
    stores: Stores,
) -> None:
    post = Post(faults=[RetryableError("the server is away"), ToolError("busy", "not now")])
    assert set((await tried(stores, post, 5)).values()) == {NoticeState.DONE}
    assert [to for _, to, _ in post.sent] == ["lead@acme.example"]


async def test_a_digest_that_left_although_nobody_heard_it_is_not_sent_again(
    stores: Stores,
) -> None:
    post = Post(faults=[ConnectionError("cut off after the last line")])
    assert set((await tried(stores, post, 3)).values()) == {NoticeState.DONE}
    assert len(post.sent) == 1
    assert len(post.asked) == 1


async def test_a_digest_of_which_nobody_can_tell_is_given_up_and_said(stores: Stores) -> None:
    post = Post(faults=[ConnectionError("cut off after the last line")], knows=False)
    assert set((await tried(stores, post, 3)).values()) == {NoticeState.FAILED}
    assert len(post.sent) == 1


async def test_a_digest_that_is_refused_or_late_is_given_up_visibly(stores: Stores) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    await parked(store, 1)
    post = Post(
        faults=[
            ToolError("mail_refused", "no such user", recoverable=False),
            RetryableError("away"),
        ]
    )
    notifier = Notifier(store, notices, clock, digest=post.digest())
    await notifier.once()
    clock.at += STALE + 1
    await notifier.once()
    assert post.sent == []
    failed = await notices.failed(MORNING)
    assert sorted(one.error for one in failed) == [
        "it could not be sent in time; the next digest takes its place",
        "no such user",
    ]
    assert [event.kind for event in await store.events()][-2:] == ["notice.failed", "notice.failed"]
    assert await notices.failed(clock.at) == []


def test_a_digest_has_its_time_in_the_desks_time_zone() -> None:
    spec = DigestSpec(channel="support", to=("a@acme.example",), at=TWICE_A_DAY)
    at = datetime(2026, 11, 16, 7, 45, tzinfo=UTC).timestamp()
    assert slot_of(spec, at, "UTC") is None
    assert slot_of(spec, at, "Europe/Prague") == "20261116T0830"
    assert slot_of(spec, at + 3600, "Europe/Prague") is None
