"""A message that is too long for the models to read as a whole is a person's, and costs little."""

from typing import Any

import pytest

from deskhand.agents.replying import review_reasons as reasons
from deskhand.brain.ask_answers import answers_to, looked_up
from deskhand.brain.embedded import EmbeddedBrain
from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.language.asks import Part, PartKind
from deskhand.language.clean_text import LONGEST_READ, TOO_LONG, is_too_long
from deskhand.language.concerns import FoundConcern
from deskhand.model.envelope import Envelope
from deskhand.model.tasks import Task, TaskKind

DOCUMENT = "We would like to rent twelve desks from May on. " * 80
QUESTION = "Do you deliver to Brno?"


class NeverAsked:
    """Models that a test expects to be left alone."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked")


@pytest.mark.parametrize("text", [DOCUMENT, "=?c0_1?q?a?= " * 200, "1 2-3.4/5 " * 290])
def test_what_the_models_would_not_read_whole_is_too_long(text: str) -> None:
    assert is_too_long(text)


@pytest.mark.parametrize("text", ["", QUESTION, DOCUMENT[: LONGEST_READ - 1], "Ü" * 2_000])
def test_an_ordinary_letter_is_not(text: str) -> None:
    assert not is_too_long(text)


async def test_the_embedded_brain_leaves_it_to_a_person() -> None:
    model = NeverAsked()
    desk = EmbeddedDesk(
        languages=("en",),
        time_zone="UTC",
        embedder=lambda: model,
        intents=lambda: model,
        questions=lambda: model,
        by_names=lambda names: model,
        knowledge=model,
    )
    brain = EmbeddedBrain(desk)
    choices = ("inquiry", "complaint", "other")
    asked = Task(kind=TaskKind.CLASSIFY, stage="classify", text=DOCUMENT, choices=choices)
    found = (await brain.answer(asked)).data
    assert (found["category"], found["confidence"]) == ("other", 0.0)
    draft = Task(kind=TaskKind.DRAFT, stage="draft", text=DOCUMENT)
    written = (await brain.answer(draft)).data
    assert written["hand_over"] is True
    assert written["reason"] == TOO_LONG


class FindsNothing:
    """A search without hits that counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def search(self, text: str, **more: Any) -> list[Any]:
        self.asked.append(text)
        return []


@pytest.mark.parametrize(
    ("number", "length", "most", "listed"), [(2, 20, 2, 2), (40, 20, 5, 6), (4, 360, 2, 4)]
)
async def test_asks_beyond_what_is_looked_up_stay_open(
    number: int, length: int, most: int, listed: int
) -> None:
    """Each is looked up at a price, and none may be passed over without a word."""
    knowledge = FindsNothing()
    model: Any = NeverAsked()
    desk = EmbeddedDesk(
        languages=("en",),
        time_zone="UTC",
        embedder=lambda: model,
        intents=lambda: model,
        questions=lambda: model,
        by_names=lambda names: model,
        knowledge=knowledge,  # type: ignore[arg-type]
    )
    asks = [f"Is {place} red? ".ljust(length, "x") for place in range(number)]
    parts = [Part(PartKind.ASK, text, 0, length) for text in asks]
    answers = await answers_to(desk, model, None, parts, "en")
    assert looked_up(parts) == len(set(knowledge.asked)) == most
    assert [answer.is_sure for answer in answers] == [False] * listed


async def concerns_of(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Why a person must look, and the texts that were read for it."""
    read: list[str] = []

    def concerns_in(text: str, wanted: object, *, is_turn: bool = False) -> list[FoundConcern]:
        read.append(text)
        return []

    monkeypatch.setattr(reasons, "concerns_in", concerns_in)
    found = await reasons._concerns(Envelope(raw_input=text), ["complaint"])
    return [why for _, why in found], read


async def test_concerns_are_not_looked_for_in_half_of_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await concerns_of(DOCUMENT, monkeypatch) == ([TOO_LONG], [])
    assert await concerns_of(QUESTION, monkeypatch) == ([], [QUESTION])


async def test_a_long_thread_below_a_short_reply_is_not_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quoted = "\n".join(f"> {DOCUMENT[:70]}" for _ in range(80))
    mail = f"{QUESTION}\n\nOn 1 May 2026 Ann wrote:\n{quoted}"
    why, [read] = await concerns_of(mail, monkeypatch)
    assert why == []
    assert QUESTION in read
    assert len(read) < 100
