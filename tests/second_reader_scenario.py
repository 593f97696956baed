"""A desk whose replies one model writes and another reads again; worked in this process, or in one
of its own that kills itself (`tests/forked.py`)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deskhand.wiring import Desk, open_database, open_desk, read_desk
from tests.fake_openai import FakeOpenAI, Reply, completion, failure
from tests.kit import a_message

DESK = """\
desk: shop
mode: {mode}
undo_seconds: 0
models: {{default: local/writer, checker: away/reader}}
providers:
  local: {{base_url: '{writer}'}}
  away: {{base_url: '{reader}', prices: {{reader: {{input: 1, output: 10}}}}}}
outgoing: {{second_reader: checker}}
{more}
flows:
  main:
    stages:
      draft: {{task: draft, next: dispatch}}
      dispatch: {{service: dispatch}}
"""
ARTICLE = """\
---
id: returns
title: Returns
language: en
---
# Returns

Unused goods can be returned within 30 days. Collection costs 29 EUR.
"""
QUOTE = "Unused goods can be returned within 30 days."
FREELY = "There is a month's time, 30 days, to send unused things back to us."
"""Right, in words that the article does not have: words alone let it wait."""


class Models:
    """What the writer writes, and what the reader says of it."""

    def __init__(self, text: str = FREELY) -> None:
        self.text = text
        self.supported = True
        self.missing = ""
        self.trouble: Reply | None = None
        self.read: list[str] = []
        """What the reader was shown."""

    def writes(self, request: dict[str, Any]) -> Reply:
        said = {"hand_over": False, "reason": None, "confidence": 1.0}
        sources = [{"id": "returns", "quote": QUOTE}]
        draft = {"text": self.text, "language": "en", **said, "sources": sources}
        return completion(json.dumps(draft))

    def reads(self, request: dict[str, Any]) -> Reply:
        if self.trouble is not None:
            return self.trouble
        shown = request["messages"][1]["content"]
        self.read.append(shown)
        known = json.loads(shown.partition("\n")[2].partition("\n</data")[0])
        verdicts = [self._verdict(sentence["number"]) for sentence in known["sentences"]]
        return completion(json.dumps({"verdicts": verdicts}))

    def _verdict(self, number: int) -> dict[str, Any]:
        return {
            "number": number,
            "quote": QUOTE,
            "sum": "",
            "missing": self.missing,
            "courtesy": False,
            "supported": self.supported,
        }

    def go_away(self) -> None:
        self.trouble = failure(503, "overloaded")


@asynccontextmanager
async def servers(models: Models) -> AsyncIterator[tuple[str, str]]:
    """The addresses of the writer and the reader."""
    async with (
        FakeOpenAI(otherwise=models.writes) as writer,
        FakeOpenAI(otherwise=models.reads) as reader,
    ):
        yield writer.base_url, reader.base_url


def written(folder: Path, urls: tuple[str, str], *, mode: str = "auto", more: str = "") -> Path:
    writer, reader = urls
    (folder / "knowledge").mkdir(exist_ok=True)
    (folder / "knowledge" / "returns.md").write_text(ARTICLE)
    text = DESK.format(mode=mode, writer=writer, reader=reader, more=more)
    (folder / "desk.yaml").write_text(text)
    return folder


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Desk]:
    async with (
        open_database(str(folder / "desk.db")) as database,
        open_desk(read_desk(str(folder)), database, outbox=folder / "out", live=True) as desk,
    ):
        yield desk


async def main(folder: str) -> None:
    async with opened(Path(folder)) as desk:
        await desk.dispatcher.submit(a_message(1, body="How long can I return goods?"))
        (run,) = await desk.store.runs()
        await desk.dispatcher.wait(run.id)
