"""Reading an ask together with a passage, with the model that ships."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from deskhand.language.answerability import AnswerReader

HOURS = "Opening hours. We are open from nine to five on weekdays and closed on Sundays."
RETURNS = "Returns. You may send furniture back within 30 days. We collect it free of charge."
PARKING = "Parking. Four places lie behind the building; the code of the gate is on your invoice."


@pytest.fixture(scope="module")
def reader() -> AnswerReader:
    return AnswerReader()


@pytest.mark.parametrize(
    "ask",
    [
        "How long do I have to send it back?",
        "Wie lange kann ich die Möbel zurückschicken?",
        "Do kdy mohu nábytek vrátit?",
        "¿Cuántos días tengo para devolver los muebles?",
    ],
)
def test_the_passage_that_answers_reads_best_in_any_language(
    reader: AnswerReader, ask: str
) -> None:
    hours, returns, parking = reader.read(ask, [HOURS, RETURNS, PARKING])
    assert returns > max(hours, parking)


def test_nothing_answers_an_ask_without_words(reader: AnswerReader) -> None:
    assert reader.read(" ?! ", [HOURS, RETURNS]) == [-20.0, -20.0]
    assert reader.read("When are you open?", []) == []


def test_long_texts_are_cut_not_refused(reader: AnswerReader) -> None:
    (score,) = reader.read("When " * 500 + "are you open?", [HOURS * 200])
    assert -20 < score < 20


def test_threads_read_the_same(reader: AnswerReader) -> None:
    alone = reader.read("Are you open on Sundays?", [HOURS, RETURNS])
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda _: reader.read("Are you open on Sundays?", [HOURS, RETURNS]), range(12))
        )
    assert together == [alone] * 12


class _Kept:
    """A cache in memory that notes what was written into it."""

    def __init__(self) -> None:
        self.written: dict[bytes, bytes] = {}

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        return {key: self.written[key] for key in keys if key in self.written}

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        self.written |= vectors


def test_a_passage_is_read_once_for_all_processes_and_an_ask_is_never_kept(
    reader: AnswerReader,
) -> None:
    kept = _Kept()
    ask = "How long do I have to send it back?"
    first = AnswerReader(cache=kept).read(ask, [HOURS, RETURNS])
    assert len(kept.written) == len([HOURS, RETURNS])
    before = dict(kept.written)

    assert AnswerReader(cache=kept).read(ask, [HOURS, RETURNS]) == first
    assert kept.written == before
    assert first == reader.read(ask, [HOURS, RETURNS])


def test_a_damaged_entry_of_the_cache_is_computed_anew(reader: AnswerReader) -> None:
    kept = _Kept()
    ask = "When are you open?"
    first = AnswerReader(cache=kept).read(ask, [HOURS])
    kept.written = dict.fromkeys(kept.written, b"damaged")
    assert AnswerReader(cache=kept).read(ask, [HOURS]) == first
