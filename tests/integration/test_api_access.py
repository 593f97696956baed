"""Who gets in, and what exists for whom."""

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.routing import BaseRoute

from deskhand.model.access import Scope
from deskhand.web.api.access import OPEN_PATHS
from deskhand.web.api.app import create_app
from deskhand.web.api.reference import OPEN_PAGES
from tests.api_kit import EVERY_SCOPE, Client, Served, is_problem, served

SCOPES = {
    ("POST", "/api/messages"): Scope.MESSAGES_WRITE,
    ("GET", "/api/runs"): Scope.RUNS_READ,
    ("GET", "/api/runs/{run_id}"): Scope.RUNS_READ,
    ("POST", "/api/runs/{run_id}/retry"): Scope.RUNS_WRITE,
    ("POST", "/api/runs/retry"): Scope.RUNS_WRITE,
    ("POST", "/api/runs/{run_id}/cancel"): Scope.RUNS_WRITE,
    ("GET", "/api/reviews"): Scope.REVIEWS_READ,
    ("GET", "/api/reviews/{review_id}"): Scope.REVIEWS_READ,
    ("POST", "/api/reviews/{review_id}/decision"): Scope.REVIEWS_WRITE,
    ("POST", "/api/reviews/{review_id}/undo"): Scope.REVIEWS_WRITE,
    ("POST", "/api/reviews/{review_id}/snooze"): Scope.REVIEWS_WRITE,
    ("POST", "/api/reviews/{review_id}/assign"): Scope.REVIEWS_WRITE,
    ("POST", "/api/reviews/{review_id}/notes"): Scope.REVIEWS_WRITE,
    ("PUT", "/api/reviews/{review_id}/edit"): Scope.REVIEWS_WRITE,
    ("GET", "/api/reviews/{review_id}/canned"): Scope.REVIEWS_READ,
    ("GET", "/api/runs/{run_id}/trail"): Scope.RUNS_READ,
    ("GET", "/api/runs/{run_id}/attachments"): Scope.RUNS_READ,
    ("GET", "/api/runs/{run_id}/attachments/{attachment_id}"): Scope.RUNS_READ,
    ("GET", "/api/reviews/{review_id}/attachments"): Scope.REVIEWS_READ,
    ("POST", "/api/reviews/{review_id}/attachments"): Scope.REVIEWS_WRITE,
    ("GET", "/api/reviews/{review_id}/attachments/{attachment_id}"): Scope.REVIEWS_READ,
    ("GET", "/api/conversations"): Scope.RUNS_READ,
    ("GET", "/api/conversations/memory"): Scope.RUNS_READ,
    ("POST", "/api/conversations/clear"): Scope.RUNS_WRITE,
    ("GET", "/api/conversations/taken-over"): Scope.REVIEWS_READ,
    ("POST", "/api/conversations/give-back"): Scope.REVIEWS_WRITE,
    ("POST", "/api/conversations/take-over"): Scope.REVIEWS_WRITE,
    ("POST", "/api/conversations/answer"): Scope.REVIEWS_WRITE,
    ("GET", "/api/conversations/chat"): Scope.REVIEWS_READ,
    ("GET", "/api/tickets"): Scope.TICKETS_READ,
    ("GET", "/api/tickets/{ticket_id}"): Scope.TICKETS_READ,
    ("POST", "/api/tickets/{ticket_id}/assign"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/notes"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/tags"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/merge"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/split"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/undo"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/close"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/reopen"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/urgency"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/macro"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/{ticket_id}/asks"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets/bulk"): Scope.TICKETS_WRITE,
    ("POST", "/api/tickets"): Scope.TICKETS_WRITE,
    ("GET", "/api/users"): Scope.USERS_WRITE,
    ("POST", "/api/users"): Scope.USERS_WRITE,
    ("PATCH", "/api/users/{name}"): Scope.USERS_WRITE,
    ("DELETE", "/api/users/{name}"): Scope.USERS_WRITE,
    ("GET", "/api/webhooks"): Scope.WEBHOOKS_WRITE,
    ("POST", "/api/webhooks"): Scope.WEBHOOKS_WRITE,
    ("PATCH", "/api/webhooks/{webhook}"): Scope.WEBHOOKS_WRITE,
    ("DELETE", "/api/webhooks/{webhook}"): Scope.WEBHOOKS_WRITE,
    ("POST", "/api/webhooks/{webhook}/rotate"): Scope.WEBHOOKS_WRITE,
    ("POST", "/api/webhooks/{webhook}/test"): Scope.WEBHOOKS_WRITE,
    ("GET", "/api/webhooks/{webhook}/deliveries"): Scope.WEBHOOKS_WRITE,
    ("POST", "/api/webhooks/{webhook}/deliveries/{event}/retry"): Scope.WEBHOOKS_WRITE,
    ("GET", "/api/tickets/views"): Scope.TICKETS_READ,
    ("GET", "/api/tickets/export"): Scope.TICKETS_READ,
    ("PUT", "/api/tickets/views/{name}"): Scope.TICKETS_WRITE,
    ("DELETE", "/api/tickets/views/{name}"): Scope.TICKETS_WRITE,
    ("GET", "/api/desks"): Scope.RUNS_READ,
    ("GET", "/api/desks/{desk}"): Scope.RUNS_READ,
    ("GET", "/api/desks/{desk}/modes"): Scope.RUNS_READ,
    ("POST", "/api/desks/{desk}/modes/{category}/promote"): Scope.DESKS_WRITE,
    ("POST", "/api/desks/{desk}/modes/{category}/lower"): Scope.DESKS_WRITE,
    ("POST", "/api/desks/{desk}/stop"): Scope.DESKS_WRITE,
    ("POST", "/api/desks/{desk}/resume"): Scope.DESKS_WRITE,
    ("GET", "/api/kb/search"): Scope.KB_READ,
    ("POST", "/api/triage"): Scope.MESSAGES_WRITE,
    ("GET", "/api/triage/{run_id}"): Scope.RUNS_READ,
    ("POST", "/api/triage/{run_id}/sent"): Scope.MESSAGES_WRITE,
    ("GET", "/api/customers/{customer_id:path}"): Scope.TICKETS_READ,
}
CHAT = {
    ("POST", "/api/chat"),
    ("GET", "/api/chat/events"),
    ("GET", "/api/chat/settings"),
    ("GET", "/api/chat/people"),
    ("POST", "/api/chat/person"),
    ("POST", "/api/chat/address"),
    ("POST", "/api/chat/thumb"),
    ("POST", "/api/chat/transcript"),
    ("POST", "/api/chat/code"),
    ("POST", "/api/chat/proof"),
}
"""Visitors have no key; where no desk has a chat, there is none."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank") as running:
        yield running


def every_route(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from every_route(inner.routes)
            continue
        path, methods = getattr(route, "path", None), getattr(route, "methods", None)
        assert path, f"a route of a kind this test does not know: {route!r}"
        assert methods, f"a route of a kind this test does not know: {route!r}"
        yield from ((method, path) for method in methods)


async def test_every_route_needs_a_key_but_those_that_tell_nothing(shop: Served) -> None:
    routes = set(every_route(shop.app.routes))
    assert {path for _, path in routes} > OPEN_PATHS
    stranger = shop.stranger()
    for method, path in routes:
        answer = await stranger.request(
            method, path.replace("{run_id}", "run_1").replace("{review_id}", "rev_1")
        )
        if path in OPEN_PATHS | OPEN_PAGES:
            assert answer.status_code in (200, 303)
        elif (method, path) in CHAT:
            assert answer.status_code in (404, 415), (method, path)
        else:
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            if method != "HEAD":
                is_problem(answer, 401, "unauthenticated")


@pytest.mark.parametrize(
    "path",
    [
        "/docs/",
        "/docs/nothing.css",
        "/redoc",
        "/openapi.json",
        "/api",
        "/nowhere",
        "/healthz/",
    ],
)
async def test_a_path_that_does_not_exist_is_closed_as_well(shop: Served, path: str) -> None:
    is_problem(await shop.stranger().get(path), 401, "unauthenticated")


async def test_every_api_route_asks_for_its_scope(shop: Served) -> None:
    routes = {
        (method, path) for method, path in every_route(shop.app.routes) if path.startswith("/api/")
    }
    assert routes == set(SCOPES) | CHAT
    for (method, path), scope in SCOPES.items():
        lacking = await shop.client(scopes=[other for other in EVERY_SCOPE if other is not scope])
        holding = await shop.client(scopes=[scope])
        url = (
            path.replace("{run_id}", "run_1")
            .replace("{review_id}", "rev_1")
            .replace("{desk}", "shop")
        )
        refused = await lacking.request(method, url)
        assert str(scope) in is_problem(refused, 403, "forbidden")["detail"]
        assert (await holding.request(method, url)).status_code not in (401, 403)


async def test_wrong_and_revoked_keys_do_not_get_in(shop: Served) -> None:
    key, secret = await shop.keys.add("short-lived", ["runs:read"], ["*"])
    other, other_secret = await shop.keys.add("other", ["runs:read"], ["*"])
    stolen = other_secret.replace(other.id.removeprefix("key_"), key.id.removeprefix("key_"))
    for header in (
        f"Basic {secret}",
        f"Bearer {secret}x",
        f"Bearer {secret[:-1]}",
        f"Bearer {stolen}",
        "Bearer",
        "Bearer ",
        "Bearer dh_x_y",
        f"Bearer {'x' * 5000}",
        "Bearer \xff\xfe",
    ):
        refused = await shop.stranger().get(
            "/api/runs", headers={b"Authorization": header.encode("latin-1")}
        )
        is_problem(refused, 401, "unauthenticated")
    twice = [("Authorization", f"Bearer {secret}"), ("Authorization", f"Bearer {secret}")]
    is_problem(await shop.stranger().get("/api/runs", headers=twice), 401, "unauthenticated")
    client = Client(shop.app, {"Authorization": f"bearer {secret}"})
    assert (await client.get("/api/runs")).status_code == 200
    await shop.keys.revoke(key.id)
    is_problem(await client.get("/api/runs"), 401, "unauthenticated")


async def test_the_log_names_the_caller_and_holds_no_secret_and_no_words_of_customers(
    shop: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = await shop.client(name="shop-backend")
    await client.worked("My secret garden", conversation="private-place")
    await client.get("/api/runs", params={"conversation": "private-place"})
    await shop.stranger().get(
        "/api/runs%0a/forged", headers={"Authorization": "Bearer dh_guessed_secret"}
    )
    told = "\n".join(
        str(vars(record)) for record in caplog.records if record.name.startswith("deskhand")
    )
    assert "shop-backend" in told
    assert "refused GET" in told
    for hidden in (
        client.headers["Authorization"][7:],
        "dh_guessed_secret",
        "secret garden",
        "private-place",
    ):
        assert hidden not in told
    assert not any(
        "\n" in record.getMessage() for record in caplog.records if record.name == "deskhand.web"
    )


async def test_other_desks_do_not_exist_for_a_key(two: Served) -> None:
    everywhere, teller = await two.client(), await two.client(desks=["bank"])
    run = await everywhere.worked("unsure", desk="shop")
    review = run["review"]["id"]
    decision = {"decision": "approve", "version": 1, "payload_hash": "0" * 64}
    for answer in (
        await teller.get(f"/api/runs/{run['run']}"),
        await teller.post(f"/api/runs/{run['run']}/cancel"),
        await teller.post(f"/api/runs/{run['run']}/retry"),
        await teller.get("/api/runs", params={"desk": "shop"}),
        await teller.get("/api/reviews", params={"desk": "shop"}),
        await teller.get(f"/api/reviews/{review}"),
        await teller.post(f"/api/reviews/{review}/decision", json=decision),
        await teller.message(desk="shop"),
    ):
        assert "bank" not in is_problem(answer, 404, "not_found")["detail"]
    unknown = await teller.get("/api/runs", params={"desk": "nowhere"})
    foreign = await teller.get("/api/runs", params={"desk": "shop"})
    assert unknown.text.replace("nowhere", "shop") == foreign.text
    assert (await teller.get("/api/runs")).json()["items"] == []
    assert (await teller.get("/api/reviews", params={"state": "all"})).json()["items"] == []
    assert (await everywhere.get(f"/api/runs/{run['run']}")).json()["status"] == "waiting_review"


async def test_a_key_for_several_desks_says_which(two: Served) -> None:
    client = await two.client()
    for answer in (
        await client.get("/api/runs"),
        await client.get("/api/reviews"),
        await client.message(),
    ):
        problem = is_problem(answer, 422, "request_invalid")
        assert problem["errors"] == [{"field": "desk", "problem": "say which desk: bank, shop"}]
    assert (await client.worked(desk="bank"))["desk"] == "bank"


async def test_a_key_for_a_desk_that_is_not_served_finds_nothing(shop: Served) -> None:
    client = await shop.client(desks=["closed"])
    is_problem(await client.message(), 404, "not_found")
    is_problem(await client.get("/api/runs"), 404, "not_found")
    is_problem(await client.get("/api/runs/run_1"), 404, "not_found")


async def test_security_headers_are_on_every_answer_and_no_other_origin_gets_in(
    shop: Served,
) -> None:
    client = await shop.client()
    for answer in (
        await client.get("/api/runs", headers={"Origin": "https://evil.test"}),
        await client.get("/nowhere"),
        await client.options(
            "/api/runs", headers={"Origin": "x", "Access-Control-Request-Method": "GET"}
        ),
        await shop.stranger().get("/healthz"),
        await shop.stranger().get("/api/runs"),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_the_openapi_document_is_for_holders_of_a_key_and_names_bodies_and_version(
    shop: Served,
) -> None:
    document = (await (await shop.client()).get("/openapi.json")).json()
    assert document["info"]["version"] == "1.2.3"
    posted = document["paths"]["/api/messages"]["post"]["requestBody"]["content"][
        "application/json"
    ]["schema"]
    assert "from" in posted["properties"]
    decided = document["paths"]["/api/reviews/{review_id}/decision"]["post"]["requestBody"][
        "content"
    ]
    assert "approve" in decided["application/json"]["schema"]["properties"]["decision"]["enum"]
    assert "$defs" not in str(document)
    assert document["paths"]["/api/runs"]["get"]["security"]


async def test_a_websocket_is_refused(shop: Served) -> None:
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return {"type": "websocket.connect"}

    async def send(message: object) -> None:
        sent.append(message)

    await shop.app(
        {"type": "websocket", "path": "/api/runs", "headers": [], "query_string": b""},
        receive,
        send,
    )
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_readiness_says_yes_or_no_and_how_many_desks_are_stopped(
    shop: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = shop.stranger()
    assert (await stranger.get("/readyz")).json() == {
        "status": "ready",
        "stopped": 0,
        "models_away": [],
    }
    desk = shop.desks["shop"]
    desk.dispatcher.lost.cancel()
    problem = is_problem(await stranger.get("/readyz"), 503, "store_unavailable")
    assert problem["detail"] == "not ready: shop: another process serves this desk now"
    assert (await stranger.get("/healthz")).json() == {"status": "alive"}


async def test_an_app_without_desks_is_ready_and_empty(shop: Served) -> None:
    app = create_app({}, shop.keys, version="0")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        assert (await client.get("/readyz")).status_code == 200
        is_problem(await client.get("/api/runs"), 401, "unauthenticated")
