"""An article that answers a question is told from one that is merely the nearest."""

import pytest

from deskhand.brain.relevance import ranked, with_confidence
from tests.embedded_desk import EMBEDDER, hit

RETURNS = hit(
    "You may send an item back within 30 days. Hand it in at any post office.", title="Returns"
)
PASSWORD = hit(
    "Click Forgot password on the sign-in page and follow the link.",
    title="Reset your password",
    article="password",
)


DISCOUNTS = hit(
    "From 10 pieces of the same product the price falls by 5%, from 30 pieces by 10%. Schools,"
    " libraries and charities get 15% from the first piece. Discounts are not combined.",
    title="Discounts for larger orders",
    article="discounts",
)
RECYCLING = hit(
    "Al entregar los muebles nuevos nos llevamos los usados por 12 EUR la pieza. Lo que todavía"
    " sirve lo damos a talleres sociales, y el resto se recicla.",
    title="Recogida de muebles usados",
    article="reciclaje",
    language="es",
)


def test_an_article_does_not_win_by_being_in_the_language_of_the_question() -> None:
    question = "Somos una biblioteca pública. ¿Qué descuento nos harían por 12 mesas?"
    first, second = ranked(EMBEDDER, question, [RECYCLING, DISCOUNTS])
    assert first.hit.article == "discounts"
    assert first.confidence > 0.75
    assert second.confidence < 0.75


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("How can I send an item back?", "returns-1"),
        ("Jak mohu zboží vrátit?", "returns-1"),
        ("I forgot my password", "password"),
        ("J'ai oublié mon mot de passe", "password"),
        ("What is the capital of France?", None),
        ("Wie wird das Wetter morgen?", None),
        ("😀", None),
        ("", None),
    ],
)
def test_the_article_that_answers_is_sure_and_the_nearest_of_strangers_is_not(
    question: str, article: str | None
) -> None:
    first, second = ranked(EMBEDDER, question, [PASSWORD, RETURNS])
    assert first.nearness >= second.nearness
    if article is None:
        assert first.confidence < 0.5
    else:
        assert first.hit.article == article
        assert first.confidence > 0.75


def test_a_margin_speaks_for_an_article_but_not_one_over_its_own_passages() -> None:
    alone, _ = with_confidence([(RETURNS, 0.06), (PASSWORD, 0.02)])
    beside, _ = with_confidence([(RETURNS, 0.06), (PASSWORD, 0.059)])
    same, _ = with_confidence([(RETURNS, 0.06), (RETURNS, 0.059)])
    assert alone.confidence > same.confidence > beside.confidence
    assert ranked(EMBEDDER, "x", []) == []
