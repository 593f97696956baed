"""A message is an inquiry if articles surely answer all that it asks, unless its words say more."""

from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.brain.embedded import EmbeddedBrain
from deskhand.brain.questions_for_articles import ANSWERED, category_for_articles, is_left_open
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.model.tasks import TaskKind
from tests.embedded_desk import Predicted, a_desk, a_task, hit

PLANS = {
    "meeting": DeclaredPlan(reply={"en": "How about {results.check_calendar.times}?"}),
    "inquiry": DeclaredPlan(tell=()),
    "complaint": DeclaredPlan(hand_over=True, opening={"en": "We are sorry."}),
    "follow_up": DeclaredPlan(hand_over=True, opening={"en": "Thank you for coming back."}),
    "spam": DeclaredPlan(hand_over=True),
    "other": DeclaredPlan(hand_over=True),
}
CHOICES = ("inquiry", "meeting", "complaint", "follow_up", "spam", "other")
ASKS = "My husband says oak is oak. Within how many days may I send it back?"


class Says:
    """An intent model that says one thing of every text."""

    def __init__(self, label: str | None, best: str) -> None:
        self.prediction = Predicted(label, best, 0.7)

    def predict(self, texts: Sequence[str]) -> list[Predicted]:
        return [self.prediction] * len(texts)


async def category_of(label: str | None, best: str, text: str = ASKS, **hit_: Any) -> Any:
    desk = a_desk(
        hit(**hit_),
        plans=PLANS,
        intents=lambda: Says(label, best),
        always_asked=frozenset({"complaint"}),
    )
    answer = await EmbeddedBrain(desk).answer(a_task(TaskKind.CLASSIFY, text, choices=CHOICES))
    return answer.data["category"], answer.data.get("reason")


@pytest.mark.parametrize(("label", "best"), [(None, "follow_up"), (None, "inquiry")])
async def test_what_articles_answer_is_an_inquiry_where_words_are_in_doubt(
    label: str | None, best: str
) -> None:
    assert await category_of(label, best) == ("inquiry", ANSWERED)


async def test_the_articles_decide_about_what_is_called_something_else() -> None:
    assert await category_of("other", "other") == ("inquiry", ANSWERED)


@pytest.mark.parametrize("best", ["complaint", "spam", "meeting"])
async def test_nothing_that_a_person_must_see_becomes_an_inquiry(best: str) -> None:
    category, _ = await category_of(None, best)
    assert category != "inquiry"


async def test_a_sure_category_stays() -> None:
    assert (await category_of("follow_up", "follow_up"))[0] == "follow_up"


async def test_an_unsure_answer_decides_nothing() -> None:
    assert (await category_of("other", "other", similarity=0.2))[0] == "other"


async def test_a_message_that_asks_nothing_is_no_inquiry() -> None:
    assert (await category_of("other", "other", text="The parcel came, it is fine."))[0] == "other"


def test_a_desk_without_plans_has_no_category_for_articles() -> None:
    desk = a_desk(plans=None)
    assert category_for_articles(desk, CHOICES) is None
    assert category_for_articles(a_desk(plans=PLANS), ("spam", "other")) is None
    assert not is_left_open(desk, {"abstained": True, "best": "inquiry"})
