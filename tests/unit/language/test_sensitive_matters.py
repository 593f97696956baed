"""What happened to people in a message, whatever else it asks."""

import pytest

from deskhand.language.concerns import sensitive_words


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "My colleague Jane died yesterday. How do we transfer her boards?"),
        ("en", "Our treasurer has passed away; who can take over the account?"),
        ("en", "I feel harassed by another member of the board, what can I do?"),
        ("en", "He keeps threatening me in the comments of our board."),
        ("cs", "Kolega včera zemřel, jak převedeme jeho nástěnky?"),
        ("cs", "Vedoucí mě v komentářích šikanuje, jde to smazat?"),
        ("de", "Unsere Gründerin ist gestorben. Wie ändern wir den Inhaber?"),
        ("de", "Ein Kollege belästigt mich über die Kommentare."),
        ("es", "Mi jefe falleció el lunes, ¿cómo cambiamos el titular?"),
        ("es", "Una compañera me acosa en los comentarios."),
        ("fr", "Notre gérant est décédé, comment changer le propriétaire ?"),
        ("fr", "Je suis harcelée par un membre de l'équipe."),
        ("pl", "Nasz wspólnik zmarł, jak przenieść jego tablice?"),
        ("pl", "Kolega nęka mnie w komentarzach."),
    ],
)
def test_what_happened_to_people_is_seen(language: str, text: str) -> None:
    assert sensitive_words(text, language) is not None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The import died halfway and the process was killed."),
        ("en", "Sorry to bother you again, how do I kill a stuck export?"),
        ("en", "My battery died before I could save the board."),
        ("cs", "Promiňte, že vás obtěžuji, jak přidám kolegu?"),
        ("de", "Entschuldigen Sie die Belästigung, wie lade ich jemanden ein?"),
        ("de", "Der Server ist tot, nichts geht mehr."),
        ("es", "Perdonen la molestia, ¿cómo cambio el titular?"),
        ("fr", "Désolé de vous déranger, la page est morte."),
        ("pl", "Przepraszam, że zawracam głowę, jak dodać kolegę?"),
        ("en", "We threaten to cancel if the invoice is not corrected."),
    ],
)
def test_what_happened_to_programs_is_not(language: str, text: str) -> None:
    assert sensitive_words(text, language) is None
