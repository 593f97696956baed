"""An answer is sure only where ask and context agree, and the passage speaks of the same thing."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pytest

from deskhand.brain.answer_chance import AskLikeness
from deskhand.brain.ask_answers import (
    are_alike,
    asks_beside,
    asks_of,
    likenesses,
)
from deskhand.brain.ask_wordings import AskInMessage, all_wordings
from deskhand.brain.named_in_passage import leaves_out_code, says_it_of_another
from deskhand.brain.task_inputs import own_subject
from deskhand.language.asked_prices import asks_for_a_price
from deskhand.language.asks import Part, PartKind
from deskhand.model.tasks import Task, TaskKind

LAMPS = (
    "The Mira lamp comes in black, white and green and costs 79 EUR. The lamp Mira Plus has a"
    " sensor and costs 119 EUR. Both have a dimmer, as well as a clamp."
)


class Prediction(NamedTuple):
    best: str
    confidence: float
    label: str | None = None
    shares: Mapping[str, float] = MappingProxyType({})


class Known:
    def __init__(self, *predictions: Prediction) -> None:
        self._predictions = predictions

    def predict(self, texts: Sequence[str]) -> Sequence[Prediction]:
        return self._predictions[: len(texts)]


def test_an_ask_and_its_context_must_be_like_the_same_questions() -> None:
    agreeing = Known(Prediction("lamps", 0.7), Prediction("lamps", 0.9))
    assert are_alike(likenesses(agreeing, ["a", "b"]))
    differing = Known(Prediction("desks", 0.7), Prediction("lamps", 0.9))
    assert not are_alike(likenesses(differing, ["a", "b"]))


def test_what_is_likely_of_another_topic_or_asks_for_a_price_stands_beside_a_meeting() -> None:
    texts = ("Which of them suits you?", "Do you come to customers?", "Does the visit cost much?")
    asks = [Part(PartKind.ASK, text, 0, len(text)) for text in texts]
    topics = Known(
        Prediction("other", 0.5),
        Prediction("question", 0.9),
        Prediction("meeting", 0.9, "meeting"),
    )
    articles = Known(*[Prediction("hours", 0.2)] * 3)
    beside = asks_beside("meeting", asks, topics, articles)
    assert [ask.text for ask in beside] == list(texts[1:])


@pytest.mark.parametrize(
    ("ask", "is_price"),
    [
        ("Is the visit free of charge?", True),
        ("Co stojí taková návštěva?", True),
        ("Kostet der Termin etwas?", True),
        ("¿Cobran ustedes la visita?", True),
        ("La visite est-elle gratuite ?", True),
        ("Czy wizyta jest bezpłatna?", True),
        ("When would suit you?", False),
        ("Kdy by na mě měl někdo čas?", False),
        ("Was passt Ihnen?", False),
        ("¿Nos pueden atender el martes?", False),
        ("Are you free on Tuesday?", False),
    ],
)
def test_an_ask_for_a_price_is_known(ask: str, is_price: bool) -> None:
    assert asks_for_a_price(ask) is is_price


def test_an_ask_is_looked_for_after_all_that_may_say_what_it_is_about() -> None:
    first = Part(PartKind.ASK, "What does it cost?", 40, 58, "Our kettle is broken.")
    ask = Part(PartKind.ASK, "and for how long?", 60, 77, "What does it cost?")
    asked = AskInMessage(ask, "en", first, first.context, "Renting a kettle")
    assert all_wordings(asked) == [
        "and for how long?",
        "What does it cost? and for how long?",
        "What does it cost? and for how long?",
        "Our kettle is broken. and for how long?",
        "Renting a kettle. and for how long?",
        "Renting a kettle. Our kettle is broken. and for how long?",
        "Renting a kettle. What does it cost? and for how long?",
    ]
    assert len(all_wordings(asked)) == len(AskLikeness._fields)


def test_without_a_subject_the_ask_stands_without_it() -> None:
    ask = Part(PartKind.ASK, "What does it cost?", 0, 18)
    assert set(all_wordings(AskInMessage(ask, "en"))) == {"What does it cost?"}


@pytest.mark.parametrize(
    ("subject", "own"),
    [
        ("Renting a  kettle", "Renting a kettle"),
        ("Re: Your order is on its way", ""),
        ("AW: AW: Ihre Bestellung", ""),
        ("FW: FW: chairs again", ""),
        ("[shop] Re: lamps", "[shop] Re: lamps"),
        ("Regarding a return", "Regarding a return"),
        ("???", ""),
        (None, ""),
    ],
)
def test_the_subject_of_an_answer_is_an_earlier_messages(subject: str | None, own: str) -> None:
    task = Task(
        kind=TaskKind.DRAFT, stage="draft", text="?", inputs={"message": {"subject": subject}}
    )
    assert own_subject(task) == own


def test_asks_beside_a_meeting_are_of_another_topic_or_like_what_articles_answer() -> None:
    texts = ("Could we meet?", "Is that fine?", "Do you show lamps?", "Where is my order?")
    asks = [Part(PartKind.ASK, text, 0, len(text)) for text in texts]
    topics = Known(
        Prediction("meeting", 1.0, "meeting"),
        Prediction("meeting", 0.4),
        Prediction("meeting", 0.6),
        Prediction("order", 0.9, "order"),
    )
    articles = Known(
        Prediction("hours", 0.6),
        Prediction("hours", 0.3),
        Prediction("lamps", 0.6),
        Prediction("?delivery", 0.4),
    )
    beside = asks_beside("meeting", asks, topics, articles)
    assert [ask.text for ask in beside] == ["Do you show lamps?", "Where is my order?"]


def test_asks_are_read_in_the_language_they_are_written_in() -> None:
    text = "Please reply in German. What does the contract cost, and how do we get out of it again?"
    task = Task(kind=TaskKind.DRAFT, stage="draft", text=text, inputs={})
    assert len(asks_of(task, "de")) == len(asks_of(task, "en")) == 2


def test_what_is_like_an_unanswered_question_is_not_answered() -> None:
    assert not are_alike(likenesses(Known(Prediction("?lamps", 0.9)), ["a"]))
    mixed = Known(Prediction("?lamps", 0.6), Prediction("lamps", 0.9))
    assert not are_alike(likenesses(mixed, ["a", "b"]))


@pytest.mark.parametrize(
    ("ask", "of_another"),
    [
        ("Is the Mira Plus available in green?", True),
        ("is the Mira PLUS available in green as well?", True),
        ("Is the Mira available in green?", False),
        ("What does the Mira Plus cost?", False),
        ("Does the Mira have a dimmer?", False),
        ("Do you have green lamps?", False),
    ],
)
def test_a_passage_must_say_it_of_the_thing_that_is_named(ask: str, of_another: bool) -> None:
    assert says_it_of_another(ask, LAMPS) is of_another


LAMPS_IN_GERMAN = (
    "Die Tischlampe Mira ist in Schwarz und Grün erhältlich. Die Lampe Mira Plus hat zusätzlich"
    " einen Bewegungssensor. Die Halterung passt an jede Tischkante."
)


@pytest.mark.parametrize(
    ("ask", "of_another"),
    [
        ("Ist die Mira Plus in Grün erhältlich?", True),
        ("Ist die Mira in Grün erhältlich?", False),
        ("Hat die Mira Plus einen Bewegungssensor?", False),
        ("Passt die Halterung an eine dicke Tischkante?", False),
        ("Welche Lampe ist in Schwarz erhältlich?", False),
    ],
)
def test_a_german_noun_is_no_name(ask: str, of_another: bool) -> None:
    assert says_it_of_another(ask, LAMPS_IN_GERMAN, "de") is of_another


def test_a_day_is_no_thing_that_a_passage_may_speak_of_instead() -> None:
    passage = "In our showroom in Prague you see all chairs. It is open Monday to Friday."
    ask = "We would like to come to Prague, are you open on a Saturday?"
    assert not says_it_of_another(ask, passage)


@pytest.mark.parametrize(
    ("ask", "left_out"),
    [
        ("Does the lamp meet BS 5852, please?", True),
        ("Is the sensor IP-65?", True),
        ("Does it meet EN 60598-1?", False),
        ("Do you keep the lamp for under EUR 120?", False),
        ("What does the Mira Plus cost?", False),
    ],
)
def test_a_code_that_is_asked_about_stands_in_the_passage(ask: str, left_out: bool) -> None:
    assert leaves_out_code(ask, f"{LAMPS} It meets EN60598-1.") is left_out


def test_the_language_of_the_answer_is_no_question_for_an_article() -> None:
    text = "Kolik stojí lampa? Prosím o odpověď v angličtině, budu ji přeposílat řediteli."
    task = Task(kind=TaskKind.DRAFT, stage="draft", text=text, inputs={})
    assert [ask.text for ask in asks_of(task, "cs")] == ["Kolik stojí lampa?"]
