"""Canned replies: in the customer's language, filled with what is known, never sent half filled."""

from deskhand.engine.canned_replies import canned_replies, values_for
from deskhand.model.message import Address
from deskhand.model.placeholders import unfilled_placeholders
from tests.kit import a_message

TEXTS = {
    "thanks": {"en": "Dear {name}, thank you. {reviewer}", "cs": "Děkujeme, {name}. {reviewer}"},
    "order": {"": "About {slots.order}: we look into it."},
}
OUTPUTS = {"read": {"slots": {"order": {"value": "P-1001", "confidence": 0.9}}}}


def filled(language: str | None, name: str = "Ann", outputs: object = OUTPUTS) -> dict[str, str]:
    message = a_message().model_copy(
        update={"sender": Address(address="ann@example.com", name=name)}
    )
    values = values_for(message, outputs, reviewer="Ida", desk="shop")  # type: ignore[arg-type]
    return {one.name: one.text for one in canned_replies(TEXTS, language, values)}


def test_each_is_told_once_in_the_language_of_the_message() -> None:
    assert filled("cs") == {
        "thanks": "Děkujeme, Ann. Ida",
        "order": "About P-1001: we look into it.",
    }
    assert (
        filled("en")["thanks"]
        == filled(None)["thanks"]
        == filled("de")["thanks"]
        == "Dear Ann, thank you. Ida"
    )


def test_what_is_not_known_stays_to_be_filled_and_is_named() -> None:
    values = values_for(None, {}, reviewer="Ida", desk="shop")
    thanks, order = canned_replies(TEXTS, "en", values)
    assert (thanks.text, thanks.missing) == ("Dear {name}, thank you. Ida", ("name",))
    assert order.missing == ("slots.order",)
    assert unfilled_placeholders(thanks.text) == ["name"]
    assert unfilled_placeholders(order.text) == ["slots.order"]
    assert unfilled_placeholders("The set {a, b} and {anything} else may be written.") == []


def test_a_customer_cannot_fill_more_than_a_line() -> None:
    assert filled("en", name="Ann\r\nBcc: all\n" + "x" * 500)["thanks"].startswith(
        "Dear Ann Bcc: all xxx"
    )
    assert len(filled("en", name="x" * 5000)["thanks"]) < 300
    assert filled("en", name="{reviewer}")["thanks"] == "Dear {reviewer}, thank you. Ida"
