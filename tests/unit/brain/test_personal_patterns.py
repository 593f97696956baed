"""What of a message reaches a provider when the desk redacts: planted values, read off the wire."""

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bench.redaction import score
from deskhand.brain import personal_names, personal_numbers
from deskhand.brain.personal_data import Placeholders, RedactionRules
from deskhand.brain.redacting_chat import EXPLANATION, RedactingChatModel, redaction_rules
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.model.chat import ChatRequest


def hidden_in(text: str) -> str:
    """A customer's text as a model sees it."""
    placeholders = Placeholders(redaction_rules({}))
    placeholders.learn(text)
    return placeholders.hide(text)


def planted(kind: str, text: str, whose: str = "sender") -> dict[str, str]:
    return {"kind": kind, "text": text, "where": "body", "whose": whose}


MESSAGES: list[dict[str, Any]] = [
    {
        "id": "en",
        "from": {"name": "Nora Applewood", "address": "nora@example.org"},
        "subject": "Order Q-55821",
        "body": "Hello,\n\nmy husband Tobias opened order Q-55821. We live at 12 Fern Lane, Ely CB7"
        " 4XX. I was born on 3 May 1974. Ring 01353 555 019.\n\nKind regards,\nNora",
        "planted": [
            planted("order", "Q-55821"),
            planted("name", "Tobias", "other_person"),
            planted("postal_address", "12 Fern Lane, Ely CB7 4XX"),
            planted("date_of_birth", "3 May 1974"),
            planted("phone", "01353 555 019"),
            planted("name", "Nora"),
            planted("address", "nora@example.org"),
        ],
    },
    {
        "id": "cs",
        "from": {"name": "Adéla Horká", "address": "adela@example.org"},
        "subject": "Faktura",
        "body": "Dobrý den,\n\nkolega Radim Svátek mi poslal fakturu 20264417. Adélo, psal, zaplať"
        " na 123456789/0100.\n\nS pozdravem\nAdéla Horká",
        "history": ["Paní Horká, volala paní Blažková."],
        "planted": [
            planted("name", "Radim Svátek", "other_person"),
            planted("order", "20264417"),
            planted("name", "Adélo"),
            planted("account", "123456789/0100"),
            planted("name", "Adéla Horká"),
            planted("name", "Blažková", "other_person"),
        ],
    },
    {
        "id": "de",
        "from": {"name": "Ingo Tellkamp", "address": "ingo@example.org"},
        "subject": "Lieferung",
        "body": "Sehr geehrte Frau Quandt,\n\ndie Lieferung ging an meine Nachbarin Heide Brömse,"
        " Lindenweg 4, 24103 Kiel. Kundennummer 881207.\n\nMit freundlichen Grüßen\nI. Tellkamp",
        "planted": [
            planted("name", "Quandt", "other_person"),
            planted("name", "Heide Brömse", "other_person"),
            planted("postal_address", "Lindenweg 4, 24103 Kiel"),
            planted("id_number", "881207"),
            planted("name", "Tellkamp"),
        ],
    },
]


