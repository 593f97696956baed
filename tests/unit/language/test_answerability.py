"""Reading an ask together with a passage, with the model that ships."""

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
