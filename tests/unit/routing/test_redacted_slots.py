"""What an intent lists under `redact` is told by one function, for whoever shows values."""

from deskhand.config.sections.intents import IntentSpec
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.routing.redacted_slots import (
    HIDDEN,
    redacted_names,
    texts_of,
    without_values,
)

REGISTRY = IntentsRegistry(
    {
        "refund": IntentSpec(name="refund", redact=frozenset({"reason", "amount"})),
        "move": IntentSpec(name="move", redact=frozenset({"address"})),
        "status": IntentSpec(name="status"),
    }
)
SLOTS = {
    "order": "O-10018",
    "reason": "my knee hurts",
    "address": "Dlouhá 5",
    "amount": {"amount": "20.00", "currency": "EUR"},
}


def test_the_values_of_an_intents_redacted_slots_are_hidden() -> None:
    assert redacted_names(REGISTRY, "refund") == {"reason", "amount"}
    assert redacted_names(REGISTRY, "status") == frozenset()
    assert set(texts_of(SLOTS["amount"])) == {"20.00", "EUR"}


def test_while_the_intent_is_not_known_everything_that_any_intent_hides_is_hidden() -> None:
    assert redacted_names(REGISTRY, None) == {"reason", "amount", "address"}
    assert redacted_names(REGISTRY, "gone") == {"reason", "amount", "address"}


def test_hidden_values_are_replaced_wherever_they_stand() -> None:
    hidden = {"my knee hurts", "20.00", "EUR"}
    said = {"text": "O-10018: My knee hurts, 20.00 EUR", "steps": ["refund", 20.00, True, None]}
    assert without_values(said, hidden) == {
        "text": f"O-10018: {HIDDEN}, {HIDDEN} {HIDDEN}",
        "steps": ["refund", 20.0, True, None],
    }
    assert without_values(said, ()) is said


def test_part_of_a_longer_word_is_no_value() -> None:
    assert without_values("Europe and EUR", {"EUR"}) == f"Europe and {HIDDEN}"
