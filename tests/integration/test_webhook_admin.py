"""Webhooks as admins keep them: in the console, by the API and on the command line."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from deskhand.model.access import Role
from deskhand.wiring import console_actions, user_accounts, webhook_courier, webhook_endpoints
from tests.api_kit import Served, is_problem, served
from tests.approvals_kit import PASSWORD, Person, words_of
from tests.webhook_receiver import Receiver, receiving

PLACE = "/desk/webhooks"
KEY = "a key of at least thirty-two characters"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKHAND_SECRET_KEY", KEY)
    monkeypatch.setenv("DESKHAND_WEBHOOK_NETWORKS", "127.0.0.0/8")


@pytest.fixture
async def shop(tmp_path: Path, _environment: None) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", approvals=True) as running:
        yield running


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as listening:
        yield listening


async def admin(shop: Served, name: str = "ada", *desks: str) -> Person:
    await user_accounts(shop.database).add(name, PASSWORD, desks or ("*",), role=Role.ADMIN)
    person = Person(shop)
    await person.log_in(name)
    return person


def secret_in(page: httpx.Response) -> str:
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", page.text)
    assert found is not None, page.text
    return found[0]


async def made(shop: Served, ada: Person, url: str, **fields: str) -> tuple[str, str]:
    """The id of a new webhook, and its secret."""
    form = {"csrf": ada.csrf, "url": url, "desks": "*", "event:review.opened": "yes", **fields}
    answer = await ada.post(PLACE, data=form)
    assert answer.status_code == 200, answer.text
    newest = (await webhook_endpoints(shop.database).list())[-1]
    return newest.id, secret_in(answer)


async def test_an_admin_names_an_address_tries_it_and_looks_at_its_deliveries(
    shop: Served, receiver: Receiver
) -> None:
    ada = await admin(shop)
    webhook, secret = await made(shop, ada, receiver.url)
    here = f"{PLACE}/{webhook}"
    assert secret not in (await ada.get(PLACE)).text
    tried = words_of((await ada.post(f"{here}/test", data={"csrf": ada.csrf})).text)
    assert "The test arrived, the receiver answered 204" in tried
    assert receiver.types == ["webhook.test"]
    assert receiver.heard[0].is_signed_with(secret)

    api = await shop.client(desks=["shop"])
    review = await api.under_review()
    courier = webhook_courier(shop.database, "shop")
    await courier.once()
    assert receiver.types[1:] == ["review.opened"]
    event = f"{review['review']}.opened"
    assert event in (await ada.get(here)).text
    again = await ada.post(f"{here}/retry", data={"csrf": ada.csrf, "event": event})
    assert again.status_code == 303
    await courier.once()
    assert [heard.id for heard in receiver.heard[1:]] == [event] * 2

    rotated = secret_in(await ada.post(f"{here}/rotate", data={"csrf": ada.csrf}))
    assert rotated != secret
    await ada.post(f"{here}/disable", data={"csrf": ada.csrf})
    assert "somebody switched it off" in words_of((await ada.get(here)).text)
    await ada.post(f"{here}/enable", data={"csrf": ada.csrf})
    removed = await ada.post(f"{here}/remove", data={"csrf": ada.csrf})
    assert removed.headers["location"] == PLACE
    assert (await ada.get(here)).status_code == 404
    log = [(row.who, row.path, row.status) for row in await console_actions(shop.database).list()]
    for action in ("test", "retry", "rotate", "disable", "enable", "remove"):
        assert any(path == f"{here}/{action}" for _, path, _ in log), action
    assert ("ada", PLACE, 200) in log


async def test_what_cannot_be_posted_to_is_refused_and_what_was_typed_stays(shop: Served) -> None:
    ada = await admin(shop)
    form = {"csrf": ada.csrf, "desks": "*", "event:run.ended": "yes"}
    for url in ("https://10.0.0.1/", "http://10.0.0.1", "javascript:alert(1)", "x"):
        answer = await ada.post(PLACE, data={**form, "url": url})
        assert answer.status_code == 409, url
        assert f'value="{url}"' in answer.text
    none = await ada.post(PLACE, data={"csrf": ada.csrf, "desks": "*", "url": "https://a.example"})
    assert "it would be told nothing" in words_of(none.text)
    assert await webhook_endpoints(shop.database).list() == []


async def test_a_test_that_does_not_arrive_says_why(shop: Served) -> None:
    ada = await admin(shop)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        webhook, _ = await made(shop, ada, f"http://127.0.0.1:{closed.getsockname()[1]}")
        tried = await ada.post(f"{PLACE}/{webhook}/test", data={"csrf": ada.csrf})
    assert "could not be reached" in words_of(tried.text)


async def test_an_admin_of_one_desk_does_not_see_what_others_are_told(
    shop: Served, receiver: Receiver
) -> None:
    ada = await admin(shop)
    webhook, _ = await made(shop, ada, receiver.url, desks="bank")
    tom = await admin(shop, "tom", "shop")
    assert receiver.url not in (await tom.get(PLACE)).text
    assert (await tom.get(f"{PLACE}/{webhook}")).status_code == 404
    assert (await tom.post(f"{PLACE}/{webhook}/remove", data={"csrf": tom.csrf})).status_code == 404
    form = {"csrf": tom.csrf, "url": receiver.url, "event:run.ended": "yes"}
    for desks in ("bank", "*"):
        assert (await tom.post(PLACE, data={**form, "desks": desks})).status_code == 409
    key = await shop.client(desks=["shop"])
    assert (await key.get("/api/webhooks")).json()["items"] == []
    is_problem(await key.delete(f"/api/webhooks/{webhook}"), 404, "not_found")


async def test_without_a_key_to_make_secrets_from_the_page_says_what_to_set(
    shop: Served, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DESKHAND_SECRET_KEY")
    (tmp_path / "more").mkdir()
    async with served(tmp_path / "more", approvals=True) as without:
        ada = await admin(without)
        form = {"csrf": ada.csrf, "url": receiver.url, "desks": "*", "event:run.ended": "yes"}
        answer = await ada.post(PLACE, data=form)
        assert answer.status_code == 409
        assert "DESKHAND_SECRET_KEY" in words_of(answer.text)


async def test_programs_keep_webhooks_by_the_api(shop: Served, receiver: Receiver) -> None:
    api = await shop.client(name="deploy")
    body = {"url": receiver.url, "events": ["run.ended"], "desks": ["shop"]}
    new = (await api.post("/api/webhooks", json=body)).json()
    here = f"/api/webhooks/{new['id']}"
    assert new["secret"].startswith("whsec_")
    assert "secret" not in (await api.get("/api/webhooks")).json()["items"][0]
    tried = await api.post(f"{here}/test")
    assert tried.json() == {"arrived": True, "status": 204, "error": ""}
    [delivery] = (await api.get(f"{here}/deliveries")).json()["items"]
    assert (delivery["type"], delivery["state"]) == ("webhook.test", "done")
    again = await api.post(f"{here}/deliveries/{delivery['id']}/retry")
    assert again.json()["state"] == "due"
    await webhook_courier(shop.database, "shop").once()
    assert len(receiver.heard) == 2
    rotated = (await api.post(f"{here}/rotate")).json()
    assert rotated["secret"] != new["secret"]
    off = await api.patch(here, json={"disabled": True})
    assert off.json()["disabled_at"] is not None
    assert (await api.patch(here, json={"disabled": False})).json()["disabled_at"] is None
    assert (await api.delete(here)).status_code == 200
    wrong = {**body, "url": "https://127.0.0.1.nip.example:99999/"}
    is_problem(await api.post("/api/webhooks", json=wrong), 422, "request_invalid")
    is_problem(
        await api.post("/api/webhooks", json={**body, "events": ["all"]}), 422, "request_invalid"
    )
    for odd in ("%00", "%ff%00", "..%2f", "x" * 190):
        is_problem(await api.get(f"/api/webhooks/{odd}/deliveries"), 404, "not_found")
    log = await console_actions(shop.database).list()
    assert {row.who for row in log} == {"key deploy"}
    assert len([row for row in log if row.status < 400]) == 7


async def test_a_desk_at_work_delivers_by_itself(tmp_path: Path, receiver: Receiver) -> None:
    """The whole way, with a server's own desk: a message comes in, and the receiver hears of it."""
    from deskhand.wiring import open_database, open_desk, read_desk
    from tests.api_kit import write_desk
    from tests.kit import a_message
    from tests.waiting import until

    loaded = read_desk(str(write_desk(tmp_path, "shop")))
    async with open_database(str(tmp_path / "deskhand.db")) as database:
        webhooks = webhook_endpoints(database)
        _, secret = await webhooks.add(receiver.url, ["run.ended", "run.answered"], ["*"], "ada")
        async with open_desk(loaded, database, outbox=tmp_path / "outbox", listen=True) as desk:
            accepted = await desk.dispatcher.submit(a_message(1))
            await asyncio.wait_for(desk.dispatcher.wait(accepted.run_id), 60)
            await until(lambda: len(receiver.heard) == 2)
    assert sorted(receiver.types) == ["run.answered", "run.ended"]
    assert all(heard.is_signed_with(secret) for heard in receiver.heard)
