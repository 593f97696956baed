"""The customer's own number beside a quoted limit: right where the comparison is true and the
conclusion goes the right way; each right reply stands beside wrong ones."""

import pytest

from deskhand.outgoing.grounding import check_grounding
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.quoted_sources import Quote, SourceText, ToolSource

BOAT = "The Heron is made for up to 15 persons or 50 bags and costs 400 EUR."
RAFT = "The raft carries 150 kg."
BANK = "Orders over 3,000 EUR can be paid in 12 months through our bank."
GROUPS = "For groups of more than five persons an appointment is needed."
INVOICE = {"invoice": "F-77", "status": "paid", "outstanding": "0 EUR"}
OPEN_INVOICE = {"invoice": "F-77", "status": "unpaid", "outstanding": "40 EUR"}


def holds(reply: str, message: str, rule: str) -> bool:
    grounds = Grounds(
        quotes=[Quote("rule", rule)], articles=[SourceText("rule", rule)], message=message
    )
    return bool(check_grounding(reply, grounds).unbacked)


@pytest.mark.parametrize(
    ("rule", "message", "right", "wrongs"),
    [
        (
            BOAT,
            "We are 12 persons and have 40 bags. Is the Heron made for us?",
            "The Heron is made for up to 15 persons or 50 bags, and you are 12 persons.",
            [
                "The Heron is made for up to 12 persons or 50 bags.",
                "The Heron is made for up to 15 persons or 40 bags.",
                "The Heron is made for up to 15 persons or 50 bags, and you are 14 persons.",
            ],
        ),
        (
            BOAT,
            "We have 60 bags. Is the Heron made for them?",
            "With 60 bags you are over the 50 bags for which the Heron is made.",
            [
                "With 60 bags you are under the 50 bags for which the Heron is made.",
                "With 40 bags you are over the 50 bags for which the Heron is made.",
                "With 60 bags you are over the 70 bags for which the Heron is made.",
            ],
        ),
        (
            RAFT,
            "My dad is 138. Does the raft carry him?",
            "The raft carries 150 kg, and 138 kg is 12 kg under that.",
            [
                "The raft carries 150 kg, and 138 kg is 22 kg under that.",
                "The raft carries 150 kg, and 138 kg is 12 kg over that.",
                "The raft carries 150 kg, and 128 kg is 22 kg under that.",
                "The raft carries 160 kg, and 138 kg is 22 kg under that.",
            ],
        ),
        (
            BANK,
            "Our order is 4,200 EUR. Can it be paid in months?",
            "Your order of 4,200 EUR is over 3,000 EUR, and can be paid in 12 months through our "
            "bank.",
            [
                "Your order of 4,200 EUR is under 3,000 EUR.",
                "Your order of 2,900 EUR is over 3,000 EUR.",
                "Your order of 4,200 EUR is over 4,000 EUR, and can be paid in 12 months through "
                "our bank.",
                "Your order of 4,200 EUR can be paid in 24 months through our bank.",
            ],
        ),
        (
            GROUPS,
            "We are four. Do we need an appointment?",
            "An appointment is needed for groups of more than five persons, and you are four.",
            [
                "An appointment is needed for groups of more than four persons.",
                "An appointment is needed for groups of more than five persons, and you are six.",
            ],
        ),
    ],
)
def test_a_comparison_must_be_true_and_in_its_direction(
    rule: str, message: str, right: str, wrongs: list[str]
) -> None:
    assert not holds(right, message, rule)
    assert [wrong for wrong in wrongs if not holds(wrong, message, rule)] == []


def test_a_question_of_the_customers_is_no_number_of_theirs() -> None:
    rule = "Our people take the packaging with them."
    asked = "Do we have three free samples?"
    assert holds("You have three free samples.", asked, rule)


@pytest.mark.parametrize(
    ("record", "reply", "is_held"),
    [
        (INVOICE, "The invoice F-77 is paid, and nothing is outstanding.", False),
        (OPEN_INVOICE, "The invoice F-77 is paid, and nothing is outstanding.", True),
        (OPEN_INVOICE, "Nothing is outstanding for the invoice F-77.", True),
        (INVOICE, "The invoice F-77 is outstanding.", True),
    ],
)
def test_nothing_outstanding_is_paid(record: dict[str, str], reply: str, is_held: bool) -> None:
    grounds = Grounds(results=[ToolSource("find_invoice", record)], message="Is F-77 paid?")
    assert bool(check_grounding(reply, grounds).unbacked) is is_held


@pytest.mark.parametrize(
    ("reply", "is_held"),
    [
        ("Ihr Besuch V-19 um 13:00 Uhr ist für neun Personen eingetragen.", False),
        ("Su visita V-19 a las 13:00 es para nueve personas.", False),
        ("Ihr Besuch V-19 um 13:00 Uhr ist für acht Personen eingetragen.", True),
        ("Ihr Besuch V-19 um 14:00 Uhr ist für neun Personen eingetragen.", True),
        ("Su visita V-20 a las 13:00 es para nueve personas.", True),
    ],
)
def test_a_record_is_told_in_another_language(reply: str, is_held: bool) -> None:
    found = {"visit": "V-19", "time": "13:00", "people": 9, "status": "confirmed"}
    grounds = Grounds(results=[ToolSource("find_visit", found)], message="When is V-19?")
    assert bool(check_grounding(reply, grounds).unbacked) is is_held
