"""From a desk's folder to the brain it asks for."""

from pathlib import Path

import pytest

from deskhand.brain.build import build_brain
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ConfigErrors
from deskhand.model.tasks import Task, TaskKind
from deskhand.wiring import read_desk
from tests.embedded_desk import EMBEDDER, Shelf
from tests.kit import TestClock

DESK = """\
desk: tiny
models: {default: house/model}
brain: BRAIN
flows:
  main:
    stages:
      classify: {task: classify, categories: [order_status, refund], output: classification}
"""
INTENTS = """\
intents:
  refund: {description: the customer wants money back}
  order_status: {description: where a parcel is}
"""


@pytest.mark.parametrize("kind", ["llm", "{cascade: {classify: llm}}"])
async def test_an_llm_is_told_what_the_desks_intents_mean(kind: str, tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(DESK.replace("BRAIN", kind))
    (tmp_path / "intents.yaml").write_text(INTENTS)
    chat = ScriptedChatModel(['{"category": "refund", "confidence": 0.9}'])
    brain = build_brain(read_desk(str(tmp_path)).spec, chat, TestClock(), Shelf(), lambda: EMBEDDER)
    assert brain is not None
    choices = ("order_status", "refund")
    await brain.answer(
        Task(kind=TaskKind.CLASSIFY, stage="classify", text="My money, please", choices=choices)
    )
    prompt = chat.requests[0].messages[0]["content"]
    assert "- order_status: where a parcel is\n- refund: the customer wants money back" in prompt


def test_questions_of_an_article_that_is_not_there_stop_the_desk(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(DESK.replace("BRAIN", "embedded"))
    (tmp_path / "intents.yaml").write_text(INTENTS)
    for folder, name, text in (
        ("knowledge", "refunds.md", "---\nlanguage: en\n---\n# Refunds\n\nTen days.\n"),
        ("questions", "en.yaml", "answers:\n  knowledge/refund: [When is my money back?]\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    with pytest.raises(ConfigErrors) as told:
        build_brain(
            read_desk(str(tmp_path)).spec,
            ScriptedChatModel([]),
            TestClock(),
            Shelf(),
            lambda: EMBEDDER,
        )
    assert "there is no article `knowledge/refund`" in str(told.value)
    assert "`knowledge/refunds`?" in str(told.value)
