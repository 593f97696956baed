"""A whole desk on the embedded brain: no key, no network, from a message to its reply."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deskhand.brain.embedded import ANY_WORD
from deskhand.engine.story import read_records, story_of
from deskhand.knowledge.ingest import Indexer
from deskhand.language.embed import Embedder, Kind, shared_embedder
from deskhand.model.message import Address, Message
from deskhand.wiring import Desk, embedder, embedder_name, open_database, open_desk, read_desk

if TYPE_CHECKING:
    from deskhand.language.embed import Vectors

DESK = """\
desk: tiny
mode: auto
languages: [en, cs]
brain: {signature: Your parcel shop}
slots: {order: {type: order_number, prefix: [P]}}
plans:
  order_status:
    needs: [order]
    ask: {order: {en: "Which parcel is it? The number begins with P-.", cs: "O kterou zásilku jde?"}}
    steps: [{tool: find_order, parameters: {order: "{slots.order}"}}]
    reply:
      en: Your parcel {results.find_order.order} is {results.find_order.status}.
      cs: "Stav zásilky {results.find_order.order}: {results.find_order.status}."
flows:
  main:
    stages:
      classify:
        task: classify
        categories: [order_status, returns, other]
        output: classification
        routes: [{when: {category: {in: [returns, other]}}, to: draft}]
        next: decide
      decide:
        task: decide
        output: plan
        routes: [{when: {ask: {exists: true}}, outcome: clarify, ask: "{{ ask }}"}]
        next: act
      act: {tools: [find_order], next: draft}
      draft: {task: draft, tone: {else: friendly}, max_visits: 5, next: review}
      review: {service: review, auto_send_at: 0.5, loop_to: draft, next: dispatch}
      dispatch: {service: dispatch}
"""  # noqa: E501
TOOLS = '''\
from deskhand import tool


@tool(effect="read")
async def find_order(order: str) -> dict:
    """Look up where a parcel is."""
    return {"order": order, "status": "on its way"}
'''
INTENTS = """\
intents:
  order_status:
    description: the customer asks where a parcel is and when it will be delivered
    examples:
      - Where is my parcel?
      - When will my order arrive?
      - My package has not been delivered yet
      - Can you tell me the status of my order?
      - I am still waiting for my delivery
      - Kde je můj balík?
      - Kdy dorazí moje objednávka?
      - Tracking of my shipment please
  returns:
    description: the customer wants to send something back
    examples:
      - How can I return an item?
      - I want to send the shoes back
      - What do I have to do to return my purchase?
      - Can I give it back if it does not fit?
      - Jak mohu vrátit zboží?
      - Chci zboží poslat zpět
      - I would like to return the lamp
      - Is it possible to send the product back to you?
out_of_scope: [What is the capital of France?, Can you sponsor our football club?, I would like to work for you]
"""  # noqa: E501
ARTICLE = """\
---
id: returns-1
title: Returns
language: en
---
# How to return an item

You may send an item back within 30 days of delivery. Pack it in its box and hand it in at any post office.
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKHAND_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "tiny"
    (made / "knowledge").mkdir(parents=True)
    for name, text in (("desk.yaml", DESK), ("tools.py", TOOLS), ("intents.yaml", INTENTS)):
        (made / name).write_text(text)
    (made / "knowledge" / "returns.md").write_text(ARTICLE)
    return made


@asynccontextmanager
async def at_work(folder: Path) -> AsyncIterator[Desk]:
    async with (
        open_database(str(folder.parent / "d.db")) as database,
        open_desk(
            read_desk(str(folder)), database, outbox=folder.parent / "outbox", live=False
        ) as desk,
    ):
        await Indexer(
            desk.knowledge.store, folder / "knowledge", embedder(), embedder_name()
        ).rebuild()
        yield desk


async def test_another_process_reads_the_same_articles_without_computing_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    compute = Embedder._compute

    def counting(self: Embedder, texts: list[str], kind: Kind) -> "Vectors":
        computed.extend(texts)
        return compute(self, texts, kind)

    monkeypatch.setattr(Embedder, "_compute", counting)

    async def in_a_fresh_process(database: str) -> list[str]:
        """What it computes, from opening an empty database to answering."""
        shared_embedder.cache_clear()
        computed.clear()
        async with (
            open_database(str(folder.parent / database)) as opened,
            open_desk(
                read_desk(str(folder)), opened, outbox=folder.parent / "outbox", live=False
            ) as desk,
        ):
            await told(desk, 1, "How do I return an item? My box is damaged.")
        return [text for text in computed if text != ANY_WORD]

    try:
        first = await in_a_fresh_process("first.db")
        again = await in_a_fresh_process("again.db")
    finally:
        shared_embedder.cache_clear()

    assert any("within 30 days of delivery" in text for text in first)
    assert again, "what a customer wrote is not kept on disk"
    written = re.compile("How do I return an item|My box is damaged")
    assert [text for text in again if not written.search(text)] == []


