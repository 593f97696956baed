"""What a reply computes from quoted values leaves where it is exact and of the right thing; each
right reply stands beside wrong ones of the same form."""

from datetime import UTC, datetime

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText

BOATS = "The Heron boat costs 400 EUR. The Otter boat costs 700 EUR."
HIRE = "Boats can be hired: the Heron for 30 EUR a month and the Otter for 50 EUR."
DELIVERY = "Delivery costs 49 EUR."
OARS = "Our people mount things for 20 EUR a boat, 5 EUR an oar and 8 EUR a lamp."
STEPS = "From 10 pieces of the same boat the price falls by 5%, from 30 pieces by 10%."
SCHOOLS = "Schools and libraries get 15% from the first piece."
SAILS = "Our sails come in 140 x 70, 160 x 80 and 180 x 80 cm. The price is 490, 540 and 590 EUR."
NOTICE = "The contract ends unless it is cancelled 30 days before it ends."
WARRANTY = "Boats have a warranty of five years, engines of two years."
PARTS = "We keep oars for ten years after the sale."
QUOTES = "A quote is valid for 30 days."

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)


def holds(reply: str, message: str, *rules: str) -> bool:
    quotes = [Quote(str(place), rule) for place, rule in enumerate(rules)]
    articles = [SourceText(str(place), rule) for place, rule in enumerate(rules)]
    grounds = Grounds(quotes=quotes, articles=articles, message=message, now=NOW)
    return bool(check_grounding(reply, grounds).unbacked)


@pytest.mark.parametrize(
    ("rules", "message", "right", "wrongs"),
    [
        (
            [BOATS],
            "What do 3 Heron boats cost?",
            "Three Heron boats cost 1,200 EUR.",
            [
                "Three Heron boats cost 1,250 EUR.",
                "Three Heron boats cost 2,100 EUR.",
                "Three Otter boats cost 1,200 EUR.",
                "Four Heron boats cost 1,200 EUR.",
            ],
        ),
        (
            [BOATS],
            "What do 2 Heron boats and 1 Otter boat cost?",
            "Two Heron boats and one Otter boat cost 1,500 EUR.",
            [
                "Two Heron boats and one Otter boat cost 1,800 EUR.",
                "Two Heron boats and one Otter boat cost 1,100 EUR.",
                "Two Heron boats and one Otter boat cost 800 EUR.",
            ],
        ),
        (
            [HIRE],
            "What is the Heron for six months?",
            "The Heron costs 30 EUR a month, so six months cost 180 EUR.",
            [
                "The Heron costs 30 EUR a month, so six months cost 300 EUR.",
                "The Heron costs 30 EUR a month, so six months cost 150 EUR.",
            ],
        ),
        (
            [OARS],
            "What does mounting of 2 boats and 4 oars cost?",
            "Mounting two boats and four oars costs 60 EUR.",
            [
                "Mounting two boats and four oars costs 40 EUR.",
                "Mounting two boats and four oars costs 90 EUR.",
                "Mounting two boats and four lamps costs 60 EUR.",
            ],
        ),
        (
            [DELIVERY],
            "What is delivery for 3 boats?",
            "Delivery costs 49 EUR.",
            ["Delivery of three boats costs 147 EUR."],
        ),
        (
            [BOATS, STEPS],
            "What do 10 Heron boats cost?",
            "From 10 pieces the price falls by 5%. Ten Heron boats cost 4,000 EUR, and with the "
            "discount 3,800 EUR.",
            [
                "From 30 pieces the price falls by 10%. Ten Heron boats cost 4,000 EUR, and with "
                "the discount 3,600 EUR.",
                "From 10 pieces the price falls by 5%. Ten Heron boats cost 4,000 EUR, and with "
                "the discount 4,000 EUR.",
                "From 10 pieces the price falls by 5%. Nine Heron boats with the discount cost "
                "3,420 EUR.",
            ],
        ),
        (
            [BOATS, STEPS],
            "What do 30 Heron boats cost?",
            "From 30 pieces the price falls by 10%. 30 Heron boats with the discount cost "
            "10,800 EUR.",
            [
                "From 10 pieces the price falls by 5%. 30 Heron boats with the discount cost "
                "11,400 EUR."
            ],
        ),
        (
            [BOATS, SCHOOLS],
            "We are a school. What do 2 Heron boats cost?",
            "Schools get 15% from the first piece. With the discount two Heron boats cost 680 EUR.",
            [
                "Schools get 15% from the first piece. With the discount two Heron boats cost "
                "690 EUR.",
                "Schools get 15% from the first piece. With the discount of 25% two Heron boats "
                "cost 600 EUR.",
            ],
        ),
        (
            [SAILS],
            "What do 2 sails of 160 x 80 cost?",
            "Two sails of 160 x 80 cm cost 1,080 EUR.",
            [
                "Two sails of 160 x 80 cm cost 980 EUR.",
                "Two sails of 160 x 80 cm cost 1,180 EUR.",
                "One sail of 160 x 80 cm costs 490 EUR.",
            ],
        ),
        (
            [HIRE],
            "What do the Heron and the Otter cost to hire?",
            "You pay 80 EUR a month: 30 EUR for the Heron and 50 EUR for the Otter.",
            [
                "You pay 90 EUR a month: 30 EUR for the Heron and 50 EUR for the Otter.",
                "You pay 80 EUR a month: 50 EUR for the Heron and 30 EUR for the Otter.",
            ],
        ),
    ],
)
def test_an_amount_is_computed_exactly_and_of_the_right_thing(
    rules: list[str], message: str, right: str, wrongs: list[str]
) -> None:
    assert not holds(right, message, *rules)
    assert [wrong for wrong in wrongs if not holds(wrong, message, *rules)] == []


