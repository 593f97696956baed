"""Webhooks: every event reaches every address that asked, at least once and under one id."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.webhook_endpoints import SqlWebhookEndpoints
from deskhand.adapters.stores.webhook_outbox import TAKEN_FOR, SqlWebhookOutbox
from deskhand.adapters.webhook_addresses import AllowedAddresses
from deskhand.adapters.webhook_secrets import BOTH_FOR, WebhookSecrets
from deskhand.adapters.webhooks import WebhookPost, post_of_desk_file, post_of_endpoint
from deskhand.config.sections.notify import WebhookSpec
from deskhand.crashpoints import Crash, arm, disarm
from deskhand.engine.retention import prune_by_age
from deskhand.engine.webhook_courier import DISABLED_AFTER, RETRY_AFTER, WebhookCourier
from deskhand.engine.webhook_events import told_events
from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.audited import Kept
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from deskhand.model.ticket import TicketEventKind
from deskhand.model.webhook import CHOSEN, DeliveryState, Endpoint, WebhookEvent
from deskhand.tickets import rules
from deskhand.tickets.handling import open_ticket
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import TestClock, a_message
from tests.tickets_kit import tickets_of
from tests.webhook_receiver import Receiver, receiving

NOW = 1_794_816_000.0
KEY = "a key of at least thirty-two characters"
SECRETS = WebhookSecrets(KEY)
LONG = max(RETRY_AFTER) * 1.2


@pytest.fixture(params=sorted(ADAPTERS))
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as listening:
        yield listening


def loopback() -> AllowedAddresses:
    return AllowedAddresses([ip_network("127.0.0.0/8")])


class Bench:
    """A store, the addresses of its database and a courier, by one clock."""

    def __init__(self, store: Any, clock: TestClock) -> None:
        self.store = store
        self.clock = clock
        self.endpoints = SqlWebhookEndpoints(store._database, SECRETS, loopback(), clock.now)
        self.courier = self.another()

    def another(self) -> WebhookCourier:
        """A courier of another process."""
        outbox = SqlWebhookOutbox(self.store._database, "desk", self.clock.now)

        def post_of(endpoint: Endpoint) -> Any:
            return post_of_endpoint(endpoint, SECRETS, loopback()).post

        return WebhookCourier("desk", outbox, post_of, self.clock)

    async def parked(self, number: int = 1, kind: ReviewKind = ReviewKind.REPLY) -> Any:
        """A review that waits for somebody."""
        accepted = await self.store.accept(a_message(number, body="a secret matter"), flow="flow")
        await self.store.claim(accepted.run_id, {"flow": "v1"})
        review = NewReview(
            kind,
            "a secret reason",
            {"reply": {"text": "a secret draft"}},
            0,
            causes=(Cause.BELOW_THRESHOLD,),
            facts={"category": "inquiry", "language": "en"},
        )
        await self.store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
        return (await self.store.find_reviews(ReviewFilter(run_id=accepted.run_id)))[-1]

    async def count(self, table: sa.Table) -> int:
        query = sa.select(sa.func.count()).select_from(table)
        return int(
            await self.store._database.read_core(lambda core: core.execute(query).scalar_one())
        )


@pytest.fixture
async def bench(stores: Stores) -> Bench:
    clock = TestClock(NOW)
    return Bench(await stores(now=clock.now), clock)


async def test_an_address_is_told_what_it_asked_for_signed_and_without_a_customers_words(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, secret = await bench.endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
    review = await bench.parked()
    await bench.courier.once()
    await bench.courier.once()
    await bench.store.decide(review.id, Verdict(Decision.REJECT, "ida", review.version))
    await bench.store.claim(review.run_id, {"flow": "v1"})
    await bench.store.finish(review.run_id, RunStatus.SENT)
    await bench.courier.once()
    assert receiver.types == ["review.opened", "review.closed", "run.ended", "run.answered"]
    assert all(heard.is_signed_with(secret) for heard in receiver.heard)
    opened, closed, ended, answered = receiver.heard
    assert opened.id == f"{review.id}.opened"
    assert (opened.data["state"], closed.data["state"]) == ("open", "decided")
    assert (closed.data["decision"], closed.data["decided_by"]) == ("reject", "ida")
    assert (ended.data["run"], ended.data["status"]) == (review.run_id, "sent")
    assert ended.id != answered.id
    assert not any(b"secret" in heard.body for heard in receiver.heard)
    log = await bench.endpoints.deliveries(endpoint.id)
    assert {(row.state, row.status, row.attempts) for row in log} == {(DeliveryState.DONE, 204, 1)}


async def test_only_the_events_and_desks_that_were_chosen_are_told(
    bench: Bench, receiver: Receiver
) -> None:
    handed_over = [WebhookEvent.HANDED_OVER]
    await bench.endpoints.add(receiver.url, handed_over, ["desk"], "ada", content=True)
    await bench.endpoints.add(receiver.url, CHOSEN, ["another"], "ada")
    await bench.parked(1)
    review = await bench.parked(2, ReviewKind.HAND_OVER)
    await bench.courier.once()
    [heard] = receiver.heard
    assert (heard.type, heard.data["review"]) == ("conversation.handed_over", review.id)
    assert heard.data["reason"] == "a secret reason"
    assert heard.data["subject"] == "My parcel"


async def test_nobody_is_told_of_what_was_before_they_asked(
    bench: Bench, receiver: Receiver
) -> None:
    await bench.parked(1)
    assert await bench.count(t.webhook_events) == 0  # nobody wants to know
    await bench.endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
    bench.clock.at += 10
    await bench.endpoints.add(f"{receiver.url}/later", CHOSEN, ["*"], "ada")
    bench.clock.at += 10
    await bench.parked(2)
    await bench.courier.once()
    assert len(receiver.heard) == 2


async def test_what_fails_is_tried_again_ever_more_rarely_under_the_same_id(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    receiver.answers = [500, 302]
    review = await bench.parked()
    pauses = []
    for _ in range(3):
        await bench.courier.once()
        await bench.courier.once()  # not before its time
        [delivery] = await bench.endpoints.deliveries(endpoint.id)
        pauses.append(delivery.next_at - bench.clock.at)
        bench.clock.at = max(bench.clock.at, delivery.next_at)
    assert [heard.id for heard in receiver.heard] == [f"{review.id}.opened"] * 3
    assert 5 <= pauses[0] <= 5.5
    assert 300 <= pauses[1] <= 330
    assert (delivery.state, delivery.attempts) == (DeliveryState.DONE, 3)
    assert (await bench.endpoints.find(endpoint.id)).failing_since is None


async def test_the_other_side_may_ask_to_be_left_alone(bench: Bench, receiver: Receiver) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    receiver.answers, receiver.retry_after = [429], "7200"
    await bench.parked()
    await bench.courier.once()
    [delivery] = await bench.endpoints.deliveries(endpoint.id)
    assert (delivery.status, delivery.next_at) == (429, bench.clock.at + 7200)


async def test_an_address_that_fails_for_days_is_switched_off_and_says_why(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    receiver.answers = [503] * 100
    await bench.parked()
    for _ in range(len(RETRY_AFTER) + 1):
        await bench.courier.once()
        bench.clock.at += LONG
    off = await bench.endpoints.find(endpoint.id)
    assert off.disabled_at is not None
    assert "503" in off.disabled_because
    assert "webhook.disabled" in [event.kind for event in await bench.store.events()]
    heard = len(receiver.heard)
    assert heard * LONG > DISABLED_AFTER
    await bench.parked(2)
    await bench.courier.once()
    assert len(receiver.heard) == heard  # nobody is asked any more

    receiver.answers = []
    await bench.endpoints.enable(endpoint.id)
    bench.clock.at += LONG
    await bench.courier.once()
    assert len(receiver.heard) == heard + 1  # what waited; the second came while it was off


async def test_an_address_that_is_gone_is_switched_off_at_once(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    receiver.answers = [410]
    await bench.parked()
    await bench.courier.once()
    assert "410" in (await bench.endpoints.find(endpoint.id)).disabled_because
    [delivery] = await bench.endpoints.deliveries(endpoint.id)
    assert delivery.state is DeliveryState.FAILED


async def test_one_dead_address_does_not_hold_up_another(bench: Bench, receiver: Receiver) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        dead, _ = await bench.endpoints.add(nobody, ["review.opened"], ["*"], "ada")
        await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
        for number in range(20):
            await bench.parked(number)
        await bench.courier.once()
    assert len(receiver.heard) == 20
    log = await bench.endpoints.deliveries(dead.id)
    assert sum(row.attempts for row in log) == 1
    [tried] = [row for row in log if row.attempts]
    assert "could not be reached" in (tried.error or "")


@pytest.mark.parametrize(
    "point", ["webhooks.after_pass_on", "webhooks.after_take", "webhooks.after_post"]
)
async def test_a_process_that_dies_loses_nothing_and_repeats_under_the_same_id(
    bench: Bench, receiver: Receiver, point: str
) -> None:
    await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    review = await bench.parked()

    def die() -> None:
        raise Crash

    arm(point, die)
    try:
        with pytest.raises(Crash):
            await bench.courier.once()
    finally:
        disarm()
    posted = len(receiver.heard)
    assert posted == (1 if point == "webhooks.after_post" else 0)
    bench.clock.at += TAKEN_FOR + 1
    await bench.another().once()
    assert [heard.id for heard in receiver.heard] == [f"{review.id}.opened"] * (posted + 1)
    await bench.another().once()
    assert len(receiver.heard) == posted + 1


async def test_many_processes_deliver_each_event_once(bench: Bench, receiver: Receiver) -> None:
    await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    for number in range(12):
        await bench.parked(number)
    await asyncio.gather(*(bench.another().once() for _ in range(4)))
    ids = [heard.id for heard in receiver.heard]
    assert len(ids) == len(set(ids)) == 12


async def test_a_secret_can_be_exchanged_while_the_other_side_knows_the_earlier_one(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, first = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    rotated, second = await bench.endpoints.rotate(endpoint.id)
    assert (first != second, rotated.generation) == (True, 2)
    await bench.parked(1)
    await bench.courier.once()
    assert receiver.heard[0].is_signed_with(first)
    assert receiver.heard[0].is_signed_with(second)
    bench.clock.at += BOTH_FOR + 1
    await bench.parked(2)
    await bench.courier.once()
    assert not receiver.heard[1].is_signed_with(first)
    assert receiver.heard[1].is_signed_with(second)


async def test_no_secret_stands_in_the_database(bench: Bench, receiver: Receiver) -> None:
    _, secret = await bench.endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
    await bench.parked()
    await bench.courier.once()
    raw = base64.b64decode(secret.removeprefix("whsec_"))
    for table in (t.webhook_endpoints, t.webhook_deliveries, t.console_actions, t.events):
        rows = await bench.store._database.read_core(
            lambda core, table=table: core.execute(sa.select(table)).all()
        )
        assert secret not in repr(rows)
        assert raw.hex() not in repr(rows)


async def test_another_key_is_noticed_before_anything_is_signed_with_it(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
    other = WebhookSecrets("another key of at least thirty-two characters")
    with pytest.raises(ConfigError, match="is not the key"):
        await post_of_endpoint(endpoint, other, loopback()).post("id", NOW, {})
    for missing in (None, "short"):
        without = SqlWebhookEndpoints(bench.store._database, WebhookSecrets(missing), loopback())
        with pytest.raises(ConfigError, match="DESKHAND_SECRET_KEY"):
            await without.add(receiver.url, CHOSEN, ["*"], "ada")


async def test_a_delivery_can_be_sent_again_and_an_erased_one_cannot(
    bench: Bench, receiver: Receiver
) -> None:
    endpoint, _ = await bench.endpoints.add(
        receiver.url, ["review.opened"], ["*"], "ada", content=True
    )
    review = await bench.parked()
    await bench.courier.once()
    event = f"{review.id}.opened"
    await bench.endpoints.retry(endpoint.id, event)
    await bench.courier.once()
    assert [heard.id for heard in receiver.heard] == [event] * 2
    with pytest.raises(NotFound):
        await bench.endpoints.retry(endpoint.id, "nothing")

    await bench.endpoints.retry(endpoint.id, event)
    sender = a_message(1).sender.address
    assert await bench.store.erase(sender, "eva") == 1
    await bench.courier.once()
    assert event not in [heard.id for heard in receiver.heard[2:]]
    rows = await bench.endpoints.deliveries(endpoint.id)
    [erased] = [row for row in rows if row.id == event]
    assert (erased.payload, erased.error) == (None, "erased")
    with pytest.raises(Conflict, match="erased"):
        await bench.endpoints.retry(endpoint.id, event)


async def test_an_erased_ticket_takes_what_is_told_of_it_along(
    bench: Bench, receiver: Receiver
) -> None:
    chosen = ["ticket.sla_breached"]
    endpoint, _ = await bench.endpoints.add(receiver.url, chosen, ["*"], "ada", content=True)
    tickets = tickets_of(bench.store)
    ticket = await open_ticket(tickets, "ann@example.com", "Swordfish", "bob")
    deadline, now = f"resolution {bench.clock.at}", bench.clock.at
    breached = partial(rules.deadline_told, kind=TicketEventKind.BREACHED, deadline=deadline)
    await tickets.changed(ticket.id, partial(breached, by="desk", at=now))
    await SqlWebhookOutbox(bench.store._database, "desk", bench.clock.now).pass_on(told_events)
    [waiting] = await bench.endpoints.deliveries(endpoint.id)
    assert "Swordfish" in str(waiting.payload)

    await bench.store.erase("ann@example.com", "eva")
    await bench.courier.once()

    assert receiver.heard == []
    [erased] = await bench.endpoints.deliveries(endpoint.id)
    assert (erased.payload, erased.error) == (None, "erased")


async def test_old_deliveries_go_with_the_notices(bench: Bench, receiver: Receiver) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
    await bench.parked(1)
    await bench.courier.once()
    bench.clock.at += 1000
    await bench.parked(2)
    bench.clock.at += 1000
    await SqlWebhookOutbox(bench.store._database, "desk", bench.clock.now).pass_on(lambda fact: [])
    pruned = await prune_by_age(bench.store, {Kept.NOTICES: 500.0}, key=None)
    assert pruned.deleted[Kept.NOTICES] == 1
    assert await bench.endpoints.deliveries(endpoint.id) == []


async def test_a_removed_address_goes_with_its_log(bench: Bench, receiver: Receiver) -> None:
    endpoint, _ = await bench.endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
    await bench.parked()
    await bench.courier.once()
    await bench.endpoints.remove(endpoint.id)
    assert await bench.count(t.webhook_deliveries) == 0
    with pytest.raises(NotFound):
        await bench.endpoints.find(endpoint.id)


# --- where is posted to


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://10.0.0.8/hook",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fe80::1%25eth0]/",
        "https://[64:ff9b::7f00:1]/",
        "https://0.0.0.0/",
        "https://user:word@hooks.example.com/",
        "https://hooks.example.com/#part",
        "https://",
        "https://exa mple.com/",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "https://hooks.example.com:notaport/",
        "https://" + "a" * 3000,
    ],
)
def test_an_address_that_must_not_be_posted_to_is_refused_in_words(url: str) -> None:
    with pytest.raises(ConfigError, match="fix:"):
        AllowedAddresses().check_url(url)


@pytest.mark.parametrize(
    "host", ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]"]
)
async def test_a_name_that_leads_to_this_machine_is_not_connected_to(
    receiver: Receiver, host: str
) -> None:
    port = receiver.url.rpartition(":")[2]
    for scheme in ("https", "http"):
        post = WebhookPost(AllowedAddresses(), lambda at: ["word"], f"{scheme}://{host}:{port}/")
        attempt = await post.post("id", NOW, {})
        assert not attempt.arrived
    assert receiver.heard == []


async def test_the_operator_may_allow_networks(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKHAND_WEBHOOK_NETWORKS", "127.0.0.0/8, ::1")
    allowed = AllowedAddresses.from_environment()
    port = receiver.url.rpartition(":")[2]
    url = allowed.check_url(f"http://localhost:{port}/")
    assert (await WebhookPost(allowed, lambda at: ["word"], url).post("id", NOW, {})).arrived
    with pytest.raises(ConfigError):
        allowed.check_url("http://10.0.0.1/")
    monkeypatch.setenv("DESKHAND_WEBHOOK_NETWORKS", "everything")
    with pytest.raises(ConfigError, match="DESKHAND_WEBHOOK_NETWORKS"):
        AllowedAddresses.from_environment()


# --- the address of a desk.yaml


async def test_the_address_of_a_desk_file_is_one_among_others(
    bench: Bench, receiver: Receiver, tmp_path: Path
) -> None:
    secret = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()
    (tmp_path / "secret").write_text(secret)
    spec = WebhookSpec(url=receiver.url, secret_file=tmp_path / "secret")
    await bench.endpoints.set_desk_file("desk", receiver.url, content=False)
    await bench.endpoints.set_desk_file("desk", receiver.url, content=False)
    outbox = SqlWebhookOutbox(bench.store._database, "desk", bench.clock.now)
    post = post_of_desk_file(spec).post
    courier = WebhookCourier("desk", outbox, lambda endpoint: post, bench.clock)
    await bench.parked(1)
    await courier.once()
    assert receiver.types == ["review.opened"]
    assert receiver.heard[0].is_signed_with(secret)
    [endpoint] = await bench.endpoints.list()
    with pytest.raises(Conflict, match=r"desk\.yaml"):
        await bench.endpoints.remove(endpoint.id)
    await bench.endpoints.set_desk_file("desk", None, content=False)
    await bench.parked(2)
    await courier.once()
    assert len(receiver.heard) == 1


async def test_nobody_at_home_and_a_missing_secret_are_said(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("plain")
    nowhere = WebhookSpec(url="http://127.0.0.1:9/", secret_file=tmp_path / "secret")
    attempt = await post_of_desk_file(nowhere).post("id", 0.0, {})
    assert "could not be reached" in attempt.error
    unset = WebhookSpec(url="http://127.0.0.1:9/", secret_env="HOOK_SECRET")
    with pytest.raises(ConfigError, match="HOOK_SECRET"):
        await post_of_desk_file(unset).post("id", 0.0, {})
