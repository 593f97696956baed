"""Replays of desks that ask a model: what it said is taken from the record, what it never was
asked is told."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deskhand.evals.recorded_chat import RecordedChat
from deskhand.evals.recorded_runs import read_conversations
from deskhand.evals.replay import replay_conversations
from deskhand.model.run import Decision, RunStatus
from deskhand.wiring import open_database, open_sandbox, open_store, read_desk
from tests.fake_openai import FakeOpenAI, Reply, completion, failure
from tests.replay_kit import ALL, changes_of, recording, replayed, verdicts

DESK = """
desk: asking
mode: auto
models: {fast: local/small}
providers: {local: {base_url: "BASE_URL"}}
brain: {use: llm, redact: REDACT}
flows:
  main:
    stages:
      classify: {task: classify, categories: [order, other], attempts: 2, next: draft}
      draft: {task: draft, prompt: reply, max_visits: 5, next: review}
      review: {service: review, auto_send_at: 0.9, loop_to: draft, next: dispatch}
      dispatch: {service: dispatch}
"""
PROMPT = (
    "Answer {{ message.sender.address }} kindly. {{ metadata.decision | default({}) | tojson }}\n{{"
    " raw_input }}"
)


def a_desk(folder: Path, base_url: str, *, redact: bool = False) -> Path:
    (folder / "prompts").mkdir(parents=True)
    text = DESK.replace("BASE_URL", base_url).replace("REDACT", str(redact).lower())
    (folder / "desk.yaml").write_text(text)
    (folder / "prompts" / "reply.j2").write_text(PROMPT)
    return folder


class Answers:
    """Unsure about gift cards, wordless at first about riddles, silent about storms; no two
    drafts are the same."""

    def __init__(self, start: int = 1) -> None:
        self.numbers = count(start)

    def __call__(self, request: dict[str, Any]) -> Reply:
        asked = request["messages"][-1]["content"]
        if "storm" in asked:
            return failure(400, "we do not talk about storms")
        if "riddle" in str(request) and "cannot be used" not in asked:
            return completion("I would rather not say")
        if "Now name its category." in str(request):
            return completion(
                json.dumps({"category": "order", "confidence": 0.5 if "gift" in asked else 0.95})
            )
        return completion(
            json.dumps(
                {"text": f"Thank you for your message{'!' * next(self.numbers)}", "language": "en"}
            )
        )


async def record(
    folder: Path, database: Path, *, redact: bool = False
) -> tuple[Path, dict[str, str]]:
    async with FakeOpenAI(otherwise=Answers()) as server:
        desk_folder = a_desk(folder, server.base_url, redact=redact)
        async with recording(desk_folder, database) as desk:
            runs = {
                "sent": await desk.say("Where is my order?"),
                "repaired": await desk.say("A riddle for you"),
            }
            runs["refused"] = await desk.say("There is a storm")
            runs["revised"] = await desk.say("Do you sell gift cards?")
            await desk.decide(runs["revised"], Decision.REVISE, note="Warmer, please.")
            await desk.decide(runs["revised"], Decision.APPROVE)
            assert (await desk.desk.store.run(runs["revised"])).status is RunStatus.SENT
            assert (await desk.desk.store.run(runs["refused"])).status is RunStatus.NEEDS_REVIEW
    return desk_folder, runs


@pytest.mark.parametrize("redact", [False, True])
async def test_recorded_answers_are_given_again_and_nobody_is_asked(
    redact: bool, tmp_path: Path
) -> None:
    """The server is gone by then."""
    folder, runs = await record(tmp_path / "desk", tmp_path / "desk.db", redact=redact)
    found, chat = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == dict.fromkeys(runs.values(), "identical")
    assert (chat.tally.all_missing, chat.tally.asked) == (0, 0)
    assert chat.tally.recorded == 10


async def test_a_wait_for_the_model_is_not_replayed(tmp_path: Path) -> None:
    script = [failure(503, "overloaded")] * 4  # each attempt asks twice
    async with FakeOpenAI(script, otherwise=Answers()) as server:
        folder = a_desk(tmp_path / "desk", server.base_url)
        async with recording(folder, tmp_path / "desk.db") as desk:
            run = await desk.say("Where is my order?")
            assert (await desk.desk.store.run(run)).status is RunStatus.SENT
            assert len(await desk.desk.store.calls(run)) == 4
    found, chat = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == {run: "identical"}
    assert chat.tally.all_missing == 0


async def test_a_changed_prompt_leaves_unknown_what_the_model_would_say(tmp_path: Path) -> None:
    folder, runs = await record(tmp_path / "desk", tmp_path / "desk.db")
    (folder / "prompts" / "reply.j2").write_text("Answer briefly.\n{{ raw_input }}")
    found, chat = await replayed(tmp_path / "desk.db", folder)
    expected = {runs[name]: "unknown" for name in ("sent", "repaired", "revised")} | {
        runs["refused"]: "identical"
    }
    assert verdicts(found) == expected
    assert {run: chat.tally.missing(run) for run in chat.tally.divergences} == dict.fromkeys(
        [runs["sent"], runs["repaired"], runs["revised"]], 1
    )


async def test_live_asks_for_what_is_not_recorded_and_for_nothing_else(tmp_path: Path) -> None:
    folder, runs = await record(tmp_path / "desk", tmp_path / "desk.db")
    (folder / "prompts" / "reply.j2").write_text("Answer briefly.\n{{ raw_input }}")
    chat = RecordedChat()
    async with FakeOpenAI(otherwise=Answers(start=100)) as server:
        text = (folder / "desk.yaml").read_text()
        start = text.index("http://127.0.0.1")
        (folder / "desk.yaml").write_text(
            text.replace(text[start : text.index('"', start)], server.base_url)
        )
        async with open_database(str(tmp_path / "desk.db")) as database:
            conversations = await read_conversations(open_store(database, "asking"), ALL)
        async with open_sandbox(read_desk(str(folder)), chat=chat.before) as sandbox:
            found = await replay_conversations(conversations, sandbox, chat)
    changed = {runs[name] for name in ("sent", "repaired", "revised")}
    assert {run for run, verdict in verdicts(found).items() if verdict == "changed"} == changed
    assert (chat.tally.asked, server.count) == (4, 4)
    assert "Thank you for" in changes_of(found, runs["sent"])["reply"][1]["text"]


async def test_what_an_erased_person_was_told_cannot_be_replayed(tmp_path: Path) -> None:
    folder, runs = await record(tmp_path / "desk", tmp_path / "desk.db")
    async with open_database(str(tmp_path / "desk.db")) as database:
        store = open_store(database, "asking")
        await store.erase("ann@example.com", "officer")
        assert {call.answer for run in runs.values() for call in await store.calls(run)} == {None}
    found, _ = await replayed(tmp_path / "desk.db", folder)
    assert (found.runs, len(found.skipped)) == ([], 4)
