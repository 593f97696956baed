"""What a message does while a question is open, in four languages."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.first_message import stated_in
from deskhand.language.turn_kinds import OpenQuestion, Turn
from deskhand.language.turns import MOST_TEXT, TurnReader

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", prefix=("O",), min_digits=5, max_digits=5),
    "amount": SlotSpec(name="amount", type="money", currency="EUR"),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
    "address": SlotSpec(name="address", type="text", about="address"),
}
MATTERS = {"refund": ("order", "amount", "reason"), "change_address": ("order", "address")}
PROMPTS = {
    "order": "Which order is it? The number begins with O-.",
    "amount": "How much would you like back?",
    "reason": "What was wrong with it?",
    "confirm": "Have I got this right: order O-10018?",
}
READER = TurnReader(SLOTS)
NOW = datetime(2026, 11, 17, tzinfo=UTC)


def read(text: str, asked: str, matter: str = "refund", prompt: str = "", **known: Any) -> Turn:
    slots = MATTERS[matter]
    question = OpenQuestion((asked,), slots, known, matter, prompt or PROMPTS[asked])
    return READER.read(text, question, NOW)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Could I speak with a member of your staff?", "person"),
        ("Spojte mě prosím s operátorem", "person"),
        ("Geben Sie mir einen Mitarbeiter", "person"),
        ("Quiero que me atienda una persona", "person"),
        ("What was your question again?", "repeat"),
        ("Můžete tu otázku zopakovat?", "repeat"),
        ("Wie bitte? Was wollten Sie wissen?", "repeat"),
        ("Perdone, ¿puede repetirlo?", "repeat"),
        ("Why do you want to know that?", "why"),
        ("Proč to chcete vědět?", "why"),
        ("Wofür brauchen Sie die Nummer?", "why"),
        ("¿Y para qué lo quieren?", "why"),
        ("Forget it, I changed my mind", "cancel"),
        ("Nechte to být, rozmyslel jsem si to", "cancel"),
        ("Vergessen Sie es, hat sich erledigt", "cancel"),
        ("Olvídelo, ya no hace falta", "cancel"),
        ("Do you also ship to Norway?", "aside"),
        ("Máte otevřeno i v neděli?", "aside"),
        ("Haben Sie auch sonntags offen?", "aside"),
        ("¿Abren los domingos?", "aside"),
        ("no idea", "invalid"),
        ("nevím", "invalid"),
        ("keine Ahnung", "invalid"),
        ("ni idea", "invalid"),
        ("12", "invalid"),
    ],
)
def test_what_is_no_answer_is_told_apart(text: str, kind: str) -> None:
    turn = read(text, "order")
    assert (str(turn.kind), turn.values) == (kind, {})


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("O-10018", "order", {"order": "O-10018"}),
        ("it is 10018", "order", {"order": "O-10018"}),
        ("je to objednávka 10018", "order", {"order": "O-10018"}),
        ("die 10018", "order", {"order": "O-10018"}),
        ("el 10018", "order", {"order": "O-10018"}),
        ("25", "amount", {"amount": {"amount": "25", "currency": "EUR"}}),
        ("12,50 bitte", "amount", {"amount": {"amount": "12.50", "currency": "EUR"}}),
        ("it leaked all over the box", "reason", {"reason": "it leaked all over the box"}),
        ("vůbec to nefunguje", "reason", {"reason": "vůbec to nefunguje"}),
        ("sie ist viel zu klein", "reason", {"reason": "sie ist viel zu klein"}),
    ],
)
def test_an_answer_gives_its_value(text: str, asked: str, values: dict[str, Any]) -> None:
    turn = read(text, asked)
    assert (str(turn.kind), turn.values) == ("answer", values)


def test_an_answer_may_hold_several_values() -> None:
    turn = read("10018, 45 euros, it was broken", "order")
    assert str(turn.kind) == "answers_several"
    assert turn.values["order"] == "O-10018"
    assert turn.values["amount"]["amount"] == "45"
    assert turn.values["reason"] == "it was broken"


def test_a_post_code_is_no_order() -> None:
    turn = read("10018, Gartenweg 7, 50667 Köln", "order", "change_address")
    assert turn.values == {"order": "O-10018", "address": "Gartenweg 7, 50667 Köln"}


@pytest.mark.parametrize(
    "text",
    [
        "sorry, I meant O-10019",
        "pardon, myslela jsem O-10019",
        "Entschuldigung, ich meinte O-10019",
        "perdón, quería decir O-10019",
        "not O-10018 but O-10019",
        "nicht O-10018, sondern O-10019",
    ],
)
def test_a_value_that_was_said_before_may_be_changed(text: str) -> None:
    turn = read(text, "reason", order="O-10018")
    assert (str(turn.kind), turn.values) == ("correction", {"order": "O-10019"})


@pytest.mark.parametrize("text", ["no, the other one", "ne, ta druhá", "nein, die andere"])
def test_the_other_one_names_nothing(text: str) -> None:
    turn = read(text, "reason", order="O-10018")
    assert (str(turn.kind), turn.values, turn.other_one) == ("correction", {}, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [("yes", True), ("ano, prosím", True), ("Ja, gerne", True), ("sí", True), ("no", False)],
)
def test_yes_and_no(text: str, says: bool) -> None:
    turn = read(text, "confirm", order="O-10018")
    assert (str(turn.kind), turn.values) == ("answer", {"confirm": says})


def test_to_say_again_what_shall_be_done_is_a_yes() -> None:
    turn = read("cancel it", "confirm", prompt="Shall I cancel O-10018?", order="O-10018")
    assert turn.values == {"confirm": True}


def test_two_orders_without_a_word_which_are_no_answer() -> None:
    assert read("O-10018 O-10019", "order").values == {}


def test_a_text_that_is_too_long_is_invalid() -> None:
    assert str(read("O-10018 " * MOST_TEXT, "order").kind) == "invalid"


def test_a_turn_that_begins_another_matter_gives_the_values_of_that_one() -> None:
    reader = TurnReader(SLOTS, matter_of=lambda text: "refund", slots_of=MATTERS.__getitem__)
    question = OpenQuestion(("address",), ("order", "address"), {}, "change_address", "Where to?")
    text = "Leave the address. I want 12 euros back for O-10018 because the lid was cracked."
    turn = reader.read(text, question, NOW)
    assert (str(turn.kind), turn.matter) == ("other_matter", "refund")
    assert turn.values["order"] == "O-10018"
    assert turn.values["amount"] == {"amount": "12", "currency": "EUR"}
    assert turn.values["reason"].endswith("the lid was cracked")


def test_who_corrects_himself_within_a_turn_is_asked_whether_that_is_right() -> None:
    turn = read("O-10018, no wait, O-10019", "order")
    assert turn.values == {"order": "O-10019"}
    assert turn.unsure == ("order",)


def test_an_address_is_taken_without_what_stands_before_it() -> None:
    text = "O-10018, and please to the Old Mill, 3 River Walk, Bath BA1 2AB"
    turn = read(text, "order", "change_address")
    assert turn.values["order"] == "O-10018"
    assert turn.values["address"].endswith("3 River Walk, Bath BA1 2AB")
    assert "10018" not in turn.values["address"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I want to return O-10004 and get my money back please", None),
        ("Für O-10004 hätte ich gern das Geld zurück", None),
        ("Chci vrátit peníze za O-10004, nesvítí to", "nesvítí to"),
        ("Refund O-10004 please, I mixed up the digits before", None),
    ],
)
def test_a_wish_is_no_reason(text: str, reason: str | None) -> None:
    question = OpenQuestion(asked=(), slots=("order", "reason"), matter="refund")
    assert READER.read(text, question).values.get("reason") == reason
    assert stated_in(READER, text, ("order", "reason"), NOW).get("reason") == reason


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("one moment, it says 4 1 0 7 7", "O-41077"),
        ("steht auf dem Zettel: o41 077", "O-41077"),
        ("is order no 41077 enough?", "O-41077"),
        ("the card I used ends in 41077", None),
        ("posílejte to prosím do 410 77 Lovosice", None),
    ],
)
def test_an_order_is_read_in_groups_and_never_from_another_number(
    text: str, order: str | None
) -> None:
    assert read(text, "order").values.get("order") == order


@pytest.mark.parametrize(
    "text",
    [
        "hm, the number I typed in there a moment ago is wrong I'm afraid",
        "to číslo, co jsem sem dala, je špatně",
        "die Bestellnummer, die ich Ihnen geschickt habe, ist verkehrt",
        "el número que puse antes es incorrecto",
    ],
)
def test_what_was_given_before_may_be_called_wrong(text: str) -> None:
    turn = read(text, "reason", order="O-41077")
    assert (turn.kind, turn.values) == ("correction", {})


def test_a_wrong_amount_may_be_the_reason() -> None:
    assert read("you charged the wrong amount", "reason", order="O-41077").kind == "answer"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("wait a second, it says five oh two two one", "O-50221"),
        ("mám to tady, třicet tisíc čtyři sta pět", "O-30405"),
        ("die zweiundvierzig sieben null eins", "O-42701"),
        ("ocho ocho uno cero tres, creo", "O-88103"),
        ("I have two of them, one in green", None),
        ("call me on six oh two two one five", None),
    ],
)
def test_an_order_in_words_is_read_and_confirmed(text: str, order: str | None) -> None:
    turn = read(text, "order")
    assert turn.values.get("order") == order
    assert ("order" in turn.unsure) == (order is not None)


def test_an_order_in_groups_counts_where_nobody_asked_if_it_is_called_so() -> None:
    turn = read("it leaks at the base, bestellung 73 551 by the way", "reason")
    assert turn.values.get("order") == "O-73551"


def test_an_amount_that_is_known_is_no_order() -> None:
    known: dict[str, Any] = {"amount": {"amount": "12500.00", "currency": "EUR"}}
    turn = read("scratch the 12500, I only paid 9900 EUR", "order", **known)
    assert "order" not in turn.values


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Eight forty-five, that was the delivery.", "8.45"),
        ("la mitad, es decir 18 con 25", "18.25"),
        ("I want my money back. 31.40 for a lid that leaks", "31.40"),
    ],
)
def test_an_amount_with_cents_is_read_as_people_say_it(text: str, amount: str) -> None:
    assert read(text, "amount").values["amount"]["amount"] == amount


@pytest.mark.parametrize(
    "text",
    [
        "I can't remember, my husband bought it",
        "nemám ponětí, kupoval to syn",
        "die Bestätigung hab ich leider gelöscht",
        "ni idea, lo perdí",
        "just put something in there",
        "No.",
        "!!!",
    ],
)
def test_who_does_not_know_or_says_nothing_is_asked_again(text: str) -> None:
    turn = read(text, "order")
    assert (str(turn.kind), turn.values) == ("invalid", {})


def test_what_sounds_like_an_answer_and_gives_nothing_is_invalid() -> None:
    turn = read("I only have the invoice number here, 2025-00417", "order")
    assert (str(turn.kind), turn.values) == ("invalid", {})


@pytest.mark.parametrize(
    "text",
    [
        "why isn't my name enough?",
        "wieso reicht der Name nicht?",
        "na co vám bude moje číslo?",
        "¿por qué no basta con mi nombre?",
    ],
)
def test_why_something_else_does_not_do_is_a_why(text: str) -> None:
    assert read(text, "order").kind == "why"


def test_an_answer_that_changes_something_else_is_a_correction() -> None:
    known: dict[str, Any] = {"order": "O-10018"}
    turn = read("19.50. and sorry, the order should be O-10081", "amount", **known)
    assert turn.kind == "correction"
    assert turn.values["order"] == "O-10081"
    assert turn.values["amount"]["amount"] == "19.50"


def test_words_that_are_put_right_beside_an_answer_take_the_place_of_the_known_ones() -> None:
    turn = read("19.50. Actually it was too large, not too small", "amount", reason="too small")
    assert turn.kind == "correction"
    assert turn.values["reason"].startswith("Actually it was too large")


def test_thanks_beside_an_answer_change_nothing() -> None:
    turn = read("19.50. Sorry that it took me so long", "amount", reason="too small")
    assert (turn.kind, list(turn.values)) == ("answer", ["amount"])


def test_to_cancel_the_order_is_a_matter_of_its_own() -> None:
    def is_cancelled(text: str) -> str | None:
        return "cancel_order" if "cancel" in text else None

    reader = TurnReader(SLOTS, matter_of=is_cancelled)
    question = OpenQuestion(("address",), MATTERS["change_address"], {}, "change_address", "Where?")
    turn = reader.read("you know what, just cancel the order instead", question, NOW)
    assert (turn.kind, turn.matter) == ("other_matter", "cancel_order")
    assert reader.read("oh, never mind, forget it", question, NOW).kind == "cancel"


def test_a_summary_is_kept_without_the_order_amid_it() -> None:
    slots = {**SLOTS, "summary": SlotSpec(name="summary", type="text", about="summary")}
    question = OpenQuestion(("summary",), ("summary", "order"), {}, "create_ticket", "What is it?")
    turn = TurnReader(slots).read("the toaster from order O-10018 hums loudly", question, NOW)
    assert turn.values == {"order": "O-10018", "summary": "the toaster hums loudly"}
