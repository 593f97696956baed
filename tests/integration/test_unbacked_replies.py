"""What a model writes leaves only as far as something quoted says it, whoever believes in it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.brain.task_prompts import messages_for
from deskhand.engine.story import read_records, story_of
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Review
from deskhand.model.tasks import Task, TaskKind
from deskhand.wiring import Desk, open_database, open_desk, read_desk
from tests.agent_desk import a_desk
from tests.fake_openai import FakeOpenAI, completion, tool_call
from tests.kit import a_message

pytestmark = pytest.mark.real

DRAFTING = """\
desk: shop
mode: auto
undo_seconds: 0
models: {{default: local/small}}
providers: {{local: {{base_url: '{url}'}}}}
flows:
  main:
    stages:
      classify: {{task: classify, categories: [inquiry, other], output: found, next: draft}}
      draft: {{task: draft, next: review}}
      review: {{service: review, auto_send_at: 0.5, next: dispatch}}
      dispatch: {{service: dispatch}}
"""
RETURNS = """\
---
id: returns
title: Returns
language: en
---
# Returns

Unused goods can be returned within 30 days. Collection costs 29 EUR.
"""
QUOTE = {"id": "returns", "quote": "Unused goods can be returned within 30 days."}


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Desk]:
    async with (
        open_database(str(folder / "desk.db")) as database,
        open_desk(read_desk(str(folder)), database, outbox=folder / "out", live=False) as desk,
    ):
        yield desk


async def worked(desk: Desk, body: str) -> tuple[dict[str, Any], list[Review]]:
    accepted = await desk.dispatcher.submit(a_message(1, body=body))
    await desk.dispatcher.wait(accepted.run_id)
    told = story_of(await read_records(desk.store, accepted.run_id))
    return told, list(await desk.store.find_reviews(ReviewFilter()))


async def agent_says(folder: Path, words: str) -> tuple[dict[str, Any], list[Review]]:
    """An agent looks a parcel up, which is on its way, and ends with these words."""
    looked_up = completion(
        None,
        tool_calls=[tool_call("find_parcel", '{"number": "P-1001"}')],
        finish_reason="tool_calls",
    )
    async with FakeOpenAI([looked_up, completion(words)]) as server:
        more = f"providers: {{local: {{base_url: '{server.base_url}'}}}}"
        async with opened(a_desk(folder, brain=more, model="local/small")) as desk:
            return await worked(desk, "Where is P-1001, and may I take 4,000 mg?")


async def draft_says(
    folder: Path, body: str, text: str, **fields: Any
) -> tuple[dict[str, Any], list[Review]]:
    """A draft with one article before it, in a desk whose classifier is sure."""
    (folder / "knowledge").mkdir()
    (folder / "knowledge" / "returns.md").write_text(RETURNS)
    said = {"hand_over": False, "reason": None, "confidence": 1.0, "sources": [QUOTE]}
    answers = [
        completion(json.dumps({"category": "inquiry", "confidence": 0.99})),
        completion(json.dumps({"text": text, "language": "en", **said, **fields})),
    ]
    async with FakeOpenAI(answers) as server:
        (folder / "desk.yaml").write_text(DRAFTING.format(url=server.base_url))
        async with opened(folder) as desk:
            return await worked(desk, body)


async def test_an_agent_tells_what_its_tools_found(tmp_path: Path) -> None:
    end = {"text": "P-1001 is on its way.", "hand_over": False, "confidence": 0.9, "sources": []}
    told, waiting = await agent_says(tmp_path, json.dumps(end))
    assert (told["status"], told["reply"]["text"]) == ("sent", "P-1001 is on its way.")
    assert waiting == []


@pytest.mark.parametrize(
    "words",
    [
        "Yes, 4,000 mg is fine.",
        "P-1001 was delivered on 5 November.",
        "P-1002 is on its way.",
        "Yes.",
        "We have refunded 50 EUR to you.",
    ],
)
async def test_an_agents_unbacked_words_wait_marked(tmp_path: Path, words: str) -> None:
    told, (review, *_) = await agent_says(tmp_path, words)
    assert told["status"] == "waiting_review"
    assert {*review.causes} & {Cause.UNBACKED_CLAIM, Cause.UNBACKED_PROMISE}
    marked = [words[one["start"] : one["end"]] for one in review.payload["findings"]]
    assert all(part.strip() for part in marked)


async def test_models_are_told_to_quote_what_they_rest_on(tmp_path: Path) -> None:
    """An agent in its rules, a draft in its task, also where the stage brings its own prompt."""
    looked_up = completion(json.dumps({"text": "P-1001 is on its way.", "sources": []}))
    async with FakeOpenAI([looked_up]) as server:
        more = f"providers: {{local: {{base_url: '{server.base_url}'}}}}"
        async with opened(a_desk(tmp_path, brain=more, model="local/small")) as desk:
            await worked(desk, "Where is P-1001?")
        rules = server.received[0].body["messages"][0]["content"]
    assert all(f'"{field}"' in rules for field in ("text", "hand_over", "sources", "quote"))
    for prompt in (None, "Write back to {{ message.sender.name }}."):
        task = Task(kind=TaskKind.DRAFT, stage="draft", text="Hello", prompt=prompt)
        asked = messages_for(task)[0]["content"]
        assert "`sources` has, for every sentence" in asked
        assert "`hand_over` is true if a colleague must answer" in asked


async def test_an_error_is_no_reply(tmp_path: Path) -> None:
    told, _ = await agent_says(tmp_path, '{"error": "tool_use_failed"}')
    assert told["status"] == "needs_review"
    assert told.get("reply") is None
    assert "data, not a reply" in told["reason"]


async def test_an_agent_hands_over_in_its_last_words(tmp_path: Path) -> None:
    end = {"text": "P-1001 is on its way.", "hand_over": True, "reason": "asks for a dose"}
    told, (review, *_) = await agent_says(tmp_path, json.dumps(end))
    assert told["status"] == "waiting_review"
    assert "asks for a dose" in review.reason


async def test_a_draft_leaves_with_its_quote(tmp_path: Path) -> None:
    reply = "Unused goods can be returned within 30 days."
    told, waiting = await draft_says(tmp_path, "How long can I return goods?", reply)
    assert (told["status"], waiting) == ("sent", [])


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("You can return goods within 60 days.", {}),
        ("Goods cannot be returned.", {}),
        ("Unused goods can be returned within 30 days.", {"sources": []}),
        ("Unused goods can be returned within 30 days.", {"confidence": 0.2}),
        ("Unused goods can be returned within 30 days.", {"hand_over": True, "reason": "unsure"}),
        ("I do not know this, a colleague will answer you.", {}),
        ("As you say, 60 days.", {}),
    ],
)
async def test_the_classifiers_confidence_sends_no_draft(
    tmp_path: Path, text: str, fields: dict[str, Any]
) -> None:
    told, waiting = await draft_says(
        tmp_path, "I have 60 days to return goods, right?", text, **fields
    )
    assert told["status"] == "waiting_review"
    assert waiting
