"""`web_search` against a local server that answers in SearXNG's documented shape, and in every
other one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from deskhand.adapters.web_search import LARGEST, SearxSearch
from deskhand.model.envelope import Envelope
from deskhand.tools import Gate, ToolRegistry
from deskhand.tools.gate_call import Terms
from deskhand.tools.provenance import results_in
from deskhand.tools.rules.replies import trusted_results
from deskhand.tools.web_search import web_search_tool
from tests.memory_ledger import FixedContext, MemoryLedger
from tests.waiting import PATIENCE

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def searx(answer: Answer) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/search", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}/search"
    finally:
        await runner.cleanup()


async def asked(
    url: str, query: str = "ibuprofen dosage", limit: int = 5, timeout: float = 10.0
) -> Any:
    gate = Gate(
        ToolRegistry([web_search_tool(SearxSearch(url, timeout), limit)]),
        MemoryLedger(),
        desk="test",
    )
    return await gate.call(
        "web_search", {"query": query}, allowed=("web_search",), ctx=FixedContext()
    )


def found(number: int) -> dict[str, Any]:
    """One result with all the fields that the documentation names."""
    return {
        "url": f"https://example.org/{number}",
        "title": f"Page {number}",
        "content": f"About\u200b number\n{number}",
        "thumbnail": None,
        "engine": "example",
        "template": "default.html",
        "parsed_url": ["https", "example.org", f"/{number}", "", "", ""],
        "img_src": "",
        "priority": "",
        "engines": ["example"],
        "positions": [1],
        "score": 1.0,
        "category": "general",
        "publishedDate": None,
    }


def page(*results: Any) -> dict[str, Any]:
    return {
        "query": "q",
        "number_of_results": 0,
        "results": list(results),
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


async def test_what_is_found_is_told_in_short() -> None:
    seen: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(dict(request.query))
        return web.json_response(page(*map(found, range(9)), "junk", {"title": 5}))

    async with searx(answer) as url:
        answered = await asked(url, limit=3)
    assert seen == [{"q": "ibuprofen dosage", "format": "json"}]
    assert answered.result.data["results"][1] == {
        "title": "Page 1",
        "url": "https://example.org/1",
        "text": "About number 1",
    }
    assert len(answered.result.data["results"]) == 3


async def test_results_are_bounded_in_size() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(
            page({**found(1), "title": "t" * 10_000, "content": "c" * 100_000})
        )

    async with searx(answer) as url:
        [one] = (await asked(url)).result.data["results"]
    assert (len(one["title"]), len(one["text"])) == (200, 500)


async def test_a_redirect_leads_nowhere() -> None:
    reached: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        reached.append(str(request.url))
        return web.json_response(page(found(1)))

    async with searx(elsewhere) as other:

        async def answer(request: web.Request) -> web.StreamResponse:
            raise web.HTTPFound(other)

        async with searx(answer) as url:
            answered = await asked(url)
    assert answered.result.error.message == "the search engine answered with status 302"
    assert reached == []


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (lambda: web.Response(status=403), "gives no JSON"),
        (lambda: web.Response(status=429), "asked too often"),
        (lambda: web.Response(status=500), "status 500"),
        (lambda: web.Response(text="<html>"), "did not answer in JSON"),
        (lambda: web.Response(text="[" * 100_000), "did not answer in JSON"),
        (lambda: web.Response(text='{"results": {}}'), "no list of results"),
        (lambda: web.Response(text="[]"), "no list of results"),
        (lambda: web.Response(body=b"x" * (LARGEST + 1)), "too large"),
    ],
)
async def test_an_answer_of_another_kind_is_an_error_in_words(response: Any, words: str) -> None:
    async def answer(request: web.Request) -> web.Response:
        made: web.Response = response()
        return made

    async with searx(answer) as url:
        answered = await asked(url)
    assert words in answered.result.error.message


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    gone = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        await asyncio.wait_for(gone.wait(), PATIENCE)
        return web.Response()

    async with searx(answer) as url:
        answered = await asked(url, timeout=0.1)
        gone.set()
    assert answered.result.error.message == "the search engine does not answer"
    assert (
        await asked("http://127.0.0.1:9/search")
    ).result.error.error_type == "search_unavailable"


@pytest.mark.parametrize(
    "query",
    [
        "who is ann@example.com",
        "+420 777 123 456",
        "CZ65 0800 0000 1920 0014 5399",
        "4111111111111111",
    ],
)
async def test_nothing_about_a_person_is_searched_for(query: str) -> None:
    answered = await asked("http://127.0.0.1:9/search", query)
    assert answered.result.error.error_type == "private_data"


async def test_an_ordinary_number_may_be_searched_for() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(page())

    async with searx(answer) as url:
        assert (await asked(url, "ibuprofen 400 mg, 50 tablets, ATC M01AE01")).result.data == {
            "results": []
        }


async def test_what_strangers_wrote_stands_behind_nothing() -> None:
    result = {
        "tool": "web_search",
        "status": "success",
        "arguments": {},
        "data": {"refund": "500 EUR"},
    }
    envelope = Envelope(outputs={"acted": {"results": [result]}})
    terms = Terms(trusted_outputs={"acted": "act"}, outside=frozenset(("web_search",)))
    assert trusted_results(envelope, terms) == []
    assert trusted_results(envelope, Terms(trusted_outputs={"acted": "act"})) != []
    assert results_in(envelope, (), ("web_search",)) == [None]
