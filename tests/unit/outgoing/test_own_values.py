"""The customer's own days, weights and amounts beside a limit, where a second reader confirms."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText
from deskhand.outgoing.sentences import answers_joined

RULES = SourceText(
    "rules",
    "Orders over 3,000 EUR can be paid over 12 months. Unused goods can be returned within 30 days."
    " The Forma chair carries 150 kg and costs 349 EUR.",
    "Rules",
)
NOW = datetime(2026, 11, 19, tzinfo=UTC)


def held(reply: str, message: str, **more: Any) -> list[str]:
    """What waits although a second reader confirms every sentence."""
    grounds = Grounds([Quote("rules", RULES.text)], [RULES], message=message, now=NOW, **more)
    confirmed = frozenset(reply[start:end].strip() for start, end in answers_joined(reply))
    claims = check_grounding(reply, replace(grounds, confirmed=confirmed)).unbacked
    return [claim.text for claim in claims]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("At about 2,800 EUR you are below the 3,000 EUR that it takes.", "It is 2,800 EUR."),
        ("Your 4,200 EUR are more than the 3,000 EUR needed.", "So about 4,200, can I pay later?"),
        ("The 30 days are over, since you bought it 40 days ago.", "I bought it 40 days ago."),
        ("The Forma carries 150 kg, so it would not hold 160 kg.", "Does it hold 160kg?"),
    ],
)
def test_the_customers_case_may_be_held_against_a_limit(reply: str, message: str) -> None:
    assert held(reply, message) == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("Yes, the Forma chair holds 160 kg without trouble.", "Does it hold 160 kg?"),
        ("As you say, you have 60 days for it.", "I have 60 days, right?"),
        ("You may return it within 60 days, not 30 days.", "I have 60 days, right?"),
        ("It costs 59 EUR, as you say.", "It costs 59 EUR, right?"),
        ("With 2,800 EUR you are over the 3,000 EUR that it takes.", "It is 2,800 EUR."),
        ("At about 2,900 EUR you are below the 3,000 EUR.", "It is 2,800 EUR."),
    ],
)
def test_what_only_the_customer_says_is_not_affirmed(reply: str, message: str) -> None:
    """Without the limit beside it, as a limit itself, on the wrong side, or another number."""
    assert held(reply, message) != []


def test_a_distance_from_the_limit_follows_by_a_sum() -> None:
    reply, message = "You are ten days past the 30 days.", "I bought it 40 days ago."
    assert held(reply, message, sums=("40 - 30 = 10",)) == []
    assert held(reply, message) != []
    assert held(reply, message, sums=("41 - 31 = 10",)) != []


def test_what_is_missing_to_a_limit_may_be_rounded() -> None:
    reply = "It takes 3,000 EUR, so a little more than 300 EUR are missing."
    assert held(reply, "It is 2,700 EUR.", sums=("3000 - 2700 = 300",)) == []
    assert held(reply, "It is 2,700 EUR.") != []
