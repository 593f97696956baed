"""What the embedded brain writes in a chat, and what it says where a call fails."""

from datetime import UTC, datetime

import pytest

from deskhand.brain.replies import ReplyParts, compose
from deskhand.config.sections.slots import SlotSpec
from deskhand.language.first_message import stated_in
from deskhand.language.turn_texts import with_what_follows
from deskhand.language.turns import TurnReader
from deskhand.model.understanding import Understanding

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", prefix=("O",), min_digits=5, max_digits=5),
    "amount": SlotSpec(name="amount", type="money", currency="EUR", currencies=("EUR",)),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
    "address": SlotSpec(name="address", type="text", about="address"),
    "summary": SlotSpec(name="summary", type="text", about="summary"),
}


def test_a_line_in_a_chat_has_neither_salutation_nor_signature() -> None:
    parts = ReplyParts(statements=["It is on its way."])
    text = compose(parts, language="en", name="Ann Reed", signature="Shop", is_letter=False)
    assert text == "It is on its way."
    assert "Ann Reed" in compose(parts, language="en", name="Ann Reed", signature="Shop")


def test_an_amount_of_money_is_a_slot_like_any_other() -> None:
    money = {"amount": "30", "currency": "EUR"}
    read = Understanding({"plan": {"slots": {"amount": money, "order": {"value": "O-10001"}}}})
    assert read.slots == {"amount": money, "order": "O-10001"}


@pytest.mark.parametrize(
    ("text", "slot", "words"),
    [
        ("Please refund O-10004, the sole came off.", "reason", "the sole came off"),
        ("Vraťte mi peníze za O-10035, tričko se srazilo.", "reason", "tričko se srazilo"),
        ("Bitte erstatten Sie O-10005, sie ist undicht.", "reason", "sie ist undicht"),
        ("I would like my money back. Ann Reed", "reason", None),
        ("I want to send O-10004 back, the zip sticks", "reason", "the zip sticks"),
        ("Ich würde O-10004 gern zurückgeben, der Stoff kratzt", "reason", "der Stoff kratzt"),
        ("Vrátila bych O-10035, sedí hůř než minule", "reason", "sedí hůř než minule"),
        ("Can I send O-10004 back?", "reason", None),
        ("Please send O-10001 to 5 Elm Street, Leeds", "address", "5 Elm Street, Leeds"),
        ("Bitte schicken Sie O-10022 an Weg 33, 50667 Köln", "address", "Weg 33, 50667 Köln"),
        ("Where is O-10001?", "address", None),
        ("Open a ticket: the chart is wrong", "summary", "the chart is wrong"),
        ("Can you open a ticket?", "summary", None),
        ("Ich würde gern eine Störung melden.", "summary", None),
        ("Reklamace: rozbitá váza, chybí ucho", "summary", "rozbitá váza, chybí ucho"),
    ],
)
def test_a_first_message_states_words_for_slots(text: str, slot: str, words: str | None) -> None:
    stated = stated_in(TurnReader(SLOTS), text, ("order", "amount", slot), datetime.now(UTC))
    assert stated.get(slot) == words


@pytest.mark.parametrize(
    ("words", "text", "noted"),
    [
        (
            "the lid is missing",
            "the lid is missing, please send one. Thanks, Ann",
            "please send one",
        ),
        ("ta lampa bliká", "ta lampa bliká, ať se na to někdo podívá", "ať se na to někdo podívá"),
        ("der Schlauch tropft", "der Schlauch tropft, bitte O-10004 prüfen", ""),
    ],
)
def test_what_follows_is_noted_too(words: str, text: str, noted: str) -> None:
    place = text.find("O-10004")
    spans = [(place, place + 7)] if place >= 0 else []
    assert with_what_follows(text, words, spans) == f"{words}, {noted}".strip(", ")


def test_of_two_numbers_the_one_that_is_meant_counts() -> None:
    text = "O-10012, no sorry, the other one: O-10040"
    assert stated_in(TurnReader(SLOTS), text, ("order",), datetime.now(UTC)) == {"order": "O-10040"}
