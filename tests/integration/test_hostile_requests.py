"""Requests made to hurt: they are refused in words, and half a request does not last for ever."""

import asyncio
import json
import random
import re
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import uvicorn

import deskhand
from deskhand.model.access import Role
from deskhand.web import header_timeout
from deskhand.web.header_timeout import HeaderTimeoutProtocol
from deskhand.wiring import user_accounts
from tests.api_kit import Client, Served, is_problem, served
from tests.approvals_kit import HOME, PASSWORD, Person, person


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, approvals=True) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client()


@pytest.mark.parametrize("opened", ["[", '{"a":'])
@pytest.mark.parametrize("levels", [60, 900])
async def test_a_message_nested_without_end_is_refused(
    client: Client, opened: str, levels: int
) -> None:
    closed = {"[": "]", '{"a":': "}"}[opened]
    nested = opened * levels + "1" + closed * levels
    body = f'{{"from": "ann@example.com", "body": "x", "headers": {nested}}}'
    headers = {"Content-Type": "application/json"}
    answer = await client.post("/api/messages", content=body, headers=headers)
    is_problem(answer, 400, "message_unreadable")


async def test_half_a_request_is_cut_off(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_timeout, "HEADER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(shop.app, http=HeaderTimeoutProtocol, log_config=None, ws="none")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        host, port = listener.getsockname()
        for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(begun)
            assert await reader.read() == b"", "the server closed the connection"
            writer.close()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        server.should_exit = True
        await serving


NOT_ENDING = {
    "headers": b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-More: 1\r\n" * 20_000,
    "a header": b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-More: " + b"1" * 200_000,
    "an address": b"GET /" + b"1" * 200_000,
}
MISLEADING = {
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a version of its own": b"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n",
    "two lengths": b"POST /api/messages HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "a length beside chunks": b"POST /api/messages HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("sent", [*NOT_ENDING.values(), *MISLEADING.values()])
async def test_a_request_that_cannot_be_read_is_refused(shop: Served, sent: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(shop.app, http=HeaderTimeoutProtocol, log_config=None, ws="none")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()
        server.should_exit = True
        await serving


async def test_a_body_whose_end_never_ends_is_cut_off(shop: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(shop.app, http=HeaderTimeoutProtocol, log_config=None, ws="none")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"1\r\na\r\n0\r\n" + b"X-More: 1\r\n" * 20_000)
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        server.should_exit = True
        await serving


@pytest.mark.parametrize("wanted", ["//[", "http://[", "\\\\[", "/approvals/\n"])
async def test_a_login_that_leads_nowhere_leads_to_the_queue(shop: Served, wanted: str) -> None:
    ida = await person(shop)
    shown = await Person(shop).get("/login", params={"to": wanted})
    assert shown.status_code == 200
    answer = await ida.log_in("ida", PASSWORD, to=wanted)
    assert (answer.status_code, answer.headers["Location"]) == (303, HOME)


@pytest.mark.parametrize("origin", ["http://[", "//[", "[", "null", "http://desk.test:x"])
async def test_a_form_from_an_origin_that_is_none_is_refused(shop: Served, origin: str) -> None:
    ida = await person(shop)
    fields = {"name": "ida", "password": PASSWORD, "to": HOME}
    answer = await ida.post("/login", data=fields, headers={"Origin": origin})
    assert answer.status_code == 403


async def test_a_decision_that_does_not_say_what_was_seen_is_refused(
    shop: Served, client: Client
) -> None:
    ida = await person(shop)
    review = await client.under_review()
    address = f"/api/reviews/{review['review']}/decision"
    body = {"decision": "approve", "version": review["version"]}
    problem = is_problem(await client.post(address, json=body), 422, "request_invalid")
    assert "payload_hash" in json.dumps(problem)
    other = await client.post(address, json={**body, "payload_hash": "0" * 64})
    assert other.status_code == 409
    by_page = await ida.do(review, "approve", hash="")
    assert by_page.status_code == 422
    assert "which draft you saw" in by_page.text
    still = (await client.get(f"/api/reviews/{review['review']}")).json()
    assert still["state"] == "open"
    seen = {**body, "payload_hash": review["payload_hash"]}
    assert (await client.post(address, json=seen)).status_code == 200


@pytest.mark.parametrize("wrong", [{"desks": [""]}, {"limit": "much"}, {"mail": "nobody"}])
async def test_a_user_that_cannot_be_is_refused(client: Client, wrong: dict[str, Any]) -> None:
    body = {"name": "ivy", "desks": ["shop"]}
    is_problem(await client.post("/api/users", json=body | wrong), 422, "request_invalid")
    assert (await client.post("/api/users", json=body)).status_code == 201
    is_problem(await client.patch("/api/users/ivy", json=wrong), 422, "request_invalid")


# --- anything at all, at every address

NASTY = [
    *("", " ", "0", "-1", "1e999", "99999999999999999999999", "NaN", "null", "true", "[]", "{}"),
    *(
        "//[",
        "http://[",
        "\\\\[",
        "..",
        "%00",
        "%",
        "\x00",
        "\x7f",
        "\r\n",
        "\u202e",
        "é",
        "漢",
        "🏴",
    ),
    *("(" * 3000 + ">", "a:" * 3000 + ">", '"\\' * 2000 + ">", "<" * 3000, "1" * 5000, "- " * 2500),
    *("a" * 5000, "'", '"', "<script>", "' OR 1=1 --", "%s%n", "{{7*7}}", "${x}", "run_", "rev_"),
    *("2026-11-16T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "P9D"),
]
JSON_VALUES: list[Any] = [
    *(None, True, -1, 0, 1e308, 10**40, 2**63, [], {}, [[]], {"": ""}, [None], {"a": {"b": []}}),
    *NASTY,
]


class Chance(random.Random):
    """Chooses what is sent; the same each time."""

    def text(self) -> str:
        return self.choice(NASTY)

    def value(self) -> Any:
        return self.choice(JSON_VALUES)

    def header(self) -> str:
        return (
            self.text().encode("ascii", "replace").decode().replace("\r\n", "").strip("\x00\x7f ")
        )


def addresses(shop: Served) -> list[tuple[str, str, dict[str, Any]]]:
    document = shop.app.openapi()
    return [
        (method.upper(), path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def filled(path: str, known: dict[str, str], chance: Chance) -> str:
    """The path with its parameters filled: by what exists, or by anything."""
    pieces = []
    for piece in path.split("/"):
        if piece.startswith("{"):
            name = piece.strip("{}").partition(":")[0]
            piece = known[name] if name in known and chance.random() < 0.5 else chance.text()
            piece = quote(piece, safe="") or "x"
        pieces.append(piece)
    return "/".join(pieces)


def body_for(operation: dict[str, Any], chance: Chance) -> bytes:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    fields = {
        name: chance.value() for name in schema.get("properties", {}) if chance.random() < 0.7
    }
    fields |= {"from": "ann@example.com"} if chance.random() < 0.5 else {}
    whole = fields if chance.random() < 0.9 else chance.value()
    try:
        return json.dumps(whole).encode()
    except UnicodeEncodeError:
        return b"{}"


@pytest.mark.slow
@pytest.mark.parametrize("times", [10, pytest.param(100, marks=pytest.mark.chaos)])
async def test_no_request_makes_the_api_fail(shop: Served, client: Client, times: int) -> None:
    """`make chaos` asks ten times as often."""
    chance = Chance(20261116)
    review = await client.under_review()
    known = {
        "run_id": review["run"],
        "review_id": review["review"],
        "desk": review["desk"],
    }
    failed: list[str] = []
    for method, path, operation in addresses(shop):
        asked = [
            given["name"] for given in operation.get("parameters", []) if given["in"] == "query"
        ]
        for _ in range(times):
            address = filled(path, known, chance)
            query = {name: chance.text() for name in asked if chance.random() < 0.5}
            query.pop("wait", None)
            headers = {"Content-Type": "application/json"}
            if chance.random() < 0.3:
                name = chance.choice(
                    ["Origin", "Idempotency-Key", "Content-Type", "Accept", "Range"]
                )
                headers[name] = chance.header()
            content = body_for(operation, chance) if method in ("POST", "PUT", "PATCH") else None
            answer = await client.request(
                method, address, params=query, headers=headers, content=content
            )
            if answer.status_code >= 500:
                failed.append(
                    f"{answer.status_code} {method} {address} {query} {headers} {content!r}"
                )
    assert not failed, "\n".join(failed)


@pytest.mark.slow
async def test_no_request_makes_a_page_fail(shop: Served, client: Client) -> None:
    ida = await person(shop)
    chance = Chance(16112026)
    review = await client.under_review()
    known = {"desk": review["desk"], "review": review["review"], "review_id": review["review"]}
    places = [
        "",
        "login",
        "logout",
        "screened",
        "taken-over",
        "{desk}/{review}",
        "{desk}/{review}/now",
    ]
    actions = ["approve", "edit", "reject", "revise", "answer", "snooze", "assign", "note", "undo"]
    places += [f"{{desk}}/{{review}}/{action}" for action in (*actions, "draft", "keep", "{other}")]
    names = [*("q", "cause", "category", "assignee", "snoozed", "after", "to", "cursor", "desk")]
    fields = [
        *("version", "hash", "text", "subject", "note", "until", "due", "to", "cc", "assignee")
    ]
    failed: list[str] = []
    for place in places * 15:
        address = HOME + filled(place, known, chance)
        query = {name: chance.text() for name in names if chance.random() < 0.3}
        headers = {"Origin": chance.header()} if chance.random() < 0.1 else {}
        if chance.random() < 0.5 and not place.endswith("logout"):
            answer = await ida.get(address, params=query, headers=headers)
        elif not place.endswith(("logout", "approve")):
            sent = {name: chance.text() for name in fields if chance.random() < 0.7}
            form = {"csrf": ida.csrf, **sent}
            answer = await ida.post(address, data=form, headers=headers)
        else:
            continue
        assert isinstance(answer, httpx.Response)
        if answer.status_code >= 500:
            failed.append(f"{answer.status_code} {answer.request.method} {answer.request.url}")
    assert not failed, "\n".join(failed)


WEB = Path(deskhand.__file__).parent / "web"
KNOWN_ACTIONS = ("approve", "edit", "reject", "note", "assign", "retry", "close", "take", "undo")
NEVER_ENDS = "/events"
LEAVES = ("/logout",)
"""Whoever logs out is asked nothing more."""


def pages(shop: Served) -> list[tuple[str, str]]:
    """Method and path of every route that is not described by the API: those of the console, of
    the widget and of the app itself."""
    described = set(shop.app.openapi()["paths"])
    console = next(route for route in shop.app.routes if getattr(route, "path", "") == "/approvals")
    routes: list[Any] = [*console.endpoint.app.routes]  # type: ignore[attr-defined]
    for route in shop.app.routes:
        included = getattr(route, "original_router", None)
        routes += [] if included is None else included.routes
    found: set[tuple[str, str]] = set()
    for route in routes:
        for method in getattr(route, "methods", None) or ():
            found.add((method, route.path))
    return sorted(page for page in found if page[0] != "HEAD" and page[1] not in described)


def names_in_pages() -> list[str]:
    """Every name that a form or a script of ours sends."""
    sources = [*WEB.rglob("*.html"), *WEB.rglob("*.js")]
    names: set[str] = set()
    for source in sources:
        names |= set(re.findall(r"""name=["']([a-z][a-z_-]*)["']""", source.read_text()))
    return sorted(names - {"csrf"})


@pytest.mark.parametrize("tries", [4, pytest.param(60, marks=pytest.mark.chaos)])
@pytest.mark.slow
async def test_no_request_makes_any_page_of_the_app_fail(
    shop: Served, client: Client, tries: int
) -> None:
    """An admin asks every page with nasty values in its path, its query and its form."""
    accounts = user_accounts(shop.database)
    await accounts.add("root", PASSWORD, ["*"], role=Role.ADMIN)
    review, who = await client.under_review(), Person(shop)
    assert (await who.log_in("root")).status_code == 303
    chance = Chance(18112026)
    known = {"desk": review["desk"], "review": review["review"], "run": review["run"]}
    known |= {"run_id": review["run"], "review_id": review["review"], "name": "root"}
    names, failed, asked = names_in_pages(), list[str](), 0
    assert len(names) > 40
    for method, path in pages(shop) * tries:
        if path.endswith(LEAVES):
            continue
        known["action"] = chance.choice(KNOWN_ACTIONS)
        given = {name: chance.text() for name in chance.sample(names, 8)}
        body = {"data": {"csrf": who.csrf, **given}} if method != "GET" else {"params": given}
        request = who.request(method, filled(path, known, chance), **body)  # type: ignore[arg-type]
        asked += 1
        try:
            answer = await asyncio.wait_for(request, 1 if NEVER_ENDS in path else 60)
        except TimeoutError:
            assert NEVER_ENDS in path, path
            continue
        except Exception as error:
            failed.append(f"{method} {path} {given}: {error!r}")
            continue
        if answer.status_code >= 500:
            failed.append(f"{answer.status_code} {method} {answer.request.url} {given}")
    assert asked > 60 * tries
    assert (await who.get(HOME)).status_code == 200, "still logged in: the pages were really asked"
    assert not failed, "\n".join(failed[:20])
