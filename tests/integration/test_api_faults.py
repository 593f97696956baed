"""When something is wrong, on the caller's side or on ours: always a problem document, never our
internals."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskhand.errors import Fenced, StoreUnavailable
from deskhand.web.api import request_body
from tests.api_kit import Client, Served, is_problem, served


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client()


def failing(error: Exception) -> Any:
    async def fail(*args: object, **kwargs: object) -> NoReturn:
        raise error

    return fail


async def test_unknown_paths_and_methods_are_problems(client: Client) -> None:
    is_problem(await client.get("/nowhere"), 404, "not_found")
    is_problem(await client.get("/api/runs/"), 404, "not_found")
    wrong = await client.delete("/api/runs")
    is_problem(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET"


@pytest.mark.parametrize(
    "error", [StoreUnavailable("database /secret/place: disk is full"), Fenced("process 7")]
)
async def test_a_database_that_is_away_is_told_as_such_and_the_log_knows_why(
    shop: Served,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    store = shop.desks["shop"].store
    for name in (
        "accept",
        "run",
        "runs",
        "find_reviews",
        "review",
        "requeue",
        "cancel",
        "decide",
        "stopped",
    ):
        monkeypatch.setattr(store, name, failing(error))
    for answer in (
        await client.message(),
        await client.get("/api/runs"),
        await client.get("/api/runs/run_1"),
        await client.post("/api/runs/run_1/retry"),
        await client.post("/api/runs/run_1/cancel"),
        await client.get("/api/reviews"),
        await client.get("/api/reviews/rev_1"),
        await client.post(
            "/api/reviews/rev_1/decision",
            json={"decision": "approve", "version": 1, "payload_hash": "0" * 64},
        ),
    ):
        is_problem(answer, 503, error.code)  # type: ignore[attr-defined]
        assert answer.headers["retry-after"]
        assert str(error) not in answer.text
    assert str(error) in caplog.text
    not_ready = await shop.stranger().get("/readyz")
    assert is_problem(not_ready, 503, "store_unavailable")["detail"] == (
        "not ready: shop: its database does not answer"
    )
    assert (await shop.stranger().get("/healthz")).status_code == 200


@pytest.mark.parametrize("how", ["max_page_count=1", "query_only=1"])
async def test_a_database_that_takes_no_writes_is_not_ready(
    shop: Served, client: Client, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    database: Any = shop.desks["shop"].store._database
    await database.write(lambda tx: tx.raw.execute(f"PRAGMA {how}").close(), single=True)
    body = {"from": "ann@example.com", "subject": "Hi", "body": "x" * 15_000}
    is_problem(await client.post("/api/messages", json=body), 503, "store_unavailable")
    not_ready = await shop.stranger().get("/readyz")
    problem = is_problem(not_ready, 503, "store_unavailable")
    assert problem["detail"] == "not ready: shop: its database cannot be written"
    assert str(database.path) not in not_ready.text
    assert "writes fail" in caplog.text


async def test_keys_that_cannot_be_read_let_nobody_in(
    shop: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop.keys, "find", failing(StoreUnavailable("locked")))
    is_problem(await client.get("/api/runs"), 503, "store_unavailable")
    monkeypatch.setattr(shop.keys, "find", failing(RuntimeError("what")))
    is_problem(await client.get("/api/runs"), 500, "internal")


async def test_a_fault_of_ours_is_an_incident_that_the_log_explains(
    shop: Served, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        shop.desks["shop"].store, "runs", failing(RuntimeError("the password is 1234"))
    )
    caplog.set_level(logging.ERROR)
    answer = await client.get("/api/runs")
    problem = is_problem(answer, 500, "internal")
    assert "1234" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    record = next(record for record in caplog.records if problem["incident"] in record.getMessage())
    assert record.exc_info is not None
    assert "1234" in str(record.exc_info[1])


async def test_a_body_that_does_not_arrive_is_not_waited_for_for_ever(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "PATIENCE", 0.05)

    async def stalling() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(10)

    answer = await client.post(
        "/api/messages", content=stalling(), headers={"Content-Type": "application/json"}
    )
    is_problem(answer, 408, "request_timeout")


async def test_a_client_that_goes_away_is_no_fault(shop: Served, client: Client) -> None:
    headers = [
        (b"authorization", client.headers["Authorization"].encode()),
        (b"content-type", b"application/json"),
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/messages",
        "query_string": b"",
        "headers": headers,
    }
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        sent.append(message)

    await shop.app(scope, receive, send)
    assert sent == []


text = st.text(st.characters())  # half surrogate pairs, too: json.dumps writes them as escapes
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=10,
)
fields = ("from", "sender", "body", "text", "id", "desk", "conversation", "recipients", "cc", "headers", "attachments",  # noqa: E501
          "received_at", "channel", "subject", "customer_id", "customer_address")  # fmt: skip
decision_fields = ("decision", "version", "payload_hash", "note", "edit", "by")
reasonable = st.fixed_dictionaries({"from": st.just("ann@example.com")})


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=json_values | st.dictionaries(st.sampled_from(fields), json_values),
    extra=st.none() | reasonable,
    key=st.none() | st.binary(max_size=20),
)
async def test_no_message_makes_us_fail(
    client: Client, body: Any, extra: Any, key: bytes | None
) -> None:
    if isinstance(body, dict) and extra:
        body = {**body, **extra}
    headers = {b"Content-Type": b"application/json"}
    if key is not None:
        headers[b"Idempotency-Key"] = key.replace(b"\n", b"").replace(b"\r", b"")
    answer = await client.post("/api/messages", content=json.dumps(body), headers=headers)
    assert answer.status_code in (202, 400, 404, 409, 413, 422), answer.text


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=json_values | st.dictionaries(st.sampled_from(decision_fields), json_values),
    where=st.text(st.characters(codec="utf-8"), min_size=1, max_size=10),
)
async def test_no_decision_and_no_id_makes_us_fail(client: Client, body: Any, where: str) -> None:
    place = "".join(f"%{byte:02x}" for byte in where.encode())
    headers = {"Content-Type": "application/json"}
    answer = await client.post(
        f"/api/reviews/{place}/decision", content=json.dumps(body), headers=headers
    )
    assert answer.status_code in (400, 404, 405, 422), answer.text
    shown = await client.get(f"/api/runs/{place}", params={"state": where})
    assert shown.status_code in (200, 404, 422), shown.text
    listed = await client.get(
        "/api/runs", params={"cursor": where, "conversation": where, "limit": "3"}
    )
    assert listed.status_code in (200, 422), listed.text


class AwayChannel:
    name, trouble = "support", "mail.acme.example:993 hung up"

    def __init__(self) -> None:
        self.is_well = True


async def test_a_channel_that_stays_away_makes_the_process_not_ready(
    shop: Served, caplog: pytest.LogCaptureFixture
) -> None:
    channel = AwayChannel()
    desk = replace(shop.desks["shop"], channels=(channel,))  # type: ignore[arg-type]
    shop.app.state.desks = {"shop": desk}
    stranger = shop.stranger()
    assert (await stranger.get("/readyz")).status_code == 200
    channel.is_well = False
    problem = is_problem(await stranger.get("/readyz"), 503, "store_unavailable")
    assert problem["detail"] == "not ready: shop.support: the channel is away"
    assert problem["errors"] == [{"field": "shop.support", "problem": "the channel is away"}]
    assert "hung up" not in str(problem)
    assert "channel support is away: mail.acme.example:993 hung up" in caplog.text
