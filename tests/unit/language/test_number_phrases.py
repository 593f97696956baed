"""Digits that somebody says in words."""

import pytest

from deskhand.language.slots.folded_text import fold
from deskhand.language.slots.number_phrases import spoken_digits


@pytest.mark.parametrize(
    ("language", "text", "digits"),
    [
        ("en", "it's three six oh one five", "36015"),
        ("en", "eighty thousand and twelve", "80012"),
        ("en", "forty four, seventeen, nine", "44179"),
        ("cs", "dva tři nula nula devět", "23009"),
        ("cs", "padesát jedna nula dvacet šest", "51026"),
        ("cs", "třicet tisíc čtyři sta pět", "30405"),
        ("cs", "osumdesát dva, sedum, tři, jedna", "82731"),
        ("de", "null zwo neun fünf eins", "02951"),
        ("de", "zweiundvierzigtausend dreihundertsieben", "42307"),
        ("de", "achtundzwanzig drei null sechs", "28306"),
        ("es", "siete cero cero dos uno", "70021"),
        ("es", "cuarenta y tres mil ciento ocho", "43108"),
    ],
)
def test_what_number_words_make_together(language: str, text: str, digits: str) -> None:
    assert [said.digits for said in spoken_digits(fold(text), language)] == [digits]


def test_words_between_end_a_number() -> None:
    said = list(spoken_digits("two of my three lamps and four one", "en"))
    assert [one.digits for one in said] == ["2", "3", "41"]
    assert "two of my three lamps and four one"[said[2].start : said[2].end] == "four one"


@pytest.mark.parametrize(
    ("language", "text", "digits"),
    [
        ("cs", "čtyřicet osm sto šest", "48106"),
        ("cs", "dvojka, sedmička, nula, trojka, pětka", "27035"),
        ("cs", "padesátosm šestset dvanáct", "58612"),
        ("de", "dreiundfünfzigtausendvierhundertsieben", "53407"),
        ("de", "vier. null. sechs. eins. neun.", "40619"),
        ("es", "cuarentayuno cero noventa y dos", "41092"),
    ],
)
def test_numbers_as_people_read_them_out(language: str, text: str, digits: str) -> None:
    assert [said.digits for said in spoken_digits(fold(text), language)] == [digits]
