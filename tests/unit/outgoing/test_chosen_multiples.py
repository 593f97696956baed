"""Numbers that a reply chooses to show what something costs."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource
from deskhand.outgoing.sentences import answers_joined

RENT = SourceText("rent", "The Piccolo can be rented for 39 EUR a month, or bought for 890 EUR.")
PACKS = ToolSource(
    "search",
    {
        "pharmacy": "Letná",
        "items": [
            {"product": "Aerius", "pack": 30, "price_czk": 150, "stock": 4},
            {"product": "Aerius", "pack": 90, "price_czk": 360, "stock": 2},
        ],
    },
    {"query": "Aerius"},
)
NOW = datetime(2026, 11, 19, tzinfo=UTC)


def held(reply: str, *sums: str) -> list[str]:
    """What waits although a second reader confirms every sentence, with these sums."""
    grounds = Grounds(
        [Quote("rent", RENT.text)], [RENT], results=[PACKS], message="Which is cheaper?", now=NOW
    )
    confirmed = frozenset(reply[start:end].strip() for start, end in answers_joined(reply))
    claims = check_grounding(reply, replace(grounds, confirmed=confirmed, sums=sums)).unbacked
    return [claim.text for claim in claims]


@pytest.mark.parametrize(
    ("reply", "total"),
    [
        ("After 23 months the rent comes to 897 EUR.", "23 * 39 = 897"),
        ("Three small packs of Aerius would cost 450 CZK.", "3 * 150 = 450"),
        ("Drei Packungen Aerius kosten 450 Kronen.", "3 * 150 = 450"),
        ("Three packs are 450 CZK, 90 CZK more.", "3 * 150 = 450; 450 - 360 = 90"),
    ],
)
def test_a_chosen_number_may_be_settled_with_what_it_comes_to(reply: str, total: str) -> None:
    assert held(reply, total) == []
    assert held(reply) != []


@pytest.mark.parametrize(
    ("reply", "total"),
    [
        ("Three packs of Aerius cost 460 CZK.", "3 * 150 = 450"),
        ("Five packs of Aerius cost 750 CZK.", "5 * 150 = 750"),  # four are there
        ("Three packs are there.", "3 * 150 = 450"),
        ("Within 23 months the rent comes to 897 EUR.", "23 * 39 = 897"),
        ("Three elephants cost 450 CZK.", "3 * 150 = 450"),
        ("It costs 450 CZK.", "3 * 150 = 450"),
        ("It costs 61 * 39 EUR, 2,379 EUR for 61 months.", "61 * 39 = 2379"),
    ],
)
def test_what_a_number_does_not_show_waits(reply: str, total: str) -> None:
    assert held(reply, total) != []
