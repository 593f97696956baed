"""Embeddings: one space for many languages, bounded work, nothing computed twice."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from deskhand.language import vector_cache
from deskhand.language.clean_text import LONGEST, clean
from deskhand.language.embed import DIMENSIONS, Embedder, model_session
from deskhand.language.vector_cache import SqliteVectorCache

ODD_TEXTS = [
    "",
    "   ",
    "\x00\x01\x02",
    "😀😀😀",
    "\ud800 half a character",
    "a" * 1_000_000,
    "слово " * 50_000,
    "你好，世界",
    "Kde je můj Paket? 我的包裹在哪里 где посылка? أين الطرد",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(threads=1)


def test_a_translation_is_nearer_than_another_matter(embedder: Embedder) -> None:
    english, czech, other = embedder.embed(
        ["Where is my parcel?", "Kde je moje zásilka?", "How do I change my password?"]
    )
    assert english @ czech > english @ other
    assert np.allclose([english @ english, czech @ czech], 1, atol=1e-3)


def test_question_and_passage_are_embedded_differently(embedder: Embedder) -> None:
    text = "Parcels arrive within three days."
    assert not np.allclose(embedder.embed([text]), embedder.embed([text], kind="passage"))


@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_any_text_gives_one_finite_vector(embedder: Embedder, text: str) -> None:
    vectors = embedder.embed([text])
    assert vectors.shape == (1, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


def test_what_says_nothing_is_like_nothing(embedder: Embedder) -> None:
    assert not embedder.embed(["", "\x07", "😀 !!!"]).any()
    assert embedder.embed([]).shape == (0, DIMENSIONS)


def test_order_and_company_do_not_change_a_vector(embedder: Embedder) -> None:
    texts = [
        "short",
        "a somewhat longer text about a refund that never came",
        "middle sized text",
        "short",
    ]
    together = embedder.embed(texts)
    alone = np.concatenate([Embedder(threads=1).embed([text]) for text in texts])
    assert np.array_equal(together, alone)


def test_a_long_mail_keeps_its_beginning_and_its_end(embedder: Embedder) -> None:
    filler = " ".join(f"then on day {day} I waited and called again." for day in range(200))
    plain, begun, ended = embedder.embed(
        [filler, f"I want a refund for my chair. {filler}", f"{filler} Cancel my order."]
    )
    assert not np.allclose(plain, begun)
    assert not np.allclose(plain, ended)
    assert len(filler.split()) > embedder.max_tokens


def test_a_script_the_model_cannot_read_is_unknown(embedder: Embedder) -> None:
    assert embedder.unknown_share("你好，我的包裹在哪里") > 0.5
    assert embedder.unknown_share("Где моя посылка? Πού είναι;") < 0.1
    assert embedder.unknown_share("😀") == 1.0 or embedder.unknown_share("") == 1.0


def test_vectors_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vectors.sqlite3"
    first = Embedder(threads=1, cache=SqliteVectorCache(path)).embed(["hello", "world"])

    def compute(self: Embedder, texts: list[str], kind: str) -> None:
        raise AssertionError("it was computed again")

    monkeypatch.setattr(Embedder, "_compute", compute)
    assert np.array_equal(
        Embedder(threads=1, cache=SqliteVectorCache(path)).embed(["world", "hello"]), first[::-1]
    )


def test_only_texts_that_may_be_kept_lie_on_disk(tmp_path: Path) -> None:
    kept = SqliteVectorCache(tmp_path / "vectors.sqlite3")
    embedder = Embedder(threads=1, cache=kept, keeps_all=False)

    embedder.embed(["Ann Lee asks about her parcel"])
    assert stored(kept.path) == 0

    embedder.embed(["You may return it within 30 days"], "passage", keep=True)
    assert stored(kept.path) == 1


def test_the_cache_drops_what_was_not_used_for_the_longest_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite3", most=20)
    days = iter(range(100))
    monkeypatch.setattr(vector_cache, "_today", lambda: next(days))
    keys = [bytes([number]) for number in range(20)]
    for key in keys:
        cache.write({key: b"vector"})
    cache.read(keys[:1])

    cache.write({b"one more": b"vector"})

    assert stored(cache.path) == 18
    assert list(cache.read([keys[0], keys[1], b"one more"])) == [keys[0], b"one more"]


def stored(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        count: int = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    return count


def test_a_damaged_cache_costs_time_only(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite3"
    path.write_bytes(b"this is no database" * 100)
    assert Embedder(threads=1, cache=SqliteVectorCache(path)).embed(["hello"]).any()


def test_progress_reaches_the_end(embedder: Embedder) -> None:
    told: list[tuple[int, int]] = []
    embedder.embed(
        [f"text number {number}" for number in range(3)], progress=lambda *done: told.append(done)
    )
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)


def test_importing_brings_neither_model_nor_libraries() -> None:
    code = (
        "import sys, deskhand.language.embed;"
        "assert not {'onnxruntime', 'tokenizers', 'numpy', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_cleaning_bounds_the_work() -> None:
    assert len(clean("x" * 5_000_000)) <= LONGEST
    assert clean("a\x00b\r\n\tc\u200bd") == "a b c d"
    assert clean("y" * 20_000 + " the end").endswith("the end")


def test_all_graphs_share_the_cores() -> None:
    _, turn_of_one = model_session("model.onnx", 2)
    _, turn_of_another = model_session("answers-lower.onnx", 2)
    assert turn_of_one is turn_of_another


def test_of_what_is_too_long_for_a_word_the_beginning_is_read() -> None:
    link = "https://example.com/" + "a" * 150
    assert clean(f"See {link} please") == f"See {link} please"
    assert clean(f"See {'ab' * 1000} please") == f"See {'ab' * 100} please"
    japanese = "荷物はどこですか" * 50
    assert clean(japanese) == japanese
