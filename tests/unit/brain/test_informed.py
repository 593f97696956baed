"""An LLM's draft has the desk's articles before it, and which ones is recorded."""

from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.brain.informed import InformedBrain
from deskhand.brain.llm import LlmBrain
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import StoreUnavailable
from deskhand.model.chat import ChatRequest, Completion
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Task, TaskKind


def a_hit(article: str, text: str) -> Hit:
    return Hit(
        article, "Returns", ("How long",), text, 1.0, 0.9, 1.0, None, "en", "hash", "returns.md"
    )


class Shelf:
    def __init__(self, hits: list[Hit], error: Exception | None = None) -> None:
        self.hits, self.error = hits, error
        self.recorded: list[tuple[str, list[str]]] = []

    async def search(self, question: str, **filters: Any) -> list[Hit]:
        if self.error is not None:
            raise self.error
        return self.hits

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        self.recorded.append((run_id, [hit.article for hit in hits]))


def brain(shelf: Shelf) -> tuple[InformedBrain, list[ChatRequest]]:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> Completion:
        asked.append(request)
        fields = (
            '{"text": "Returns take 14 days.", "language": "en", "category": "x", "confidence": 1}'
        )
        return Completion(text=fields, model="m")

    return InformedBrain(LlmBrain(ScriptedChatModel(answer), {}, "local/m"), shelf), asked


def a_task(kind: TaskKind = TaskKind.DRAFT, prompt: str | None = None) -> Task:
    return Task(
        kind=kind, stage="draft", run_id="run_1", text="How long do returns take?", prompt=prompt
    )


@pytest.mark.parametrize("prompt", [None, "Write kindly."])
async def test_a_draft_is_written_with_the_articles_and_they_are_recorded(
    prompt: str | None,
) -> None:
    shelf = Shelf([a_hit("returns", "Returns are taken back for 14 days.")])
    informed, asked = brain(shelf)
    await informed.answer(a_task(prompt=prompt))
    [request] = asked
    said = str(request.messages[-1]["content"])
    assert "Returns are taken back for 14 days." in said
    assert said.count("Returns are taken back") == 1
    assert shelf.recorded == [("run_1", ["returns"])]


async def test_other_tasks_are_left_alone() -> None:
    shelf = Shelf([a_hit("returns", "Returns are taken back for 14 days.")])
    informed, asked = brain(shelf)
    await informed.answer(a_task(TaskKind.CLASSIFY))
    assert "14 days" not in str(asked[0].messages)
    assert shelf.recorded == []


async def test_a_knowledge_base_that_fails_does_not_fail_the_draft() -> None:
    shelf = Shelf([], StoreUnavailable("away"))
    informed, asked = brain(shelf)
    assert (await informed.answer(a_task())).data["text"] == "Returns take 14 days."
    assert len(asked) == 1
