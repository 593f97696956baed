"""A stage with `knowledge: {category: ...}` looks at the articles of its category alone, whichever
brain drafts."""

from typing import Any

import pytest

from deskhand.brain.embedded import EmbeddedBrain
from deskhand.brain.informed import InformedBrain
from deskhand.brain.scripted import ScriptedBrain
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import TaskKind
from deskhand.ports import Brain
from tests.embedded_desk import Shelf, a_desk, a_task, hit

QUESTION = "How can I send something back?"
DRAFTED = {"text": "Within 30 days.", "language": "en", "confidence": 0.9}


class SortedShelf(Shelf):
    """A knowledge base that knows to which category each article belongs."""

    async def search(self, question: str, *, category: str | None = None, **rest: Any) -> list[Hit]:
        hits = await super().search(question, **rest)
        return [one for one in hits if category in (None, one.category)]


def shelf() -> SortedShelf:
    billing = hit("Money comes back within 30 days.", article="kb_1", category="billing")
    general = hit("You may send it back by post.", 0.99, article="kb_2", category="general")
    return SortedShelf(general, billing)


def embedded(knowledge: SortedShelf) -> Brain:
    return EmbeddedBrain(a_desk(knowledge=knowledge))


def with_a_model(knowledge: SortedShelf) -> Brain:
    return InformedBrain(ScriptedBrain(lambda task: DRAFTED), knowledge)


@pytest.mark.parametrize("brain_on", [embedded, with_a_model])
@pytest.mark.parametrize(
    ("category", "article"),
    [("billing", "kb_1"), ("general", "kb_2"), ("legal", None), (None, "kb_2")],
)
async def test_a_draft_rests_on_articles_of_the_stages_category(
    brain_on: Any, category: str | None, article: str | None
) -> None:
    knowledge = shelf()
    task = a_task(TaskKind.DRAFT, QUESTION, knowledge_category=category)
    await brain_on(knowledge).answer(task)
    used = [name for _, names in knowledge.recorded for name in names]
    assert used[:1] == ([] if article is None else [article])
    assert category is None or len(used) <= 1
