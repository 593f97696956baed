"""Messages that join a ticket of the triage desk: by a model, from other channels, after people."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from deskhand.errors import ModelAnswerInvalid
from deskhand.model.tasks import Task
from tests.unit.desks.test_triage_flow import Desk, Said, opened
from tests.unit.desks.test_triage_flow import desk as desk
from tests.unit.desks.test_triage_flow import drafting as drafting

ASKED = "The export of my board to PDF stays empty."


@dataclass
class Matching(Said):
    """A brain that also says which ticket a message continues."""

    chosen: str | None = None
    chance: float = 0.9
    broken: bool = False

    def answer(self, task: Task) -> Mapping[str, Any]:
        if task.kind == "match":
            self.asked.append(task)
            if self.broken:
                raise ModelAnswerInvalid("no answer")
            return {"match": self.chosen, "confidence": self.chance}
        if task.kind == "summarise":
            self.asked.append(task)
            return {"text": "An empty export."}
        return super().answer(task)


@pytest.fixture
async def asking(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Desk, Matching]]:
    said = Matching()
    async for made in opened(said, monkeypatch, "draft"):
        yield made, said


async def ticket_of(made: Desk, body: str, **fields: Any) -> str:
    return str((await made.work(body, **fields))["outputs"]["ticket"]["ticket_id"])


async def test_a_model_is_asked_about_the_same_candidates_and_its_choice_counts(
    asking: tuple[Desk, Matching],
) -> None:
    desk, said = asking
    first = await ticket_of(desk, ASKED)
    said.chosen = await ticket_of(desk, "Please send last month's invoice again.")
    assert first != said.chosen

    story = await desk.work("Could somebody look into the other thing as well?")
    task = next(task for task in said.asked[::-1] if task.kind == "match")
    assert sorted(task.choices) == sorted([first, said.chosen])
    told = {one["id"]: one["summary"] for one in task.inputs["candidates"]}
    assert told[first] == ASKED
    found = story["outputs"]["ticket"]["matching"]
    assert found["matched_ticket_id"] == said.chosen
    assert (found["confidence"], found["evidence"]) == ("high", "meaning")
    (step,) = [step for step in story["steps"] if step["name"] == "match"]
    assert step["answered"]["brain"] == "scripted"


async def test_a_models_doubt_opens_a_ticket(asking: tuple[Desk, Matching]) -> None:
    desk, said = asking
    said.chosen = await ticket_of(desk, ASKED)
    said.chance = 0.3
    story = await desk.work("Something else: where do I find my team?")
    assert story["outputs"]["ticket"]["ticket_id"] != said.chosen
    assert story["outputs"]["ticket"]["is_new"] is True


async def test_harder_evidence_and_other_customers_are_not_the_models_to_decide(
    asking: tuple[Desk, Matching],
) -> None:
    desk, said = asking
    first = await ticket_of(desk, ASKED)
    said.asked.clear()
    assert await ticket_of(desk, f"About {first}: any news?") == first
    said.chosen = first
    other = {"customer_id": "CUST-002", "from": "bob@example.com"}
    assert await ticket_of(desk, "The very same export stays empty.", **other) != first
    assert "match" not in [task.kind for task in said.asked]


async def test_without_an_answer_of_the_model_the_desks_own_evidence_decides(
    asking: tuple[Desk, Matching],
) -> None:
    desk, said = asking
    first = await ticket_of(desk, ASKED)
    said.broken = True
    assert await ticket_of(desk, "The PDF export of my board is still empty, as I wrote.") == (
        first
    )


async def test_a_long_ticket_is_summarised_by_the_model_once(asking: tuple[Desk, Matching]) -> None:
    desk, said = asking
    first = await ticket_of(desk, ASKED)
    for number in range(3):
        await desk.work(f"{first}: it happened again, for the {number + 2}. time.")
    said.asked.clear()
    said.chosen = None
    await desk.work("Where do I change the colour of a card?")
    kinds = [task.kind for task in said.asked if task.kind in ("match", "summarise")]
    assert kinds == ["summarise", "match"]
    (told,) = said.asked[1].inputs["candidates"]
    assert told["summary"] == "An empty export."


async def test_what_colleagues_note_reaches_no_model_and_no_customer(
    asking: tuple[Desk, Matching],
) -> None:
    desk, said = asking
    first = await ticket_of(desk, ASKED)
    await desk.tickets.note(first, "He is a swordfish.", "eve")
    await desk.tickets.tag(first, "eve", ["swordfish"])
    await desk.tickets.assign(first, "eve", to="bob", why="swordfish")
    said.asked.clear()
    said.chosen = first
    for number in range(3):
        story = await desk.work(f"{first}: it is empty again, for the {number + 2}. time.")
    await desk.work("Could somebody look into the other thing as well?")
    kinds = {str(task.kind) for task in said.asked}
    assert kinds >= {"match", "summarise", "classify", "draft"}
    assert "swordfish" not in repr(said.asked)
    assert "swordfish" not in repr(story["outputs"])


async def test_a_message_from_another_channel_makes_the_waiting_draft_stale(
    drafting: Desk,
) -> None:
    first = await drafting.work("How do I enable two-factor authentication?")
    (review,) = await drafting.waiting(first["run"])
    ticket_id = first["outputs"]["ticket"]["ticket_id"]
    second = await drafting.work(
        f"{ticket_id}: and where is the code to scan?", channel="chat", **{"from": "ann"}
    )

    assert await drafting.waiting(first["run"]) == []
    assert (await drafting.lane.store.review(review.id)).state == "stale"
    run = await drafting.lane.store.run(first["run"])
    assert (run.status, run.successor) == ("done", second["run"])
    drafted = next(task for task in drafting.said.asked[::-1] if task.kind == "draft")
    assert re.findall("two-factor|code to scan", drafted.text) == ["two-factor", "code to scan"]
    assert len(await drafting.waiting(second["run"])) == 1


async def test_somebody_unproven_makes_no_draft_stale(drafting: Desk) -> None:
    first = await drafting.work("How do I enable two-factor authentication?")
    ticket_id = first["outputs"]["ticket"]["ticket_id"]
    stranger = {"customer_id": None, "from": "eve@example.com"}
    second = await drafting.work(f"{ticket_id}: and now?", plan=None, **stranger)
    assert second["outputs"]["ticket"]["ticket_id"] != ticket_id
    assert len(await drafting.waiting(first["run"])) == 1


async def test_follow_ups_of_what_a_person_has_join_its_one_hand_over(desk: Desk) -> None:
    desk.said.issue = "security_incident"
    first = await desk.work("Somebody broke into our admin account!")
    ticket_id = first["outputs"]["ticket"]["ticket_id"]
    (review,) = await desk.waiting(first["run"])
    second = await desk.work(f"{ticket_id}: our admin account was hacked, please hurry!")

    assert second["outputs"]["ticket"]["ticket_id"] == ticket_id
    assert second["outputs"]["triage_result"]["recommended_action"] == "escalate_human"
    assert second["status"] == "done"
    assert second["outputs"]["file"]["hand_over"] == review.id
    assert await desk.waiting(second["run"]) == []
    assert [one.id for one in await desk.waiting(first["run"])] == [review.id]
    noted = await desk.lane.store.events(run_id=first["run"])
    assert any(second["run"] in str(event.payload) for event in noted)
    assert (await desk.tickets.find(ticket_id)).state == "open"
