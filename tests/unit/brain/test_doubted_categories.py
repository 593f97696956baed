"""What a message is whose words leave its category open: an appointment if it names a time too, a
complaint if that is most of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.brain import doubted_categories
from deskhand.brain.doubted_categories import HOLDS_CONCERN, TIMED, category_for_appointments
from deskhand.brain.embedded import EmbeddedBrain
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.concerns import Concern
from deskhand.model.tasks import TaskKind
from tests.embedded_desk import Predicted, a_desk, a_task

PLANS = {
    "meeting": DeclaredPlan(
        steps=(("check_calendar", {"on": "{wish.on?}"}),), reply={"en": "How about Monday?"}
    ),
    "inquiry": DeclaredPlan(tell=()),
    "complaint": DeclaredPlan(hand_over=True, opening={"en": "We are sorry."}),
    "other": DeclaredPlan(hand_over=True),
}
CHOICES = ("inquiry", "meeting", "complaint", "other")
TIMED_WISH = "Could somebody show us the chairs next Tuesday at ten?"
UNTIMED_WISH = "Could somebody show us the chairs one of these days?"


class Doubts:
    """An intent model that is not sure of anything."""

    def __init__(self, best: str, confidence: float) -> None:
        self.prediction = Predicted(None, best, confidence)

    def predict(self, texts: Sequence[str]) -> list[Predicted]:
        return [self.prediction] * len(texts)


async def category_of(best: str, confidence: float, text: str) -> dict[str, Any]:
    desk = a_desk(
        plans=PLANS,
        intents=lambda: Doubts(best, confidence),
        always_asked=frozenset({"complaint"}),
    )
    answer = await EmbeddedBrain(desk).answer(a_task(TaskKind.CLASSIFY, text, choices=CHOICES))
    return answer.data


async def test_what_is_likely_an_appointment_and_names_a_time_is_one() -> None:
    classified = await category_of("meeting", 0.9, TIMED_WISH)
    assert (classified["category"], classified["confidence"]) == ("meeting", 0.9)
    assert classified["reason"] == TIMED


@pytest.mark.parametrize(
    ("best", "confidence", "text"),
    [
        ("meeting", 0.7, TIMED_WISH),
        ("meeting", 0.9, UNTIMED_WISH),
        ("inquiry", 0.9, TIMED_WISH),
    ],
)
async def test_one_sign_of_an_appointment_alone_is_too_little(
    best: str, confidence: float, text: str
) -> None:
    classified = await category_of(best, confidence, text)
    assert classified["category"] != "meeting"


async def test_a_desk_without_appointments_has_no_category_for_them() -> None:
    assert category_for_appointments(a_desk(plans={"other": PLANS["other"]}), ()) is None


async def test_a_message_in_doubt_that_complains_is_a_complaint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def complains(text: str, concern: Concern, least: float) -> str | None:
        return text if concern is Concern.COMPLAINT and "scratched" in text else None

    monkeypatch.setattr(doubted_categories, "concern_of_all", complains)
    classified = await category_of("inquiry", 0.7, "Three of five tops are scratched.")
    assert (classified["category"], classified["reason"]) == ("complaint", HOLDS_CONCERN)
    assert classified["confidence"] < 0.5
    calm = await category_of("inquiry", 0.7, "Which tops do you have?")
    assert calm["category"] == "inquiry"
