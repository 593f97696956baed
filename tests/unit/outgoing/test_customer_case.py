"""The customer's own numbers, held against the rule that a reply quotes."""

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource

DELIVERY = "Delivery costs 49 EUR, and nothing for orders over 1,000 EUR."
DISCOUNT = "From 10 pieces of the same product the price falls by 5%, from 30 pieces by 10%."
ASSEMBLY = "Our people assemble furniture for 35 EUR a desk, 15 EUR a chair and 10 EUR a lamp."
MACHINE = "Both work from a tank; only the Grande can be connected to a water pipe."


def holds(rule: str, message: str, reply: str) -> bool:
    grounds = Grounds(
        quotes=[Quote("rule", rule)], articles=[SourceText("rule", rule)], message=message
    )
    return bool(check_grounding(reply, grounds).unbacked)


@pytest.mark.parametrize(
    ("rule", "message", "right", "wrong"),
    [
        (
            DELIVERY,
            "What is delivery for an order of 800 EUR?",
            "For an order of 800 EUR the delivery costs 49 EUR.",
            "For an order of 800 EUR the delivery costs nothing.",
        ),
        (
            DELIVERY,
            "What is delivery for an order of 1,300 EUR?",
            "For an order of 1,300 EUR the delivery costs nothing.",
            "For an order of 1,300 EUR the delivery costs 49 EUR.",
        ),
        (
            DISCOUNT,
            "Is the price lower for 12 pieces?",
            "For your 12 pieces the price falls by 5%.",
            "For your 12 pieces the price falls by 10%.",
        ),
        (
            ASSEMBLY,
            "What does it cost for 3 desks?",
            "We assemble it for 35 EUR a desk, so 3 desks cost 105 EUR.",
            "We assemble it for 35 EUR a desk, so 3 desks cost 110 EUR.",
        ),
    ],
)
def test_the_rule_decides_what_is_said_of_a_number(
    rule: str, message: str, right: str, wrong: str
) -> None:
    assert not holds(rule, message, right)
    assert holds(rule, message, wrong)


def test_both_must_stand_in_the_part_of_the_quote_that_says_it() -> None:
    asked = "Which of them can be connected to a water pipe?"
    assert holds(MACHINE, asked, "Both can be connected to a water pipe.")
    assert not holds(MACHINE, asked, "Only the Grande can be connected to a water pipe.")


@pytest.mark.parametrize(
    ("reply", "is_held"),
    [
        ("Ihre Bestellung A-20417 wurde mit DPD verschickt.", False),
        ("Su pedido A-20417 ya ha salido con DPD.", False),
        ("Your order A-20417 has been delivered by DPD.", True),
        ("Your order A-20417 is in production.", True),
    ],
)
def test_a_state_is_told_in_any_language_and_no_other_state(reply: str, is_held: bool) -> None:
    found = {"order": "A-20417", "status": "shipped", "carrier": "DPD"}
    grounds = Grounds(results=[ToolSource("find_order", found)], message="Where is A-20417?")
    assert bool(check_grounding(reply, grounds).unbacked) is is_held
