"""What a message says itself, between its greeting and its signature."""

import pytest

from deskhand.language.message_sentences import without_frame


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (
            "Hello, a filling fell out this morning. Could somebody see me? Joan Pettifer",
            "a filling fell out this morning. Could somebody see me?",
        ),
        ("Cześć, log w załączniku. Z góry dziękuję, Ola", "log w załączniku."),
        (
            "Sehr geehrter Herr Brandl, die Gastherme heizt nicht.\n\nViele Grüße\nK. Seidel",
            "die Gastherme heizt nicht.",
        ),
        (
            "Dobrý den,\n\nještě ten formulář.\n\nS pozdravem\nJan Novák\n+420 777 123 456",
            "ještě ten formulář.",
        ),
        ("Buenas, ¿qué presento para el permiso? Marcos Vidal", "¿qué presento para el permiso?"),
        ("Coucou, j'ai reçu le colis. Belle journée, Aya", "j'ai reçu le colis."),
        ("The lamp in Baker Street flickers", "The lamp in Baker Street flickers"),
    ],
)
def test_a_message_is_read_without_its_frame(text: str, own: str) -> None:
    assert without_frame(text) == own


@pytest.mark.parametrize("text", ["", "Hello", "Thanks!", "Jan Novák"])
def test_a_message_that_is_all_frame_stays_as_it_is(text: str) -> None:
    assert without_frame(text) == text
