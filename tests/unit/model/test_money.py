"""Money is exact, never negative, and never mixed with another currency."""

from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from deskhand.model.money import Money


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("50 EUR", "50 EUR"),
        ("50.00 EUR", "50 EUR"),
        ("12.5 EUR", "12.50 EUR"),
        ("0.125 KWD", "0.125 KWD"),
        ({"amount": 3, "currency": "CZK"}, "3 CZK"),
        ({"amount": "1000.10", "currency": "USD"}, "1000.10 USD"),
    ],
)
def test_it_is_read_and_told(given: object, told: str) -> None:
    money = Money.of(given)
    assert str(money) == told
    assert Money.of(told) == money


@pytest.mark.parametrize(
    "given",
    [
        *(
            "-5 EUR",
            "5",
            "5 eur",
            "5 EURO",
            "five EUR",
            "1,000 EUR",
            5,
            None,
            {"amount": True, "currency": "EUR"},
        ),
        *(
            {"amount": "NaN", "currency": "EUR"},
            {"amount": -1, "currency": "EUR"},
            {"amount": 1},
            "9" * 16 + " EUR",
        ),
    ],
)
def test_what_is_no_amount_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="amount"):
        Money.of(given)


def test_currencies_do_not_mix() -> None:
    assert Money.of("1 EUR") + Money.of("2.50 EUR") == Money(Decimal("3.50"), "EUR")
    assert Money.of("1 EUR") < Money.of("2 EUR")
    with pytest.raises(TypeError):
        _ = Money.of("1 EUR") < Money.of("2 USD")
    with pytest.raises(TypeError):
        _ = Money.of("1 EUR") + Money.of("2 USD")


def test_as_a_parameter_it_is_text_for_a_model() -> None:
    adapter = TypeAdapter(Money)
    assert adapter.json_schema()["format"] == "money"
    assert adapter.validate_json('"50 EUR"', strict=True) == Money.of("50 EUR")
    assert adapter.dump_python(Money.of("50 EUR"), mode="json") == "50 EUR"
