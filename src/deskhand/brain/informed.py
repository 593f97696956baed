"""An LLM that drafts with the desk's articles before it."""

import logging
from typing import Any

from deskhand.brain.task_inputs import question_of
from deskhand.brain.task_prompts import ARTICLES
from deskhand.errors import DeskhandError
from deskhand.knowledge.search import in_category
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.ports import Brain, SearchesKnowledge

log = logging.getLogger("deskhand.brain")

_MOST = 5


class InformedBrain:
    """Hands what the knowledge base finds to another brain's drafts, and records that it did.

    A knowledge base that fails is noted and left out: the reply is then as good as without one.
    """

    def __init__(self, inner: Brain, knowledge: SearchesKnowledge) -> None:
        self._inner, self._knowledge = inner, knowledge
        self.name = inner.name

    async def answer(self, task: Task) -> Answer:
        if task.kind is not TaskKind.DRAFT:
            return await self._inner.answer(task)
        hits = await self._found(task)
        if not hits:
            return await self._inner.answer(task)
        answer = await self._inner.answer(
            task.changed(inputs={**task.inputs, ARTICLES: [_shown(hit) for hit in hits]})
        )
        if task.run_id is not None:
            try:
                await self._knowledge.record_sources(task.run_id, hits)
            except DeskhandError as error:
                log.warning(
                    "the sources of a reply could not be recorded: %s",
                    error,
                    extra={"run_id": task.run_id},
                )
        return answer

    async def _found(self, task: Task) -> list[Hit]:
        try:
            knowledge = in_category(self._knowledge, task.knowledge_category)
            return await knowledge.search(question_of(task), limit=_MOST)
        except DeskhandError as error:
            log.warning(
                "the knowledge base could not be asked: %s", error, extra={"run_id": task.run_id}
            )
            return []


def _shown(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.article,
        "title": hit.title,
        "section": " > ".join(hit.heading_path),
        "text": hit.text,
    }
