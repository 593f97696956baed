"""How much of planted personal data reaches a model: `python -m bench.redaction FILE`.

Each line of the file is a message: `from` (name, address), `subject`, `body`, perhaps `history`
and `attachments` (name, text), and `planted`, a list of `{kind, text, where, whose}`. What is
counted is the body of the HTTP request, as a provider gets it. Companies' data (`whose: company`)
is left out. `not_personal` lists what looks like a name and is none.
"""

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.brain.llm import LlmBrain
from deskhand.brain.redacting_chat import RedactingChatModel, redaction_rules
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Attachment, Message
from deskhand.model.spec import AgentSpec
from tests.fake_openai import FakeOpenAI, Reply, completion


@dataclass
class Score:
    """What was planted, what leaked, and whether answers came back whole."""

    planted: int = 0
    leaks: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])
    """Message, kind, whose, text."""
    not_restored: list[str] = field(default_factory=list[str])
    harmless: int = 0
    """Values that look like somebody's and are nobody's (`not_personal`)."""
    hidden_harmless: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    words: int = 0
    """Words of bodies and subjects that are no part of anything planted."""
    hidden_words: Counter[str] = field(default_factory=Counter[str])

    @property
    def recall(self) -> float:
        return 1 - len(self.leaks) / max(self.planted, 1)

    @property
    def senders(self) -> list[tuple[str, str, str, str]]:
        return [leak for leak in self.leaks if leak[2] == "sender"]


def message_of(line: Mapping[str, Any]) -> Message:
    attached = [
        Attachment(
            name=str(file.get("name") or "file"), type="text/plain", size=1, text=file.get("text")
        )
        for file in line.get("attachments") or ()
    ]
    return Message(
        id=str(line["id"]),
        conversation=str(line["id"]),
        sender=Address(**line["from"]),
        subject=line.get("subject") or "",
        body=line["body"],
        attachments=tuple(attached),
        received_at=datetime(2026, 11, 16, 9, tzinfo=UTC),
    )


def echoed(request: dict[str, Any]) -> Reply:
    """A draft that repeats all that it was shown: it must come back as it was written."""
    content = request["messages"][-1]["content"]
    return completion(json.dumps({"text": content, "language": "en"}, ensure_ascii=False))


def shows(text: str, wire: str) -> bool:
    """Whether a planted value stands in a request, however its white space is written."""
    pattern = r"\s+".join(re.escape(word) for word in text.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", wire) is not None


async def score(path: Path) -> Score:
    result = Score()
    async with FakeOpenAI(otherwise=echoed) as server:
        chat = HttpChatModel(environ={"DESKHAND_VLLM_BASE_URL": server.base_url})
        brain = LlmBrain(RedactingChatModel(chat, redaction_rules({})), {}, "vllm/m")
        spec = AgentSpec(name="draft", output_key="draft", has_llm=True, task="draft")
        agent = Agent(spec, Parts(brain=brain))
        for line in map(json.loads, path.read_text().splitlines()):
            await _score_message(line, agent, server, result)
        await chat.aclose()
    return result


async def _score_message(
    line: Mapping[str, Any], agent: Agent, server: FakeOpenAI, result: Score
) -> None:
    message = message_of(line)
    envelope = Envelope.of(message, run_id="run_1")
    if line.get("history"):
        envelope = envelope.with_output("conversation", {"earlier": line["history"]})
    made = await agent.process(envelope)
    wire = "\n".join(str(part["content"]) for part in server.received[-1].body["messages"])
    wire = wire.replace("\\n", "\n").replace('\\"', '"')
    for value in line["planted"]:
        if value["whose"] == "company":
            continue
        result.planted += 1
        if shows(value["text"], wire):
            result.leaks.append((message.id, value["kind"], value["whose"], value["text"]))
    _score_harmless(line, wire, result)
    if message.body.strip() not in made.delta.outputs["draft"]["text"]:
        result.not_restored.append(message.id)


def _score_harmless(line: Mapping[str, Any], wire: str, result: Score) -> None:
    """Count what was hidden although it is nobody's."""
    for text in line.get("not_personal") or ():
        result.harmless += 1
        if not shows(text, wire):
            result.hidden_harmless.append((str(line["id"]), text))
    planted = {word for value in line["planted"] for word in _words(value["text"])}
    written = _words(f"{line.get('subject') or ''}\n{line['body']}")
    others = Counter(word for word in written if word not in planted)
    result.words += others.total()
    result.hidden_words += others - Counter(_words(wire))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)


def main() -> None:
    result = asyncio.run(score(Path(sys.argv[1])))
    kinds = Counter((kind, whose) for _, kind, whose, _ in result.leaks)
    print(f"{result.planted} planted, {len(result.leaks)} leaked, recall {result.recall:.2%}")
    print(f"the sender's own: {len(result.senders)} leaked")
    print(f"replies not restored: {len(result.not_restored)}")
    hidden = result.hidden_words.total()
    print(
        f"hidden, though nobody's: {len(result.hidden_harmless)} of {result.harmless} look-alikes"
    )
    print(f"other words hidden: {hidden} of {result.words} ({hidden / max(result.words, 1):.1%})")
    for (kind, whose), number in kinds.most_common():
        print(f"  {kind} ({whose}): {number}")
    if "--show" in sys.argv:
        for leak in result.leaks:
            print("  ", *leak)
        print("   hidden words:", *(f"{w} {n}" for w, n in result.hidden_words.most_common(80)))


if __name__ == "__main__":
    main()
