"""A model that writes anything, at the gate of a shipped desk: what it writes leaves, or waits."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import deskhand
from deskhand.model.authorship import AGENT, BY_MODEL, WRITTEN, Written
from deskhand.model.envelope import Envelope
from deskhand.model.knowledge import CitedText
from deskhand.model.message import DELIVER, Reply
from deskhand.model.second_reading import SECOND_READING, SecondReading, ToRead
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry
from deskhand.tools.terms import terms_of
from deskhand.wiring import read_desk
from tests.kit import MemoryOutbox, a_message
from tests.memory_ledger import FixedContext, MemoryLedger

KNOWLEDGE = Path(deskhand.__file__).parent / "desks"
RESULT = "search_drugs"
NOW = datetime(2026, 11, 19, 10, tzinfo=ZoneInfo("Europe/Prague"))
"""When the replies are written: some say `tomorrow`, or a date without its year."""
TOOLS_STAGES = ("agent", "execute_tools")
"""Stages whose results a reply may rest on; each desk has one of them."""


class ModelReply(NamedTuple):
    """A reply as a model hands it in."""

    desk: str
    message: str
    reply: str
    sources: Sequence[dict[str, str]]
    result: dict[str, Any] | None = None


def of_row(row: Mapping[str, Any]) -> ModelReply:
    """A reply as a line of the files beside this one has it."""
    quoted = [{**source, "id": _id_of(source["id"])} for source in row["sources_quoted"]]
    return ModelReply(row["desk"], row["message"], row["reply"], quoted, row.get("result"))


def _id_of(written: str) -> str:
    return RESULT if written == "result" else written


Reads = Callable[[ToRead], SecondReading]
"""What a second reader says of what it is shown."""


class Desk:
    """The gate of a shipped desk; every reply is a run of its own."""

    def __init__(self, name: str) -> None:
        loaded = read_desk(name)
        self.name = name
        self.articles = _articles(KNOWLEDGE / name / "knowledge")
        self._outbox = MemoryOutbox()
        self._registry = ToolRegistry([*loaded.code.tools, delivery_tool(self._outbox)])
        self._terms = terms_of(loaded.spec, self._registry, loaded.code.message_facts)
        trusted = self._terms.trusted_outputs
        self.last_reason = ""
        """Why the last reply waits."""
        self._tools_stage = next(stage for stage in TOOLS_STAGES if stage in trusted)

    async def leaves(self, written: ModelReply, reads: Reads | None = None) -> bool:
        """Whether the reply leaves without a person, read again by `reads` where there is one."""
        gate, ctx, reply = self._at_the_gate(written)
        self.last_reason = "a second reader is not asked"
        to_read = await gate.to_read_again(reply, ctx) if reads is not None else None
        if reads is not None and to_read is not None:
            if to_read.refuses:
                return False
            reading = reads(to_read).as_metadata(to_read, "a second reader")
            ctx.envelope = ctx.envelope.with_metadata(**{SECOND_READING: reading})
        answer = await gate.call(DELIVER, reply, allowed=(DELIVER,), ctx=ctx)
        assert answer.rule != "gate_error", answer
        self.last_reason = answer.reason
        return answer.verdict == "allow"

    async def to_read(self, written: ModelReply) -> ToRead | None:
        """What a second reader would be shown of a reply; None where none is asked."""
        gate, ctx, reply = self._at_the_gate(written)
        return await gate.to_read_again(reply, ctx)

    def _at_the_gate(self, written: ModelReply) -> tuple[Gate, FixedContext, dict[str, Any]]:
        ids = {source["id"] for source in written.sources}

        async def cited(run_id: str) -> list[CitedText]:
            return [article for article in self.articles if article.article in ids]

        gate = Gate(
            self._registry,
            MemoryLedger(),
            desk=self.name,
            terms=self._terms,
            now=NOW.timestamp,
            cited=cited,
        )
        message = a_message(1, body=written.message).changed(subject="")
        ctx = FixedContext()
        envelope = Envelope.of(message, run_id=ctx.run_id)
        ctx.envelope = _envelope(envelope, written, self._tools_stage)
        return gate, ctx, Reply.to_message(message, written.reply).model_dump(mode="json")


def _envelope(envelope: Envelope, written: ModelReply, stage: str) -> Envelope:
    note = Written.of({"sources": list(written.sources)}, AGENT).as_metadata(written.reply)
    envelope = envelope.with_metadata(**{BY_MODEL: True, WRITTEN: note})
    if written.result is None:
        return envelope
    query = str(written.result.get("query", "what was asked for"))
    called = {
        "tool": RESULT,
        "arguments": {"query": query},
        "status": "success",
        "data": written.result,
    }
    return envelope.with_output(stage, {"turns": [], "results": [called]})


def _articles(folder: Path) -> list[CitedText]:
    """Each article under its file's name and under its own id, without headings."""
    articles: list[CitedText] = []
    for file in sorted(folder.glob("*.md")):
        head, body = file.read_text(encoding="utf-8").split("---\n", 2)[1:]
        title = re.search(r'^title: "?(.*?)"?$', head, re.M)
        own = re.search(r"^id: (.*)$", head, re.M)
        text = re.sub(r"^#+ .*$", "", body, flags=re.M)
        for name in {file.stem, own[1] if own else file.stem}:
            articles.append(CitedText(name, title[1] if title else "", text))
    return articles
