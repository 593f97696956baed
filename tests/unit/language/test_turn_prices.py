"""Prices that nobody asked for, amounts beside known ones, and numbers of other things."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turns import TurnReader

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", min_digits=4, max_digits=8),
    "amount": SlotSpec(name="amount", type="money", currency="EUR"),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
}
READER = TurnReader(SLOTS)
NOW = datetime(2026, 11, 17, tzinfo=UTC)
PAID: dict[str, Any] = {"amount": {"amount": "31.40", "currency": "EUR"}}


def question(asked: str, prompt: str = "?", **known: Any) -> OpenQuestion:
    return OpenQuestion((asked,), tuple(SLOTS), known, "refund", prompt)


def amount_in(text: str, asked: str = "reason", **known: Any) -> str | None:
    amount = READER.values(text, question(asked, **known), NOW).values.get("amount")
    return None if amount is None else amount.get("amount", amount.get("share"))


def order_in(text: str, asked: str = "order", prompt: str = "Which order?") -> Any:
    return READER.values(text, question(asked, prompt), NOW).values.get("order")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("the hinge is bent, I paid 17.80 for it", "17.80"),
        ("polička je křivá a stála 64,50", "64.50"),
        ("Der Griff ist ab, bezahlt 22,90", "22.90"),
        ("se rompió el asa, pagué 12,35", "12.35"),
        ("88120 - wrong size - 41.25", "41.25"),
        ("the lamp is dead, 19.00 it was", "19"),
        ("the order 88120 was for two lamps", None),
        ("I paid for 88120 by card", None),
        ("the tube is 12.50 cm long", None),
        ("it came on 14.11.", None),
        ("two bottles at 7.20", None),
        ("my neighbour got hers 4 euros cheaper", None),
        ("der Laden nebenan ist drei Euro günstiger", None),
    ],
)
def test_what_a_thing_cost_is_an_amount_where_it_is_called_so(
    text: str, amount: str | None
) -> None:
    assert amount_in(text) == amount


def test_a_price_that_nobody_asked_for_is_confirmed() -> None:
    turn = READER.read("the hinge is bent, I paid 17.80 for it", question("reason"), NOW)
    assert "amount" in turn.unsure


@pytest.mark.parametrize(
    "text",
    [
        "not 31.40, I read the slip again and it says 27.15",
        "těch 31,40 bylo špatně, na účtence vidím 27,15",
        "31,40 Euro waren verkehrt, auf dem Beleg steht 27,15",
        "olvida los 31,40, en el recibo pone 27,15",
    ],
)
def test_beside_the_known_amount_another_one_takes_its_place(text: str) -> None:
    turn = READER.read(text, question("reason", **PAID), NOW)
    assert turn.values["amount"]["amount"] == "27.15"
    assert "amount" in turn.unsure


def test_a_number_of_another_size_does_not_take_an_amounts_place() -> None:
    assert amount_in("I had 31.40 for order 88120", **PAID) in (None, "31.40")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("forty-one ninety if I remember right", "41.90"),
        ("tři sta osmdesát, ta jedna lampa", "380"),
        ("pětset dvacet", "520"),
        ("cuarenta y uno con veinte", "41.20"),
        ("41 Komma 20", "41.20"),
        ("1,250.00 with the delivery", "1250"),
        ("třeba pětku", "5"),
        ("mínus stovku", None),
        ("40 hours ago", None),
        ("the 18-volt one", None),
        ("od 3. do 9. května", None),
        ("there is a 7 missing", None),
    ],
)
def test_an_amount_that_was_asked_for(text: str, amount: str | None) -> None:
    assert amount_in(text, "amount") == amount


@pytest.mark.parametrize(
    "text",
    [
        "I'd rather cancel everything",
        "stornieren Sie bitte die komplette Bestellung",
        "chtěla bych zrušit všechno",
        "das Kind hat alles gesehen, auch den Preis daran",
    ],
)
def test_what_is_done_with_a_whole_order_is_no_share(text: str) -> None:
    assert amount_in(text) is None


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("6-1-0-4-8", "61048"),
        ("61-048", "61048"),
        ("je to 61 tisíc 48", "61048"),
        ("6 10 48", "61048"),
        ("kx-55 201", "KX-55201"),
        ("delivered on 2026-11-03", None),
        ("am 3-11-2026", None),
        ("61 thousand 2 hundred", None),
        ("my customer number is 610483", None),
        ("mám jen zákaznické číslo 610483", None),
        ("nur die Rechnungsnummer, 610483", None),
        ("sólo tengo el número de cliente 610483", None),
        ("podací číslo zásilky je 204 5518 93", None),
    ],
)
def test_an_order_in_another_form_and_the_numbers_of_other_things(
    text: str, order: str | None
) -> None:
    assert order_in(text) == order


def test_the_number_that_the_question_names_is_the_one_that_is_asked_for() -> None:
    prompt = "What is your customer number?"
    assert order_in("my customer number is 610483", prompt=prompt) == "610483"


def test_a_postcode_is_no_order_where_an_address_is_asked_for() -> None:
    slots = {**SLOTS, "address": SlotSpec(name="address", type="text", about="address")}
    asked = OpenQuestion(("address",), tuple(slots), {}, "change_address", "Where to?")
    turn = TurnReader(slots).read("Lindenweg 8, 04155 leipzig", asked, NOW)
    assert "order" not in turn.values
    assert "04155" in turn.values["address"]


@pytest.mark.parametrize(
    ("text", "order"), [("39 tisíc 114", "39114"), ("it was 2 thousand 5 or so", None)]
)
def test_thousands_are_an_order_where_they_have_as_many_digits(
    text: str, order: str | None
) -> None:
    assert order_in(text) == order
