"""An LLM that drafts with the desk's articles before it."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from deskhand.brain.task_inputs import question_of, understanding_of
from deskhand.brain.task_prompts import ARTICLES, EXAMPLES
from deskhand.errors import DeskhandError
from deskhand.knowledge.search import in_category
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.ports import Brain, SearchesKnowledge

log = logging.getLogger("deskhand.brain")

_MOST = 5
ApprovedReplies = Callable[[Task], Awaitable[Sequence[str]]]
"""Finds what colleagues answered to messages like the task's, as far as it may be shown."""


class InformedBrain:
    """Hands what the knowledge base finds, and what colleagues answered before, to another
    brain's drafts, and records the articles.

    What fails of it is noted and left out: the reply is then as good as without it.
    """

    def __init__(
        self, inner: Brain, knowledge: SearchesKnowledge, approved: ApprovedReplies | None = None
    ) -> None:
        self._inner, self._knowledge, self._approved = inner, knowledge, approved
        self.name = inner.name

    async def answer(self, task: Task) -> Answer:
        if task.kind is not TaskKind.DRAFT:
            return await self._inner.answer(task)
        hits = await self._articles_for(task)
        pieces_by_kind = {
            ARTICLES: [_shown(hit) for hit in hits],
            EXAMPLES: list(await self._examples(task)),
        }
        pieces_by_kind = {name: pieces for name, pieces in pieces_by_kind.items() if pieces}
        answer = await self._inner.answer(
            task.changed(inputs={**task.inputs, **pieces_by_kind}) if pieces_by_kind else task
        )
        if hits and task.run_id is not None:
            try:
                await self._knowledge.record_sources(task.run_id, hits)
            except DeskhandError as error:
                log.warning(
                    "the sources of a reply could not be recorded: %s",
                    error,
                    extra={"run_id": task.run_id},
                )
        return answer

    async def _articles_for(self, task: Task) -> list[Hit]:
        try:
            knowledge = in_category(self._knowledge, task.knowledge_category, task.also_categories)
            return await knowledge.search(question_of(task), limit=_MOST)
        except DeskhandError as error:
            log.warning(
                "the knowledge base could not be asked: %s", error, extra={"run_id": task.run_id}
            )
            return []

    async def _examples(self, task: Task) -> Sequence[str]:
        """Replies that colleagues approved; none where a stage has looked for them already."""
        has_sources = understanding_of(task).newest("sources") is not None
        if self._approved is None or has_sources:
            return ()
        try:
            return await self._approved(task)
        except DeskhandError as error:
            log.warning(
                "earlier replies could not be looked up: %s", error, extra={"run_id": task.run_id}
            )
            return ()


def _shown(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.article,
        "title": hit.title,
        "section": " > ".join(hit.heading_path),
        "text": hit.text,
    }
