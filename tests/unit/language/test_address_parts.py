"""Addresses by their form: whole, and without what stands around them."""

import pytest

from deskhand.language.address_parts import address_places


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("please send O-20114 to 31 Weaver's Row, Skipton, thanks", "31 Weaver's Row, Skipton"),
        (
            "it moves to 6 Beacon Hill, Ashby LE65 1AA before Monday",
            "6 Beacon Hill, Ashby LE65 1AA",
        ),
        ("nově prosím na Na Kopci 14, 378 33 Nová Bystřice.", "Na Kopci 14, 378 33 Nová Bystřice"),
        ("Zahradní 8/2, byt 5, Třeboň a děkuji", "Zahradní 8/2, byt 5, Třeboň"),
        (
            "Bitte an Haus Ulme, Lange Gasse 3, 89073 Ulm liefern",
            "Haus Ulme, Lange Gasse 3, 89073 Ulm",
        ),
        (
            "Kolonie Sonnental, Parzelle 7, 01139 Dresden",
            "Kolonie Sonnental, Parzelle 7, 01139 Dresden",
        ),
        (
            "que lo lleven a Calle del Pez 40, 2º A, 28004 Madrid.",
            "Calle del Pez 40, 2º A, 28004 Madrid",
        ),
        ("C/ Nueva 5, 41001 Sevilla, y gracias", "C/ Nueva 5, 41001 Sevilla"),
    ],
)
def test_an_address_is_found_whole(text: str, address: str) -> None:
    places = address_places(text)
    assert [text[slice(*place)] for place in places[-1:]] == [address]


@pytest.mark.parametrize(
    "text",
    [
        "Bestellung 10412 bitte stornieren",
        "on Tuesday 4 May it stopped working",
        "Größe 42 statt 44",
        "I want 30 Euro back",
        "je to ta za 3 490 Kč",
        "el pedido 5520871, gracias",
        "the 2 Cups were broken",
    ],
)
def test_not_every_name_with_a_number_is_an_address(text: str) -> None:
    assert address_places(text) == []