def test_a_discount_is_for_those_of_whom_the_quote_says_it() -> None:
    reply = "Schools get 15% from the first piece. With the discount two Heron boats cost 680 EUR."
    assert holds(reply, "We are a bakery. What do 2 Heron boats cost?", BOATS, SCHOOLS)


@pytest.mark.parametrize(
    ("rules", "message", "right", "wrongs"),
    [
        (
            [NOTICE],
            "My contract ends on 15 January 2027. When do I have to cancel it?",
            "The contract must be cancelled 30 days before it ends: for the end on 15 January 2027 "
            "the contract must be cancelled by 16 December 2026.",
            [
                "The contract must be cancelled 30 days before it ends: for the end on 15 January "
                "2027 the contract must be cancelled by 15 December 2026.",
                "The contract must be cancelled 30 days before it ends: for the end on 15 January "
                "2027 the contract must be cancelled by 14 February 2027.",
                "The contract must be cancelled by 16 December 2026.",
            ],
        ),
        (
            [WARRANTY],
            "I bought an engine on 3 February 2025. How long is it repaired?",
            "Engines have a warranty of two years, so the engine has a warranty until 3 February "
            "2027.",
            [
                "Engines have a warranty of two years, so the engine has a warranty until 3 "
                "February 2030.",
                "The engine has a warranty of five years, until 3 February 2030.",
                "Engines have a warranty of two years, so the engine has a warranty until 3 March "
                "2027.",
            ],
        ),
        (
            [PARTS],
            "Do you have oars for my boat of 2019?",
            "We keep oars for ten years after the sale, oars of 2019 until 2029.",
            [
                "We keep oars for ten years after the sale, oars of 2019 until 2030.",
                "We keep oars for ten years after the sale, oars of 2018 until 2028.",
            ],
        ),
        (
            [QUOTES],
            "I got the quote on 1 October 2026.",
            "A quote is valid for 30 days, the quote of 1 October is valid until 31 October.",
            [
                "A quote is valid for 30 days, the quote of 1 October is valid until 30 November.",
                "A quote is valid for 60 days, the quote of 1 October is valid until 30 November.",
            ],
        ),
    ],
)
def test_a_day_is_computed_exactly_from_the_customers_and_the_quoted_term(
    rules: list[str], message: str, right: str, wrongs: list[str]
) -> None:
    assert not holds(right, message, *rules)
    assert [wrong for wrong in wrongs if not holds(wrong, message, *rules)] == []