async def told(desk: Desk, number: int, body: str, conversation: str = "") -> dict[str, Any]:
    message = Message(
        id=f"m{number}",
        conversation=conversation or f"c{number}",
        sender=Address(address="ann@example.com", name="Ann"),
        subject="Hello",
        body=body,
        received_at=datetime(2026, 11, 15, 9, 0, tzinfo=UTC),
    )
    accepted = await desk.dispatcher.submit(message)
    await desk.dispatcher.wait(accepted.run_id)
    return story_of(await read_records(desk.store, accepted.run_id))


async def test_a_question_in_a_plan_stops_the_run_and_its_answer_goes_on(folder: Path) -> None:
    """No route asks: the walk itself comes upon the plan's question."""
    written = DESK.replace(
        '        routes: [{when: {ask: {exists: true}}, outcome: clarify, ask: "{{ ask }}"}]\n', ""
    )
    assert written != DESK
    (folder / "desk.yaml").write_text(written)
    async with at_work(folder) as desk:
        asked = await told(desk, 1, "Kdy dorazí moje objednávka?", "c")
        assert (asked["status"], asked["reply"]["text"]) == (
            "waiting_user",
            "O kterou zásilku jde?",
        )
        assert asked["outputs"]["act"]["executed"] == 0
        still = await told(desk, 2, "Už si nevzpomínám, kde je můj balík?", "c")
        assert still["status"] == "waiting_user"
        assert still["reply"]["text"].endswith("O kterou zásilku jde?")
        answered = await told(desk, 3, "Je to zásilka P-1002, děkuji.", "c")
        assert answered["steps"][0]["name"] == "@adopt"
        assert [one["data"]["order"] for one in answered["outputs"]["act"]["results"]] == ["P-1002"]
        assert answered["status"] == "sent"
        assert "Stav zásilky P-1002: on its way." in answered["reply"]["text"]


async def test_a_desk_without_a_key_looks_up_asks_quotes_and_hands_over(folder: Path) -> None:
    async with at_work(folder) as desk:
        status = await told(
            desk, 1, "Where is my parcel P-1001? I am still waiting for the delivery."
        )
        assert (status["status"], status["outputs"]["classification"]["category"]) == (
            "sent",
            "order_status",
        )
        assert "Your parcel P-1001 is on its way." in status["reply"]["text"]
        assert [step["answered"] for step in status["steps"] if step["name"] == "classify"] == [
            {"brain": "embedded", "eligible": ["order_status", "returns", "other"]}
        ]

        asked = await told(desk, 2, "When will my order arrive?", "c")
        assert (asked["status"], asked["reply"]["text"]) == (
            "waiting_user",
            "Which parcel is it? The number begins with P-.",
        )
        answered = await told(desk, 3, "It is P-1002.", "c")
        assert answered["status"] == "sent"
        assert "Your parcel P-1002 is on its way." in answered["reply"]["text"]

        returned = await told(desk, 4, "How do I send an item back?")
        assert returned["status"] == "sent"
        assert (
            "> You may send an item back within 30 days of delivery." in returned["reply"]["text"]
        )
        used = await desk.knowledge.store.used()
        assert [article for article, _ in used] == ["returns-1"]

        strange = await told(desk, 5, "Can you recommend a good recipe for goulash?")
        assert strange["status"] == "waiting_review"
        assert "hands over" in strange["reason"]
        assert "{answer}" in strange["reply"]["text"]


BAD_TEXTS = {
    "empty": "",
    "a megabyte": "blah " * 190_000,
    "emoji only": "😀🎉👍🏽" * 20,
    "control characters": "\x00\x01\x1b[31m\x7f\u202e\ufeff",
    "scripts it has no words of": "我的包裹在哪里 أين الطرد",
}


async def test_what_it_cannot_read_goes_to_a_person_and_no_run_breaks(folder: Path) -> None:
    async with at_work(folder) as desk:
        for number, (what, body) in enumerate(BAD_TEXTS.items(), 1):
            run = await told(desk, number, body)
            assert run["status"] == "waiting_review", what
            assert "hands over" in run["reason"], what
        mixed = await told(desk, 98, "我的包裹在哪里 где посылка? أين الطرد Kde je můj Paket?")
        assert (mixed["status"], mixed["outputs"]["plan"]["missing"]) == ("waiting_user", ["order"])
        fine = await told(
            desk, 99, "Where is my parcel P-1001? I am still waiting for the delivery."
        )
        assert fine["status"] == "sent"
