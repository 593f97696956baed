"""What the parts of a message say about the things that it names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.message_matters import matters_in, wishes_in
from deskhand.brain.named_wishes import is_taken_back, must_ask_first
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.embed import shared_embedder
from deskhand.language.slots import SlotMatch
from deskhand.language.told_parts import says_only_which, tells_how_it_came
from deskhand.model.tasks import Task, TaskKind

NAMES = ("O-10018", "O-10019")
CANCEL = DeclaredPlan(steps=(("cancel_order", {}),), labels={"cancel_order": {"en": "cancel"}})


@dataclass
class Said:
    """What a model says that knows two words; a number alone it takes for a question."""

    text: str

    @property
    def best(self) -> str:
        return "cancel" if "cancel" in self.text.casefold() else "status"

    @property
    def label(self) -> str | None:
        is_plain = "ancel" in self.text or re.fullmatch(r"\W*order O-\d+\W*", self.text)
        return self.best if is_plain else None

    @property
    def confidence(self) -> float:
        return 0.9

    @property
    def shares(self) -> Mapping[str, float]:
        return {self.best: 0.9}


class Model:
    def predict(self, texts: Sequence[str]) -> Sequence[Said]:
        return [Said(text) for text in texts]


@pytest.mark.parametrize("words", ["order O-10018.", "číslo O-10018", "Bestellung 10018", "O-1"])
def test_words_that_only_say_which_thing_is_meant(words: str) -> None:
    assert says_only_which(words)


@pytest.mark.parametrize("words", ["cancel O-10018", "O-10018 status", "kde je O-10018", "lost"])
def test_words_that_say_more(words: str) -> None:
    assert not says_only_which(words)


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        ("Hi, so I bought a lamp (O-10018)", True),
        ("Dobrý den, objednala jsem lampu", True),
        ("Hallo, ich habe eine Lampe bestellt", False),
        ("Where is the lamp that I bought?", False),
    ],
)
def test_words_that_tell_how_something_came(words: str, tells: bool) -> None:
    assert tells_how_it_came(words) is tells


def test_a_number_in_a_clause_of_its_own_is_no_wish() -> None:
    wishes = wishes_in(Model(), "My husband has it, order O-10018. Please cancel it.", frozenset())
    assert [wish.intent for wish in wishes] == ["cancel"]


def test_how_something_was_bought_is_no_second_wish() -> None:
    text = "I bought a lamp, O-10018, and cancel O-10019"
    places = [(text.find(name), text.find(name) + len(name), name) for name in NAMES]
    named = [SlotMatch(name, start, end, name, 0.9) for start, end, name in places]
    wishes = wishes_in(Model(), text, frozenset(), named)
    assert {wish.intent for wish in wishes} == {"cancel"}


@pytest.mark.parametrize(
    ("newest", "also_answers", "is_asked"),
    [
        ("where is it?", ["run_1"], True),
        ("please cancel it", ["run_1"], False),
        ("where is it?", [], False),
    ],
)
def test_a_change_that_only_an_earlier_message_wanted_is_asked_about(
    newest: str, also_answers: list[str], is_asked: bool
) -> None:
    desk = EmbeddedDesk(shared_embedder, plans={"cancel": CANCEL})
    inputs = {"message": {"body": newest}, "metadata": {"also_answers": also_answers}}
    task = Task(kind=TaskKind.DECIDE, stage="decide", text=f"cancel O-1\n\n{newest}", inputs=inputs)
    assert must_ask_first(desk, Model(), task, "cancel") is is_asked
    assert must_ask_first(desk, Model(), task, "status") is False


@pytest.mark.parametrize(
    "text",
    [
        "Please cancel O-10002. Actually no, leave it as it is.",
        "Stornieren Sie O-10002 bitte, ach halt, doch nicht",
        "Zrušte O-10002. Nebo počkejte ne, nechte to být.",
    ],
)
def test_a_wish_that_is_taken_back_at_once(text: str) -> None:
    assert is_taken_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never mind my last message, cancel O-10002",
        "Please cancel O-10002, I do not need it",
        "Bitte O-10002 stornieren, danke",
        "Prosím zrušte O-10002, děkuji",
    ],
)
def test_a_wish_that_stands(text: str) -> None:
    assert not is_taken_back(text)


@pytest.mark.parametrize(
    ("wish", "orders"),
    [
        ("Cancel the second", 0),
        ("Cancel the second, that is all", 0),
        ("Cancel the green one, they came late", 0),
        ("Canceln Sie bitte die zweite", 0),
        ("Canceln Sie bitte die grüne", 0),
        ("Cancel tu, která je větší", 0),
        ("Cancel los zapatos", 0),
        ("Cancel both", 2),
        ("Cancel them all", 2),
        ("Canceln Sie bitte beide", 2),
        ("Canceln Sie sie", 2),
        ("Cancel obě", 2),
    ],
)
def test_a_wish_about_one_of_two_is_no_wish_for_both(wish: str, orders: int) -> None:
    text = f"There are O-10018 and O-10019. {wish}."
    places = [(text.find(name), text.find(name) + len(name), name) for name in NAMES]
    named = [SlotMatch(name, start, end, name, 0.9) for start, end, name in places]
    wishes = wishes_in(Model(), text, frozenset(), named)
    plans = {"cancel": CANCEL.changed(needs=("order",))}
    assert len(matters_in(text, wishes, named, plans, frozenset({"order"}))) == orders
