"""An agent's answer in a real terminal: its words come while the model writes them, as a draft,
and count once the gate let them pass."""

import asyncio
import json
import os
import pty
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests import fake_openai as fake
from tests.agent_desk import a_desk
from tests.cli_kit import write_message
from tests.fake_openai import FakeOpenAI, Reply
from tests.waiting import until

pytestmark = pytest.mark.real

LOOK_UP = fake.events(
    fake.delta(tool_calls=[{"index": 0, **fake.tool_call("find_parcel", '{"number": "P-1001"}')}]),
    fake.delta(finish_reason="tool_calls"),
    fake.USAGE_EVENT,
)


def last_words(text: str) -> Reply:
    """The model's last words in pieces; the stream waits in their middle."""
    words = json.dumps({"text": text, "hand_over": False, "confidence": 0.9, "sources": []})
    half = words.index(" is ") + 1
    stream = fake.events(
        fake.delta(words[:half]),
        fake.delta(words[half:]),
        fake.delta(finish_reason="stop"),
        fake.USAGE_EVENT,
    )
    return replace(stream, waits_at=1)


class Terminal:
    """A program in a terminal of its own, and all that it has shown."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self.shown = ""

    def read(self) -> None:
        try:
            piece = os.read(self._leader, 65536)
        except (BlockingIOError, OSError):
            return
        text = piece.decode("utf-8", "replace")
        self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)

    def type(self, line: str) -> None:
        os.write(self._leader, line.encode())


@asynccontextmanager
async def in_terminal(server: FakeOpenAI, *arguments: str) -> AsyncIterator[Terminal]:
    leader, follower = pty.openpty()
    os.set_blocking(leader, False)
    environ = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "GEMINI_API_KEY": "the-key",
        "DESKHAND_GEMINI_BASE_URL": server.base_url,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "deskhand.cli",
        *arguments,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environ,
    )
    os.close(follower)
    terminal = Terminal(leader)
    asyncio.get_running_loop().add_reader(leader, terminal.read)
    try:
        yield terminal
        await process.wait()
        terminal.read()
    finally:
        asyncio.get_running_loop().remove_reader(leader)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(leader)


async def test_a_run_shows_a_draft_while_the_model_writes_it(tmp_path: Path) -> None:
    mail = write_message(tmp_path / "mail.json", subject="My parcel", body="Where is P-1001?")
    folder = a_desk(tmp_path / "desk")
    async with (
        FakeOpenAI([LOOK_UP, last_words("P-1001 is on its way.")]) as server,
        in_terminal(server, "run", str(mail), "--desk", str(folder)) as terminal,
    ):
        await until(lambda: "draft, not checked yet" in terminal.shown)
        await until(lambda: "┆ P-1001" in terminal.shown)
        assert "on its way" not in terminal.shown, "the model has not written it yet"
        assert "hand_over" not in terminal.shown, "the reply is shown, not the object around it"
        server.go_on.set()
    assert all(request.body["stream"] is True for request in server.received)
    assert "│ P-1001 is on its way." in terminal.shown, terminal.shown
    after = terminal.shown.rpartition("│ P-1001 is on its way.")[2]
    assert "sent" in after
    assert "draft, not checked yet" not in after, "what the gate let pass is no draft any more"


async def test_a_draft_that_the_gate_holds_is_never_told_as_sent(tmp_path: Path) -> None:
    mail = write_message(tmp_path / "mail.json", subject="My parcel", body="Where is P-1001?")
    folder = a_desk(tmp_path / "desk")
    script = [LOOK_UP, last_words("P-1001 is at 40 Elm Street, and you get 900 EUR.")]
    async with FakeOpenAI(script) as server:
        server.go_on.set()
        async with in_terminal(server, "run", str(mail), "--desk", str(folder)) as terminal:
            await until(lambda: "waits for a person" in terminal.shown)
    assert "waiting_review" in terminal.shown.replace(" ", "_")


async def test_a_chat_shows_a_draft_while_the_model_writes_it(tmp_path: Path) -> None:
    folder = a_desk(tmp_path / "desk")
    desk = (folder / "desk.yaml").read_text()
    parcels = "match: {subject_contains: parcel}"
    assert parcels in desk
    (folder / "desk.yaml").write_text(desk.replace(parcels, "match: {all: true}"))
    async with (
        FakeOpenAI([LOOK_UP, last_words("P-1001 is on its way.")]) as server,
        in_terminal(server, "chat", str(folder)) as terminal,
    ):
        await until(lambda: "you" in terminal.shown)
        terminal.type("Where is P-1001?\n")
        await until(lambda: "┆ P-1001" in terminal.shown)
        assert "on its way" not in terminal.shown
        server.go_on.set()
        await until(lambda: "desk  P-1001 is on its way." in terminal.shown)
        terminal.type("\n")
