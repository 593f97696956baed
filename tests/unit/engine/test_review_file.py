"""The sources of a review: what the draft was drawn from, each once."""

from types import SimpleNamespace
from typing import Any, cast

from deskhand.engine.journal import State
from deskhand.engine.review_file import read_asks, used_sources
from deskhand.model.envelope import Envelope

FOUND = [{"title": "Returns", "text": "30 days"}, {"title": "Opening hours", "text": "9 to 5"}]
QUOTED = {"article": "returns", "title": "Returns", "heading_path": ["How"], "quote": "30 days"}


def states(draft: dict[str, Any], brain: str) -> list[State]:
    outputs = {
        "retrieve": {"sources": FOUND},
        "draft": {"text": "Dear Ann", **draft},
        "reply": {"text": "Dear Ann"},
    }
    after = Envelope(outputs=outputs, metadata={"drafted_by": "generate"})
    row = SimpleNamespace(name="generate")
    result = SimpleNamespace(answered={"brain": brain})
    return [cast(State, SimpleNamespace(row=row, result=result, after=after))]


def titles(draft: dict[str, Any], brain: str) -> list[str]:
    return [source["title"] for source in used_sources(states(draft, brain))]


def test_a_draft_that_names_its_sources_has_used_those_once_each() -> None:
    used = used_sources(states({"sources": [QUOTED, QUOTED]}, "embedded"))
    assert used == [{"stage": "draft", **QUOTED}]


def test_the_embedded_brain_used_nothing_that_it_does_not_quote() -> None:
    assert titles({"hand_over": True}, "embedded") == []


def test_a_model_may_have_used_all_that_was_found_for_it() -> None:
    assert titles({}, "llm") == ["Returns", "Opening hours"]
    assert used_sources([]) == []


def test_the_asks_are_those_that_the_draft_was_written_for() -> None:
    ask = {"ask": "What does it cost?", "article": "prices", "confidence": 0.4, "answered": False}
    assert read_asks(states({"asks": [ask, "noise"]}, "embedded")) == [ask]
    assert read_asks(states({}, "embedded")) == []
    assert read_asks([]) == []
