"""What graphs computed is remembered by the graph and by all that it was given."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deskhand.language.vector_cache import SqliteVectorCache
from tests import remembered_graphs
from tests.remembered_graphs import RememberingSession

MODEL, OTHER = "answers-lower.onnx", "reading.onnx"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The graphs that were run, one entry a run."""
    files: list[str] = []

    class Doubling:
        def __init__(self, file: str) -> None:
            self._file = file

        def run(self, outputs: Any, given: Any) -> list[Any]:
            files.append(self._file)
            return [2 * array for array in given.values()]

    monkeypatch.setattr(remembered_graphs, "REAL_LOAD", lambda file, threads: Doubling(file))
    return files


def test_a_graph_is_run_once_for_what_it_was_given(tmp_path: Path, ran: list[str]) -> None:
    given = {"text": np.arange(6, dtype=np.float32).reshape(2, 3)}
    for _ in range(2):
        answers = SqliteVectorCache(tmp_path / "answers.sqlite3")
        (answer,) = RememberingSession(MODEL, 1, answers).run(None, given)
        assert (answer == 2 * given["text"]).all()
        answers.close()
    assert ran == [MODEL]


def test_whatever_differs_is_computed(tmp_path: Path, ran: list[str]) -> None:
    answers = SqliteVectorCache(tmp_path / "answers.sqlite3")
    numbers = np.arange(6, dtype=np.float32)
    session = RememberingSession(MODEL, 1, answers)
    session.run(None, {"text": numbers})
    session.run(["score"], {"text": numbers})
    session.run(None, {"context": numbers})
    session.run(None, {"text": numbers.reshape(2, 3)})
    session.run(None, {"text": numbers.view(np.int32)})
    session.run(None, {"text": numbers + 1})
    RememberingSession(OTHER, 1, answers).run(None, {"text": numbers})
    answers.close()
    assert ran == [*[MODEL] * 6, OTHER]
