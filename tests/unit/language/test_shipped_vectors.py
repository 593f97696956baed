"""The package has the vectors of its desks' examples; what it lacks is computed."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from deskhand.language import shipped_vectors
from deskhand.language.embed import DIMENSIONS, Embedder
from deskhand.language.intent_examples import load_intents
from deskhand.language.question_examples import load_questions
from deskhand.language.shipped_vectors import ShippedFirst, read_shipped, write_shipped
from deskhand.wiring import SHIPPED

DESKS = sorted(file.parent for file in SHIPPED.glob("*/desk.yaml"))
EMBEDDER = Embedder()
LENGTH = DIMENSIONS * 4


class Kept:
    """A cache that remembers what it was asked and what it was given."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.written: dict[bytes, bytes] = {}

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        self.asked += keys
        return {}

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        self.written |= vectors


def texts_of(folder: Path) -> list[str]:
    pairs = [*load_intents(folder).examples, *load_questions(folder).labelled]
    return [text for text, _ in pairs]


@pytest.mark.parametrize("folder", DESKS, ids=lambda folder: folder.name)
def test_every_example_and_question_has_its_vector(folder: Path) -> None:
    keys = {EMBEDDER.key(text): text for text in texts_of(folder)}
    shipped = read_shipped(keys)
    missing = [text for key, text in keys.items() if key not in shipped]
    assert missing == [], "run: python scripts/learn_desks.py --ship"


def test_they_are_what_the_model_computes() -> None:
    texts = texts_of(SHIPPED / "orders")[:20]
    shipped = read_shipped(map(EMBEDDER.key, texts))
    for text, computed in zip(texts, EMBEDDER.embed(texts), strict=True):
        read = np.frombuffer(shipped[EMBEDDER.key(text)], dtype="<f4")
        assert float(read @ computed) == pytest.approx(1.0, abs=2e-3)


def test_what_the_package_lacks_is_asked_of_the_other_cache_and_kept_there() -> None:
    kept = Kept()
    known = EMBEDDER.key(texts_of(SHIPPED / "orders")[0])
    new = EMBEDDER.key("A sentence that no shipped desk has as an example.")
    read = ShippedFirst(kept).read([known, new])
    assert list(read) == [known]
    assert len(read[known]) == LENGTH
    assert kept.asked == [new]
    ShippedFirst(kept).write({new: b"vector"})
    assert kept.written == {new: b"vector"}


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 no archive"])
def test_a_missing_or_damaged_file_costs_only_time(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "vectors.npz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(shipped_vectors, "FILE", file)
    shipped_vectors._loaded.cache_clear()
    try:
        assert read_shipped([EMBEDDER.key("Where is my parcel?")]) == {}
    finally:
        shipped_vectors._loaded.cache_clear()


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "vectors.npz"
    vector = np.linspace(-0.1, 0.1, DIMENSIONS, dtype=np.float32)
    write_shipped({b"a key of a text": vector}, file)
    monkeypatch.setattr(shipped_vectors, "FILE", file)
    shipped_vectors._loaded.cache_clear()
    try:
        read = read_shipped([b"a key of a text", b"another key"])
        assert list(read) == [b"a key of a text"]
        written = np.frombuffer(read[b"a key of a text"], dtype="<f4")
        assert written == pytest.approx(vector, abs=1e-4)
    finally:
        shipped_vectors._loaded.cache_clear()
