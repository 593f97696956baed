"""Whoever says "two things" has two."""

import pytest

from deskhand.language.asks import announced_asks


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dvě věci: jaká je sleva? A uděláte mi to v zelené.", 2),
        ("I have two quick questions about delivery.", 2),
        ("Drei Fragen hätte ich noch.", 3),
        ("Tengo dos dudas sobre la factura.", 2),
        ("Mam trzy krótkie pytania.", 3),
        ("J'ai deux petites questions.", 2),
        ("Two chairs, please. What do they cost?", 0),
        ("Two things went wrong with the delivery.", 0),
        ("I have a question.", 0),
    ],
)
def test_the_number_of_asks_that_is_announced(text: str, count: int) -> None:
    assert announced_asks(text) == count