async def test_nothing_planted_reaches_the_wire_and_replies_come_back_whole(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text("\n".join(json.dumps(message) for message in MESSAGES))
    result = await score(file)
    assert result.planted == 18
    assert result.leaks == []
    assert result.not_restored == []


async def test_two_hundred_messages_keep_what_is_planted_in_them() -> None:
    """In subjects, bodies, files and earlier messages; some in small letters, bent, with pet names
    and numbers in every form."""
    result = await score(Path(__file__).parents[2] / "data" / "redaction.jsonl")
    assert result.planted > 900
    assert result.recall >= 0.99, result.leaks
    assert result.senders == []
    assert result.not_restored == []
    assert result.hidden_words.total() / result.words < 0.05


async def test_hard_messages_keep_nearly_all_that_is_planted_in_them() -> None:
    """First names alone, names that are words, numbers in odd forms; 32 of the messages were never
    mended on, and seven first names in them leak (decision 0115)."""
    result = await score(Path(__file__).parents[2] / "data" / "redaction_hard.jsonl")
    assert result.planted > 600
    assert len(result.leaks) <= 8, result.leaks
    assert result.senders == []
    assert result.not_restored == []
    assert result.hidden_words.total() / result.words < 0.09


async def test_the_desks_own_signature_is_shown_and_marks_are_explained() -> None:
    inner = ScriptedChatModel(["Dear [NAME_1], Acme"])
    chat = RedactingChatModel(inner, redaction_rules({}, own=("Acme", "help@acme.example")))
    request = ChatRequest(
        messages=(
            {"role": "system", "content": "Sign as Acme."},
            {"role": "user", "content": "I am Zoe Acme-Ward. I wrote to help@acme.example."},
        ),
        model="house/m",
        private=("Zoe Ward",),
    )
    answer = await chat.complete(request)
    system, user = inner.requests[0].messages
    assert system["content"] == f"Sign as Acme.\n\n{EXPLANATION}"
    assert "Zoe" not in user["content"]
    assert "help@acme.example" in user["content"]
    assert "Zoe" in answer.text
    assert answer.text.endswith("Acme")


LONGEST_LOOK = 400
CAPITALS = [value for name, value in vars(personal_names).items() if name.endswith("CAPITALIZED")]
PATTERNS = [*personal_names.NAMES, *CAPITALS, *(pattern for _, pattern in personal_numbers.NUMBERS)]


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_no_pattern_looks_further_than_a_few_lines(pattern: Any) -> None:
    """So the time that a text takes grows with its length and no faster."""
    parsed = import_module("re._parser").parse(pattern.pattern, pattern.flags)
    assert parsed.getwidth()[1] <= LONGEST_LOOK


MARKS = "".join(f"[NAME_{number}x1]" for number in range(1, 1_500))
FENCES = "".join(f"<data x {number:08x}>\n" for number in range(1_000))
HOSTILE = {
    "particles": "Dear A" + " de la" * 3_000 + " x",
    "digits": "a" + "1" * 20_000 + "_",
    "empty lines": "thanks" + "\n" * 20_000 + "1",
    "own words": "Acme " * 4_000,
    "marks": MARKS,
    "fences": FENCES,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_text_is_answered_and_comes_back_whole(text: str) -> None:
    """A pattern that tries every way to read such a text never comes to an end."""
    inner = ScriptedChatModel(lambda request: str(request.messages[0]["content"]))
    chat = RedactingChatModel(inner, redaction_rules({}, own=("Acme",)))
    request = ChatRequest(
        messages=({"role": "user", "content": text},), model="house/m", private=("Zoe Ward",)
    )
    assert (await chat.complete(request)).text == text


def test_thousands_of_names_are_each_hidden_and_restored() -> None:
    letters = random.Random(7)
    names = ["".join(letters.choices("bcdefgklmnoprst", k=9)).title() for _ in range(5_000)]
    text = "we met " + " and ".join(names)
    hidden = Placeholders.for_texts([text], RedactionRules(), ["Zoe Ward"])
    hidden.learn(text)
    shown = hidden.hide(text)
    assert not [name for name in names if name in shown]
    assert hidden.restore(shown) == text


def test_titles_and_small_words_stay_readable() -> None:
    text = "Please tell Mrs Quandt. The order came, and Mr Brömse paid."
    hidden = Placeholders.for_texts([text], RedactionRules())
    hidden.learn(text)
    assert hidden.hide(text) == "Please tell Mrs [NAME_1]. The order came, and Mr [NAME_2] paid."


def test_initials_of_the_sender_are_hidden() -> None:
    hidden = Placeholders.for_texts([], RedactionRules(), ["Quentin Ashworth"])
    assert hidden.hide("Thank you\nQ.") == "Thank you\n[NAME_1]"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Telefon 602 / 115 / 417.", "602 / 115 / 417"),
        ("Teléfono 943 - 174 - 018.", "943 - 174 - 018"),
        ("carné de socia nº 17.431 a mi padre", "17.431"),
        ("abogada, col. n.º 4.221", "4.221"),
        ("specifický symbol 6231", "6231"),
        ("numer pracownika 0331-K", "0331-K"),
        ("mein Pass ist C7X2KL309", "C7X2KL309"),
        ("c'est au nom de karim belhadj. merci", "karim belhadj"),
        ("konto dla odbiorca marek wróbel", "marek wróbel"),
        ("my name is tom o'hara-lee", "tom o'hara-lee"),
    ],
)
def test_numbers_and_holders_behind_their_words_are_hidden(text: str, hidden: str) -> None:
    assert hidden not in hidden_in(text)


@pytest.mark.parametrize(
    "text", ["It costs 18.442 EUR.", "A desk of 602 x 115 mm.", "open from 9 - 17 - or 20"]
)
def test_amounts_and_measures_are_shown(text: str) -> None:
    assert hidden_in(text) == text
