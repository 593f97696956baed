"""What a reply says, however it writes its numbers, amounts, times and words."""

from typing import Any

import pytest

from deskhand.evals.facts import says


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The Grande costs 2,150 EUR.", "2150 EUR"),
        ("Die Grande kostet 2.150 €.", "2,150 EUR"),
        ("Grande stojí 2\N{NO-BREAK SPACE}150 EUR", "EUR 2150"),
        ("It costs €29.00 a month.", "29 EUR"),
        ("Le rebajamos un 15% desde la primera pieza.", "15 %"),
        ("We open at 9 am and close at 5:30 p.m.", "9:00"),
        ("We open at 9 am and close at 5:30 p.m.", "17:30"),
        ("otevřeno od 9 do 17 hodin", "od 9:00 do 17:00"),
        ("A five-year warranty covers it.", "5 year"),
        ("Záruka na kávovary je dva roky.", "2 roky"),
        ("innerhalb von zehn Werktagen", "10 Werktag"),
        ("Nejsou ZELENÉ, ale černé.", "zelené"),
        ("We refunded you yesterday.", ["refund", "credited"]),
        ("Platba na fakturu je možná.", ["invoice", "na fakturu"]),
        ("Ihre Nummer ist R-AB12CD.", {"matches": "R-[A-Z0-9]{6}"}),
        ("Mucosolvan 6 mg/ml, 100ml", "100 ml"),
    ],
)
def test_a_fact_is_found_however_it_is_written(text: str, fact: Any) -> None:
    assert says(text, fact)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The desk costs 540 EUR.", "40 EUR"),
        ("The desk costs 540 EUR.", "540 CZK"),
        ("Delivery within 14 days.", "4 days"),
        ("We close at 17:30.", "17:00"),
        ("It weighs 2.5 kg.", "5 kg"),
        ("two hundred pieces", "2 pieces"),
        ("The cat sat.", "at"),
        ("Ibalgin 1000 mg", "100 mg"),
        ("", "anything"),
    ],
)
def test_another_fact_is_not_taken_for_it(text: str, fact: Any) -> None:
    assert not says(text, fact)
