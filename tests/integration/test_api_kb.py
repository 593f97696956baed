"""Searching a desk's knowledge over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.knowledge.search import KnowledgeBase
from deskhand.web.api.app import create_app
from tests.api_kit import Client, Served, is_problem, served
from tests.knowledge_kit import HashingEmbedder, an_article


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    """A desk whose knowledge is searched without the real model."""
    async with served(tmp_path) as running:
        desk = running.desks["shop"]
        desks = {
            "shop": replace(desk, knowledge=KnowledgeBase(desk.knowledge.store, HashingEmbedder))
        }
        yield replace(running, desks=desks, app=create_app(desks, running.keys, version="1"))


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client(scopes=["kb:read"])


async def test_a_question_finds_passages_to_cite(shop: Served, client: Client) -> None:
    refund = an_article("refunds", "Money back in five days.", title="Refunds", category="billing")
    await shop.desks["shop"].knowledge.store.put(
        [refund, an_article("other", "Reset your password.")], "m"
    )
    answer = await client.get("/api/kb/search", params={"q": "money back", "limit": 1})
    assert answer.status_code == 200
    [item] = answer.json()["items"]
    assert item["article"] == "refunds"
    assert item["citation"] == "Refunds › Part 1 [refunds]"
    assert item["text"] == "Money back in five days."
    assert item["heading_path"] == ["Part 1"]
    assert 0 < item["score"] <= 1
    filtered = await client.get(
        "/api/kb/search", params={"q": "money", "category": "account", "language": "en"}
    )
    assert filtered.json() == {"items": []}


async def test_an_empty_index_answers_with_nothing(client: Client) -> None:
    assert (await client.get("/api/kb/search", params={"q": "money"})).json() == {"items": []}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "q"),
        ({"q": ""}, "q"),
        ({"q": " \t"}, "q"),
        ({"q": "x" * 20_000}, "q"),
        ({"q": "x", "limit": 0}, "limit"),
        ({"q": "x", "limit": 51}, "limit"),
        ({"q": "x", "limit": "many"}, "limit"),
    ],
)
async def test_a_request_that_cannot_be_answered_says_why(
    client: Client, params: dict[str, str], field: str
) -> None:
    problem = is_problem(await client.get("/api/kb/search", params=params), 422, "request_invalid")
    assert problem["errors"][0]["field"] == field


@pytest.mark.parametrize(
    "question", ['"', "NEAR(a b)", "a* -b", "\x00", "🎉", "'; DROP TABLE runs; --"]
)
async def test_odd_questions_are_answered(shop: Served, client: Client, question: str) -> None:
    await shop.desks["shop"].knowledge.store.put([an_article("one", "Text.")], "m")
    assert (await client.get("/api/kb/search", params={"q": question})).status_code == 200
