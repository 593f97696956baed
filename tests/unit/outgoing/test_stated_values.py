"""Values of a text: the same value however each language writes it."""

from datetime import UTC, datetime

import pytest

from deskhand.outgoing.number_words import number_of
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import is_stated

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def states(source: str, claim: str) -> bool:
    """Whether all values of the claim stand in the source, and it has some."""
    stated, claimed = values_in(source, NOW), values_in(claim, NOW)
    return bool(claimed) and all(is_stated(value, stated) for value in claimed)


SAME = [
    ("orders over 1,000 EUR", "ab 1.000 €"),
    ("innerhalb von 30 Tagen", "within thirty days"),
    ("two weeks", "14 días"),
    ("záruka pět let", "five years"),
    ("two years", "24 Monate"),
    ("ten working days", "do 10 pracovních dnů"),
    ("Mon–Fri 8–20", "open Monday to Friday from 8 am to 8 pm"),
    ("po–pá 7:30–19", "on Wednesday from 7:30"),
    ("price: 315 czk", "dreihundertfünfzehn Kč"),
    ("dvě stě padesát Kč", "250 CZK"),
    ("2026-11-05T10:00:00+01:00", "5. November um 10:00"),
    ("2026-11-17", "tomorrow"),
    ("0.5 mg", "0,5 mg"),
    ("nothing for orders", "zdarma"),
    ("180 EUR al año", "180 EUR ročně"),
]
OTHER = [
    ("within 30 days", "30 EUR"),
    ("ten working days", "10 days"),
    ("500 mg", "500 g"),
    ("pack: 24", "24 mg"),
    ("Mon–Fri 8–20", "Monday to Thursday"),
    ("Mon–Fri 8–20", "on Saturday"),
    ("5 November 2026", "5 November 2025"),
    ("1,000 EUR", "1 EUR"),
    ("order A-1001", "order A-1002"),
    ("180 EUR al año", "180 EUR al mes"),
    ("8 am", "8 pm"),
    ("40 mg", "four thousand mg"),
]


@pytest.mark.parametrize(("source", "claim"), SAME)
def test_a_value_is_the_same_however_it_is_written(source: str, claim: str) -> None:
    assert states(source, claim)


@pytest.mark.parametrize(("source", "claim"), OTHER)
def test_another_value_is_another(source: str, claim: str) -> None:
    assert not states(source, claim)


@pytest.mark.parametrize(
    ("word", "number"), [("einundzwanzig", 21), ("zweitausend", 2000), ("freundlich", None)]
)
def test_german_numbers_are_one_word(word: str, number: int | None) -> None:
    assert number_of(word) == number


@pytest.mark.parametrize("code", ["R-SR33ZOA3", "R-PT5JAREY", "R-UT4RANIV"])
def test_a_code_that_holds_the_short_name_of_a_day_is_a_code(code: str) -> None:
    assert [value.kind for value in values_in(f"rezervace {code}")] == ["identifier"]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("a quarter of an hour", "15"),
        ("eine Viertelstunde", "15"),
        ("tři čtvrtě hodiny", "45"),
        ("un cuarto de hora", "15"),
        ("an hour and a half", "90"),
    ],
)
def test_parts_of_an_hour_are_a_length(text: str, minutes: str) -> None:
    (value,) = values_in(f"It takes {text}.")
    assert value.readings == frozenset({minutes})
    assert value.unit == "minute"


@pytest.mark.parametrize("before", ["is", "lautet", "es", "number"])
def test_a_word_before_a_number_with_a_dash_is_none_of_it(before: str) -> None:
    assert states("tracking: 3391-22", f"It {before} 3391-22.")
    assert states("tracking: 0998-1187-2", f"It {before} 0998-1187-2.")
    assert not states("tracking: 3391-22", f"It {before} 3391-23.")
    assert not states("tracking: AB 3391-22", f"It {before} XY 3391-22.")
