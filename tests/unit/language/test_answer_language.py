"""A customer may ask for the language of the answer."""

import pytest

from deskhand.language.answer_language import wished_language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Dobrý den, kolik stojí doprava? Please answer in German.", "de"),
        ("When are you open? Could you reply in Czech, please?", "cs"),
        ("Was kostet die Wartung? Bitte antworten Sie auf Englisch.", "en"),
        ("Bitte auf Spanisch antworten, danke.", "es"),
        ("Jaká je záruka? Odpovězte mi prosím anglicky.", "en"),
        ("Můžete odpovědět v němčině?", "de"),
        ("¿Pueden contestar en inglés?", "en"),
        ("Responda en español por favor", "es"),
        ("Merci de répondre en français.", "fr"),
        ("Proszę o odpowiedź po polsku.", "pl"),
    ],
)
def test_the_wish_is_read(text: str, code: str) -> None:
    assert wished_language(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "Do you sell English desks? Please answer soon.",
        "I have a German supplier. When do you open?",
        "You need not answer in German.",
        "Máte anglický návod?",
        "Please reply by Friday.",
        "",
    ],
)
def test_a_language_that_is_only_named_is_no_wish(text: str) -> None:
    assert wished_language(text) is None
