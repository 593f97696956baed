"""What a visitor's stream tells of an agent at work: its stage, and never a word that the gate has
not let pass."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from deskhand.web.api.app import create_app
from deskhand.wiring import api_keys, open_database, open_desk, read_desk
from tests import fake_openai as fake
from tests.agent_desk import a_desk
from tests.fake_openai import FakeOpenAI, Reply

SEEN = 1.0
"""Seconds a model takes: a stream looks now and then, and must see the stage before it is over."""
CALL = fake.completion(
    None,
    tool_calls=[fake.tool_call("find_parcel", '{"number": "P-1001"}')],
    finish_reason="tool_calls",
)


def last_words(text: str) -> Reply:
    return fake.completion(json.dumps({"text": text, "confidence": 0.9, "sources": []}))


@asynccontextmanager
async def agent_chat(
    folder: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setenv("GEMINI_API_KEY", "the-key")
    monkeypatch.setenv("DESKHAND_GEMINI_BASE_URL", server.base_url)
    desk_folder = a_desk(folder / "desk")
    desk = (desk_folder / "desk.yaml").read_text().replace("subject_contains: parcel", "all: true")
    (desk_folder / "desk.yaml").write_text(desk + "channels: {web: {chat: {}}}\n")
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(str(folder / "desk.db")))
        opening = open_desk(read_desk(str(desk_folder)), database, outbox=folder / "outbox")
        opened = await stack.enter_async_context(opening)
        app = create_app({"shop": opened}, api_keys(database), version="0")
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url="http://shop.example")
        yield await stack.enter_async_context(client)


async def told(client: httpx.AsyncClient) -> list[tuple[str, dict[str, str]]]:
    """The events of a chat until the desk rests."""
    body = {"id": "1", "text": "Where is P-1001?"}
    headers = {"Accept": "text/event-stream"}
    answer = await client.post("/api/chat", json=body, headers=headers)
    events: list[tuple[str, dict[str, str]]] = []
    for block in answer.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


async def test_stages_are_told_and_words_only_as_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        FakeOpenAI([CALL, last_words("P-1001 is on its way.")], delay=SEEN) as server,
        agent_chat(tmp_path, server, monkeypatch) as client,
    ):
        events = await told(client)
    stages = [fields["stage"] for kind, fields in events if kind == "stage"]
    assert "agent" in stages
    assert not any("/" in stage or "find_parcel" in stage for stage in stages), stages
    spoken = [kind for kind, fields in events if "on its way" in json.dumps(fields)]
    assert spoken == ["line"]


async def test_a_draft_that_the_gate_holds_is_told_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        FakeOpenAI([CALL, last_words("P-1001 is lost, and you get 900 EUR.")]) as server,
        agent_chat(tmp_path, server, monkeypatch) as client,
    ):
        events = await told(client)
    assert "900" not in json.dumps(events)
    assert ("state", {"state": "waits_for_person"}) in events
