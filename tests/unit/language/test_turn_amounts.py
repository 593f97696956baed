"""Amounts in words, notes by their names, and shares of what was paid, in four languages."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_amounts import wants_some
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turns import TurnReader

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", min_digits=4, max_digits=8),
    "amount": SlotSpec(name="amount", type="money", currency="EUR"),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
    "address": SlotSpec(name="address", type="text", about="address"),
}
READER = TurnReader(SLOTS)
NOW = datetime(2026, 11, 17, tzinfo=UTC)


def stated(text: str, asked: str = "amount", **known: Any) -> dict[str, Any]:
    question = OpenQuestion((asked,), tuple(SLOTS), known, "refund", "?")
    return READER.values(text, question, NOW).values


def euros(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "EUR"}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("seventeen would be fine, or make it nineteen", "19"),
        ("eight ninety", "8.90"),
        ("two hundred and forty", "240"),
        ("a fiver", "5"),
        ("three tenners please", "30"),
        ("řekněme tři stovky", "300"),
        ("dvě stě osmdesát", "280"),
        ("pětatřicet", "35"),
        ("dvoustovku a hotovo", "200"),
        ("sechsundvierzig", "46"),
        ("hundertachtzig", "180"),
        ("vier neunzig", "4.90"),
        ("einen Fuffi", "50"),
        ("cuarenta y dos", "42"),
        ("trescientos", "300"),
        ("14 con 30", "14.30"),
        ("1 450,-", "1450"),
        ("2.300 wären es", "2300"),
    ],
)
def test_an_amount_may_be_said_in_words(text: str, amount: str) -> None:
    assert stated(text) == {"amount": euros(amount)}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("cincuenta y tres euros", "53"),
        ("neunundsechzig Euro", "69"),
        ("9 Euro 20", "9.20"),
        ("11 euros con 75", "11.75"),
        ("osmdesát pět eur", "85"),
    ],
)
def test_a_currency_may_follow_a_number_in_words(text: str, amount: str) -> None:
    assert stated(text)["amount"]["amount"] == amount


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("half the price", "1/2"),
        ("I'd take a quarter of it", "1/4"),
        ("two thirds", "2/3"),
        ("35 percent", "7/20"),
        ("everything, please", "1"),
        ("čtvrtinu", "1/4"),
        ("všechno", "1"),
        ("celou cenu", "1"),
        ("15 %", "3/20"),
        ("ein Fünftel", "1/5"),
        ("den vollen Betrag", "1"),
        ("zur Hälfte", "1/2"),
        ("la cuarta parte", "1/4"),
        ("el importe completo", "1"),
        ("un 40 por ciento", "2/5"),
    ],
)
def test_a_share_is_a_value_of_its_own(text: str, share: str) -> None:
    assert stated(text) == {"amount": {"share": share}}


def test_a_share_of_a_number_is_an_amount() -> None:
    assert stated("10% of 45") == {"amount": euros("4.50")}


@pytest.mark.parametrize(
    "text",
    [
        "please repeat, I only saw half of the message",
        "0",
        "die 3. Lieferung, die noch fehlt",
        "I'm at 12 Bramble Lane, Stroud",
        "my phone is 4412",
        "vom 17.06.",
        "velikost 39",
        "it is size 44",
        "that was on 3 november",
        "bylo to 5. března",
        "la mía termina en 41",
    ],
)
def test_not_every_number_is_an_amount(text: str) -> None:
    assert "amount" not in stated(text)


def test_a_share_that_is_too_little_is_not_the_one_that_is_meant() -> None:
    known = {"amount": {"share": "1/4"}}
    assert stated("a quarter is too little, I want 70 percent", "reason", **known) == {
        "amount": {"share": "7/10"}
    }


def test_a_share_that_nobody_asked_for_needs_a_wish_for_money() -> None:
    assert "amount" not in stated("half of the plates arrived broken", "reason")
    assert stated("it broke, I want half my money back", "reason") == {"amount": {"share": "1/2"}}


def test_the_last_of_two_amounts_counts_where_the_first_is_taken_back() -> None:
    assert stated("la mitad. no, un tercio") == {"amount": {"share": "1/3"}}


def test_what_was_said_in_words_is_to_be_confirmed() -> None:
    question = OpenQuestion(("amount",), ("amount",), {}, "refund", "How much?")
    assert READER.read("half of it", question, NOW).unsure == ("amount",)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("4820917", "4820917"),
        ("das Paket hat die 7733019", "7733019"),
        ("it should be 0071925", "0071925"),
        ("4 190 222", "4190222"),
        ("kx5520", "KX-5520"),
        ("one digit was off, it ends in 7: 5510927", "5510927"),
    ],
)
def test_an_order_that_is_asked_for_may_have_any_length_that_the_desk_allows(
    text: str, order: str
) -> None:
    assert stated(text, "order") == {"order": order}


@pytest.mark.parametrize(
    "text",
    [
        "you can ring me, my mobile is 7712 3345",
        "00000",
        "bitte an Kastanienallee 14, 39104 Magdeburg",
        "meine PLZ ist 39104",
    ],
)
def test_not_every_number_is_an_order(text: str) -> None:
    assert "order" not in stated(text, "order")


@pytest.mark.parametrize(
    "text",
    [
        "I would take some of the money back",
        "a partial refund is fine",
        "please refund me just a part",
        "einen Teil vom Kaufpreis bitte zurück",
        "bitte eine Teilerstattung",
        "vraťte mi aspoň část peněz",
        "stačí částečné vrácení peněz",
        "quiero parte del dinero",
    ],
)
def test_who_wants_some_of_the_money(text: str) -> None:
    assert wants_some(FoldedText(text).folded)


@pytest.mark.parametrize(
    "text",
    [
        "Refund it, part of it was broken",
        "a part is missing, money back please",
        "ein Teil fehlt, ich will mein Geld zurück",
        "chybí část stolu, chci peníze zpět",
        "some parts are missing, refund the order",
    ],
)
def test_who_wants_all_of_it_as_a_part_was_wrong(text: str) -> None:
    assert not wants_some(FoldedText(text).folded)
