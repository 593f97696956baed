"""Handing in messages: once, durable, bounded."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.errors import StoreUnavailable
from deskhand.model.principal import ANONYMOUS
from tests.api_kit import EVERY_SCOPE, LIMIT, Client, Served, is_problem, served
from tests.waiting import PATIENCE, until

ANN = {"from": "ann@example.com", "subject": "Parcel", "body": "Hello"}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client()


async def how_many(client: Client) -> int:
    return len((await client.get("/api/runs")).json()["items"])


async def test_a_message_is_accepted_for_good_and_its_run_can_be_followed(client: Client) -> None:
    answer = await client.message("slow")
    assert answer.status_code == 202
    assert answer.json().keys() == {"run", "conversation", "status", "duplicate"}
    assert (answer.json()["status"], answer.json()["duplicate"]) == ("queued", False)
    followed = await client.get(answer.headers["location"])
    assert followed.json()["run"] == answer.json()["run"]
    assert followed.json()["message"]["from"] == "ann@example.com"


async def test_requests_with_and_without_parameters_are_answered_alike(
    shop: Served, client: Client
) -> None:
    reader = await shop.client(scopes=["runs:read"])

    async def answers(path: str, number: str) -> list[tuple[int, set[str], Any]]:
        taken = await client.post(path, json={**ANN, "id": number, "conversation": number})
        again = await client.post(path, json={**ANN, "id": number, "conversation": number})
        refused = [
            await client.post(path, json={**ANN, "from": 3}),
            await client.post(path, content=b"{", headers={"Content-Type": "application/json"}),
            await client.post(path, content=b"hello"),
            await reader.post(path, json=ANN),
        ]
        assert taken.headers["location"] == f"/api/runs/{taken.json()['run']}"
        seen = [(taken.status_code, set(taken.headers), set(taken.json()))]
        seen += [(again.status_code, set(again.headers), again.json()["duplicate"])]
        return seen + [(bad.status_code, set(bad.headers), bad.json()) for bad in refused]

    plain = await answers("/api/messages", "m1")
    with_parameters = await answers("/api/messages?wait=0", "m2")

    assert plain == with_parameters
    assert [status for status, _, _ in plain] == [202, 202, 422, 400, 415, 403]


async def test_waiting_answers_as_soon_as_the_run_is_at_rest_or_the_time_is_over(
    shop: Served, client: Client
) -> None:
    sent = await client.message(wait=20)
    assert (sent.status_code, sent.json()["status"]) == (200, "sent")
    await client.message("slow", id="slow")
    await until(shop.is_working)
    slow = await client.message("slow", wait=0.1, id="slow")
    assert (slow.status_code, slow.json()["status"]) == (202, "running")
    (shop.folder / "shop" / "go").touch()
    again = await client.message("Hello", wait=20, id="m1")
    assert again.json()["status"] == "sent"


async def test_a_desk_that_stops_leaves_no_waiting_client_behind(
    shop: Served, client: Client
) -> None:
    waiting = asyncio.create_task(client.message("slow", wait=30))
    await until(shop.is_working)
    await shop.desks["shop"].dispatcher.stop(grace=0)
    answer = await asyncio.wait_for(waiting, PATIENCE)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    is_problem(await client.message(), 503, "store_unavailable")


async def test_the_same_message_id_is_the_same_run(client: Client) -> None:
    first = (await client.message(id="m1", wait=20)).json()
    again = (await client.message("in other words", id="m1")).json()
    assert again == {**first, "duplicate": True}
    elsewhere = (await client.message(id="m1", channel="chat")).json()
    assert elsewhere["run"] != first["run"]


async def test_twenty_posts_at_once_with_one_idempotency_key_are_one_run_and_one_answer(
    client: Client,
) -> None:
    posts = [
        client.post("/api/messages", json=ANN, headers={"Idempotency-Key": "k1"}) for _ in range(20)
    ]
    answers = await asyncio.gather(*posts)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].json()["duplicate"] is False
    assert await how_many(client) == 1


async def test_an_idempotency_key_with_another_body_is_refused_and_makes_no_run(
    client: Client,
) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await client.post("/api/messages", json={**ANN, "id": "a"}, headers=key)
    refused = await client.post("/api/messages", json={**ANN, "id": "b"}, headers=key)
    is_problem(refused, 409, "conflict")
    assert await how_many(client) == 1
    again = await client.post("/api/messages", json={**ANN, "id": "a"}, headers=key)
    assert again.text == first.text


async def test_two_keys_may_use_the_same_idempotency_key(shop: Served, client: Client) -> None:
    header = {"Idempotency-Key": "1"}
    other = await shop.client()
    one = await client.post("/api/messages", json=ANN, headers=header)
    two = await other.post("/api/messages", json={**ANN, "body": "Another"}, headers=header)
    assert one.json()["run"] != two.json()["run"]


async def test_a_refused_message_does_not_use_its_idempotency_key_up(client: Client) -> None:
    key = {"Idempotency-Key": "k1"}
    is_problem(
        await client.post("/api/messages", json={"body": "Hello"}, headers=key),
        422,
        "request_invalid",
    )
    assert (await client.post("/api/messages", json=ANN, headers=key)).status_code == 202


async def test_a_repetition_after_a_failure_in_between_is_the_same_message(
    shop: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, key = shop.desks["shop"].store, {"Idempotency-Key": "k1"}
    remember, calls = store.remember_response, 0

    async def fail_the_second_time(key: str, digest: str, response: bytes) -> bytes | None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreUnavailable("disk full")
        return await remember(key, digest, response)

    monkeypatch.setattr(store, "remember_response", fail_the_second_time)
    is_problem(await client.post("/api/messages", json=ANN, headers=key), 503, "store_unavailable")
    assert (await client.post("/api/messages", json=ANN, headers=key)).status_code == 202
    assert await how_many(client) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "tab\t", "é"])
async def test_an_unusable_idempotency_key_is_refused(client: Client, key: str) -> None:
    answer = await client.post(
        "/api/messages", json=ANN, headers={b"Idempotency-Key": key.encode("latin-1")}
    )
    problem = is_problem(answer, 422, "request_invalid")
    assert problem["errors"][0]["field"].lower() == "idempotency-key"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], ""),
        ("Hello", ""),
        ({}, "from"),
        ({"from": None}, "from"),
        ({"from": 5}, "sender"),
        ({"from": "ann@example.com", "id": ""}, "id"),
        ({"from": "ann@example.com", "id": 5}, "id"),
        ({"from": "ann@example.com", "recipients": 5}, "recipients"),
        ({"from": "ann@example.com", "cc": [5]}, "cc.0"),
        ({"from": "ann@example.com", "received_at": "today"}, "received_at"),
        ({"from": "ann@example.com", "desk": 5}, "desk"),
        ({"from": "ann@example.com", "prioriti": 5}, "prioriti"),
    ],
)
async def test_a_wrong_field_is_named(client: Client, body: Any, field: str) -> None:
    problem = is_problem(await client.post("/api/messages", json=body), 422, "request_invalid")
    assert problem["errors"][0]["field"] == field
    assert problem["errors"][0]["problem"]
    assert await how_many(client) == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"from": "a@b", "body": "\xff"}',
        b'{"from": "a@b", "body": "half a pair: \\ud83d"}',
        b'{"from": "a@b", "body": "\\u0000"}',
        b'{"from": "a@b", "\\u0000": 1}',
        b'{"from": "a@b", "body": NaN}',
        b"[" * 100_00,
        b'{"a": ' * 3000,
        b"9" * 5000,
        '{"from": "a@b"}'.encode("utf-16"),
    ],
)
async def test_what_is_not_json_in_utf8_is_unreadable(client: Client, body: bytes) -> None:
    answer = await client.post(
        "/api/messages", content=body, headers={"Content-Type": "application/json"}
    )
    is_problem(answer, 400, "message_unreadable")
    assert await how_many(client) == 0


async def test_a_whole_surrogate_pair_is_a_character(client: Client) -> None:
    content = rb'{"from": "a@b", "body": "\ud83d\ude00"}'
    answer = await client.post(
        "/api/messages", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 202


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": ""},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
async def test_other_media_types_are_refused(client: Client, headers: dict[str, str]) -> None:
    answer = await client.post("/api/messages", content=json.dumps(ANN), headers=headers)
    is_problem(answer, 415, "unsupported_media_type")


async def test_json_may_say_that_it_is_utf8(client: Client) -> None:
    headers = {"Content-Type": "Application/JSON; charset=UTF-8"}
    assert (
        await client.post("/api/messages", content=json.dumps(ANN), headers=headers)
    ).status_code == 202


async def test_a_body_above_the_limit_is_not_read_to_its_end(client: Client) -> None:
    read = 0

    async def fifty_megabytes() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(800):
            read += 65_536
            yield b" " * 65_536

    headers = {"Content-Type": "application/json"}
    streamed = await client.post("/api/messages", content=fifty_megabytes(), headers=headers)
    assert f"{LIMIT:,}" in is_problem(streamed, 413, "message_too_large")["detail"]
    assert read <= 2 * 65_536
    announced = await client.post("/api/messages", content=b" " * (LIMIT + 1), headers=headers)
    is_problem(announced, 413, "message_too_large")
    fits = json.dumps(ANN).encode().ljust(LIMIT)
    assert (await client.post("/api/messages", content=fits, headers=headers)).status_code == 202


async def test_a_full_backlog_turns_messages_away_until_there_is_room(tmp_path: Path) -> None:
    async with served(tmp_path, backlog=2) as shop:
        client = await shop.client()
        slow = [(await client.message("slow")).json()["run"] for _ in range(2)]
        turned_away = await client.message("Hello", id="m1")
        is_problem(turned_away, 429, "overloaded")
        assert turned_away.headers["retry-after"]
        (shop.folder / "shop" / "go").touch()
        await asyncio.gather(*(shop.desks["shop"].dispatcher.wait(run) for run in slow))
        assert (await client.message("Hello", id="m1", wait=20)).json()["status"] == "sent"


async def test_only_a_key_that_may_says_who_the_customer_is(shop: Served) -> None:
    plain = await shop.client(
        scopes=[scope for scope in EVERY_SCOPE if scope != "customers:assert"]
    )
    trusted = await shop.client()
    said: dict[str, Any] = {
        "customer_id": "c-7",
        "headers": {
            "Authentication-Results": "mx; dkim=pass",
            "ARC-Seal": "x",
            "X-Deskhand-Who": "x",
            "X-Shop": "1",
        },
    }
    store = shop.desks["shop"].store
    ignored = await store.message((await plain.message(**said)).json()["run"])
    believed = await store.message((await trusted.message(**said)).json()["run"])
    assert ignored is not None
    assert believed is not None
    assert ignored.principal.changed(via=None) == ANONYMOUS
    assert ignored.headers == {"x-shop": "1"}
    assert (believed.principal.kind, believed.principal.customer_id) == ("asserted", "c-7")
    assert believed.headers == {name.lower(): value for name, value in said["headers"].items()}


async def test_a_conversation_belongs_to_whoever_began_it(shop: Served) -> None:
    """A key that may only write cannot read what others said by naming their conversation."""
    one = await shop.client(scopes=["messages:write"])
    other = await shop.client(scopes=["messages:write"])
    trusted = await shop.client()
    begun = (await one.message("My secret is 4711.", conversation="c1", wait=20)).json()
    again = (await one.message("And now?", conversation="c1", wait=20)).json()
    assert (begun["conversation"], again["conversation"]) == ("c1", "c1")
    for client, sender in (
        (one, "eve@example.com"),
        (other, "ann@example.com"),
        (trusted, "eve@example.com"),
    ):
        named = {"conversation": "c1", "from": sender}
        apart = (await client.message("What did I say?", wait=20, **named)).json()
        once_more = (await client.message("Well?", wait=20, **named)).json()
        assert apart["conversation"] not in ("c1", begun["conversation"])
        assert once_more["conversation"] == apart["conversation"]


async def test_a_customers_conversation_is_open_to_who_may_speak_for_him(shop: Served) -> None:
    app, site = await shop.client(), await shop.client()
    said = {"conversation": "c2", "customer_id": "c-7"}
    await app.message(wait=20, **said)
    assert (await site.message(wait=20, **said)).json()["conversation"] == "c2"
    strange = {**said, "customer_id": "c-8"}
    assert (await site.message(wait=20, **strange)).json()["conversation"] != "c2"


async def test_a_sender_that_is_no_address_is_refused(client: Client) -> None:
    refused = await client.post("/api/messages", json={"from": "x", "body": "Hello"})
    problem = is_problem(refused, 422, "request_invalid")
    assert problem["errors"] == [
        {"field": "from", "problem": "`x` is not an address; write it as `ann@example.com`"}
    ]


async def test_a_message_may_say_its_senders_name(client: Client) -> None:
    accepted = await client.message(wait=30, name="Ann Reed")
    run = (await client.get(f"/api/runs/{accepted.json()['run']}")).json()
    assert run["reply"]["text"] == "Hello Ann Reed <ann@example.com>"
