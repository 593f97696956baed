"""Reviewers hear of what waits: a webhook until it arrives, a digest at most once."""

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncIterator, Callable
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
from deskhand.config.notify import DigestSpec, WebhookSpec
from deskhand.engine.notifying import RETRY_AFTER, Digest, Hook, Notifier, slot_of
from deskhand.errors import ConfigError, RetryableError
from deskhand.model.causes import Cause
from deskhand.model.message import Reply
from deskhand.model.notice import NoticeState
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import TestClock, a_message

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()
MORNING = datetime(2026, 11, 16, 8, 31, tzinfo=UTC).timestamp()


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
    known = {"causes": (Cause.BELOW_THRESHOLD,), "facts": {"category": "inquiry", "language": "en"}, **fields}
    review = NewReview(ReviewKind.REPLY, "a secret reason", {"reply": {"text": "a secret draft"}}, 0, **known)
    await store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
    return (await store.reviews(run_id=accepted.run_id))[-1]


def hook_to(url: str, tmp_path: Path, content: bool = False) -> Hook:
    (tmp_path / "secret").write_text(SECRET)
    spec = WebhookSpec(url=url, secret_file=tmp_path / "secret", content=content)
    return Hook(spec, Webhook(spec).post)


def told(heard: list[tuple[dict[str, str], bytes]]) -> list[tuple[str, str, str]]:
    documents = [json.loads(body) for _, body in heard]
    return [(one["type"], one["data"]["review"], one["data"]["state"]) for one in documents]


async def test_a_webhook_is_signed_and_tells_nothing_of_the_message(stores: Stores, tmp_path: Path) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        notifier = Notifier(store, notices, clock, hook_to(ear.url, tmp_path))
        review = await parked(store, 1)
        await parked(store, 2, expires_at=MORNING + 30, fallback=Decision.APPROVE)  # leaves by itself: no news
        await notifier.once()
        await notifier.once()
        await store.decide(review.id, Verdict(Decision.REJECT, "ida", review.version))
        await notifier.once()
        assert told(ear.heard) == [("review.opened", review.id, "open"), ("review.closed", review.id, "decided")]
        headers, body = ear.heard[0]
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = hmac.new(b"a secret of thirty-two bytes ...", signed, sha256).digest()
        assert headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
        assert headers["webhook-id"] == f"{review.id}.opened"
        assert "secret" not in body.decode()
        assert json.loads(body)["data"]["causes"] == ["below_threshold"]


async def test_content_comes_along_only_where_it_was_asked_for(stores: Stores, tmp_path: Path) -> None:
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


async def test_a_notice_that_a_dead_process_took_is_told_by_another(stores: Stores, tmp_path: Path) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    async with listening() as ear:
        notifier = Notifier(store, notices, clock, hook_to(ear.url, tmp_path))
        await parked(store, 1)
        await notices.announce(lambda review, kind: {"type": kind, "data": {"review": review.id, "state": "open"}})
        assert len(await notices.take()) == 1  # and dies
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
        await Webhook(WebhookSpec(url="http://127.0.0.1:9/", secret_env="HOOK_SECRET")).post("id", 0.0, {})


# --- digests


def digest_of(sent: list[tuple[str, str, str]], fails: Callable[[], bool] = lambda: False, **more: Any) -> Digest:
    async def mail(reply: Reply, key: str) -> None:
        if fails():
            raise RetryableError("the server is away")
        sent.append((key, reply.to, reply.text))

    spec = DigestSpec(channel="support", to=("lead@acme.example", "ida@acme.example"), at=((8, 30), (13, 0)), **more)
    return Digest(spec, mail, "UTC")


async def test_a_digest_leaves_once_a_time_and_person_however_many_processes_there_are(stores: Stores) -> None:
    clock = TestClock(MORNING)
    many = [await stores(now=clock.now) for _ in range(4)]
    sent: list[tuple[str, str, str]] = []
    everywhere = [
        Notifier(one, SqlNoticeStore(one._database, "desk", clock.now), clock, digest=digest_of(sent)) for one in many
    ]
    await asyncio.gather(*(one.once() for one in everywhere))
    assert sent == []  # nothing waits
    review = await parked(many[0], 1)
    await asyncio.gather(*(one.once() for one in everywhere), *(one.once() for one in everywhere))
    assert sorted(to for _, to, _ in sent) == ["ida@acme.example", "lead@acme.example"]
    assert "below threshold" in sent[0][2]
    assert review.id in sent[0][2]
    assert "My parcel" not in sent[0][2]
    clock.at = MORNING + 4.5 * 3600
    await asyncio.gather(*(one.once() for one in everywhere))
    assert len(sent) == 4


async def test_a_digest_that_may_have_left_is_not_sent_again(stores: Stores) -> None:
    clock = TestClock(MORNING)
    store = await stores(now=clock.now)
    notices = SqlNoticeStore(store._database, "desk", clock.now)
    sent: list[tuple[str, str, str]] = []
    await parked(store, 1)
    away = Notifier(store, notices, clock, digest=digest_of(sent, fails=lambda: True))
    await away.once()
    await Notifier(store, notices, clock, digest=digest_of(sent, page="https://desk.example/approvals/")).once()
    assert sent == []
    assert set((await notices.states()).values()) == {NoticeState.FAILED}


def test_a_digest_has_its_time_in_the_desks_time_zone() -> None:
    spec = DigestSpec(channel="support", to=("a@acme.example",), at=((8, 30), (13, 0)))
    at = datetime(2026, 11, 16, 7, 45, tzinfo=UTC).timestamp()
    assert slot_of(spec, at, "UTC") is None
    assert slot_of(spec, at, "Europe/Prague") == "20261116T0830"
    assert slot_of(spec, at + 3600, "Europe/Prague") is None
