"""Reviewers hear of what waits: each webhook and each digest until it arrives, and none of them
twice."""

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from deskhand.adapters.stores.notices import TAKEN_FOR, SqlNoticeStore
from deskhand.adapters.webhooks import Webhook
from deskhand.config.sections.notify import ClockTime, DigestSpec, WebhookSpec
from deskhand.engine.notifier import RETRY_AFTER, STALE, Digest, Hook, Notifier, slot_of
from deskhand.errors import ConfigError, RetryableError, ToolError
from deskhand.model.causes import Cause
from deskhand.model.message import Reply
from deskhand.model.notice import NoticeState
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import TestClock, a_message
from tests.many_reviews import add_like

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()
MORNING = datetime(2026, 11, 16, 8, 31, tzinfo=UTC).timestamp()
TWICE_A_DAY = (ClockTime(8, 30), ClockTime(13, 0))


@pytest.fixture(params=sorted(ADAPTERS))
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened


@dataclass
class Ear:
    """The operator's own server."""

    answers: list[int] = field(default_factory=list)
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        self.heard.append((dict(request.headers), await request.read()))
        status = self.answers.pop(0) if self.answers else 204
        return web.Response(status=status, headers={"Location": f"{self.url}/elsewhere"})


@asynccontextmanager
async def listening() -> AsyncIterator[Ear]:
    ear = Ear()
    app = web.Application()
    app.router.add_post("/{tail:.*}", ear.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    ear.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
    try:
        yield ear
    finally:
        await runner.cleanup()


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


def hook_to(url: str, tmp_path: Path, content: bool = False) -> Hook:
    (tmp_path / "secret").write_text(SECRET)
    spec = WebhookSpec(url=url, secret_file=tmp_path / "secret", content=content)
    return Hook(spec, Webhook(spec).post)


def told(heard: list[tuple[dict[str, str], bytes]]) -> list[tuple[str, str, str]]:
    documents = [json.loads(body) for _, body in heard]
    return [(one["type"], one["data"]["review"], one["data"]["state"]) for one in documents]


async def test_a_webhook_is_signed_and_tells_nothing_of_the_message(
    stores: Stores, tmp_path: Path
) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        notifier = Notifier(store, notices, clock, hook_to(ear.url, tmp_path))
        review = await parked(store, 1)
        await parked(
            store, 2, expires_at=MORNING + 30, fallback=Decision.APPROVE
        )  # leaves by itself: no news
        await notifier.once()
        await notifier.once()
        await store.decide(review.id, Verdict(Decision.REJECT, "ida", review.version))
        await notifier.once()
        assert told(ear.heard) == [
            ("review.opened", review.id, "open"),
            ("review.closed", review.id, "decided"),
        ]
        headers, body = ear.heard[0]
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = hmac.new(b"a secret of thirty-two bytes ...", signed, sha256).digest()
        assert headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
        assert headers["webhook-id"] == f"{review.id}.opened"
        assert "secret" not in body.decode()
        assert json.loads(body)["data"]["causes"] == ["below_threshold"]


async def test_content_comes_along_only_where_it_was_asked_for(
    stores: Stores, tmp_path: Path
) -> None:
    store = await stores()
    async with listening() as ear:
        clock = TestClock(MORNING)
        notices = SqlNoticeStore(store._database, "desk", clock.now)
        await parked(store, 1)
        await Notifier(store, notices, clock, hook_to(ear.url, tmp_path, content=True)).once()
        data = json.loads(ear.heard[0][1])["data"]
        assert (data["reason"], data["subject"]) == ("a secret reason", "My parcel")
        assert "draft" not in json.dumps(data)


async def test_a_webhook_that_fails_is_told_again_under_the_same_id_and_given_up_in_the_end(
    stores: Stores, tmp_path: Path
) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        ear.answers = [500, 302]
        notifier = Notifier(store, notices, clock, hook_to(ear.url, tmp_path))
        review = await parked(store, 1)
        for _ in range(3):
            await notifier.once()
            await notifier.once()  # not before its time
            clock.at += max(RETRY_AFTER)
        assert [headers["webhook-id"] for headers, _ in ear.heard] == [f"{review.id}.opened"] * 3
        assert await notices.states() == {f"{review.id}.opened": NoticeState.DONE}
        ear.answers = [503] * 100
        other = await parked(store, 2)
        for _ in range(len(RETRY_AFTER) + 2):
            await notifier.once()
            clock.at += max(RETRY_AFTER)
        assert (await notices.states())[f"{other.id}.opened"] is NoticeState.FAILED
        assert [event.kind for event in await store.events()][-1] == "notice.failed"


async def test_a_webhook_tells_of_the_newest_message_also_while_hundreds_wait(
    stores: Stores, tmp_path: Path
) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        await add_like(store, await parked(store, 1), 300)
        newest = await parked(store, 2)
        await Notifier(store, notices, clock, hook_to(ear.url, tmp_path, content=True)).once()
    documents = [json.loads(body)["data"] for _, body in ear.heard]
    [about] = [data for data in documents if data["review"] == newest.id]
    assert "My parcel" in json.dumps(about)


async def test_a_digest_counts_all_that_waits(stores: Stores) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    await add_like(store, await parked(store, 1), 1100)
    post = Post()
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    await Notifier(store, notices, clock, digest=post.digest()).once()
    assert "1101 waiting for a person" in post.sent[0][2]


async def test_a_notice_that_a_dead_process_took_is_told_by_another(
    stores: Stores, tmp_path: Path
) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        notifier = Notifier(store, notices, clock, hook_to(ear.url, tmp_path))
        await parked(store, 1)
        await notices.announce(
            lambda review, kind, message: {
                "type": kind,
                "data": {"review": review.id, "state": "open"},
            }
        )
        assert len(await notices.take(digests=False)) == 1  # and dies
        await notifier.once()
        assert ear.heard == []
        clock.at += TAKEN_FOR + 1
        await asyncio.gather(*(notifier.once() for _ in range(4)))
        assert len(ear.heard) == 1


async def test_nobody_at_home_and_a_missing_secret_are_said(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("plain")
    nowhere = Webhook(WebhookSpec(url="http://127.0.0.1:9/", secret_file=tmp_path / "secret"))
    with pytest.raises(RetryableError, match="could not be reached"):
        await nowhere.post("id", 0.0, {})
    with pytest.raises(ConfigError, match="HOOK_SECRET"):
        await Webhook(WebhookSpec(url="http://127.0.0.1:9/", secret_env="HOOK_SECRET")).post(
            "id", 0.0, {}
        )


# --- digests


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


async def test_webhooks_and_digests_do_not_take_each_others_words(
    stores: Stores, tmp_path: Path
) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    post = Post()
    async with listening() as ear:
        notifier = Notifier(
            store, notices, clock, hook_to(ear.url, tmp_path), post.digest("lead@acme.example")
        )
        review = await parked(store, 1)
        await notifier.once()
        await notifier.once()
        assert told(ear.heard) == [("review.opened", review.id, "open")]
    assert len(post.sent) == 1


def test_a_digest_has_its_time_in_the_desks_time_zone() -> None:
    spec = DigestSpec(channel="support", to=("a@acme.example",), at=TWICE_A_DAY)
    at = datetime(2026, 11, 16, 7, 45, tzinfo=UTC).timestamp()
    assert slot_of(spec, at, "UTC") is None
    assert slot_of(spec, at, "Europe/Prague") == "20261116T0830"
    assert slot_of(spec, at + 3600, "Europe/Prague") is None
