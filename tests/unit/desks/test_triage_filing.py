"""What becomes of a ticket when an answer has left, while people work on the same ticket."""

from typing import Any

import pytest

from deskhand.model.run import Decision, Verdict
from deskhand.model.ticket_state import AskStatus, TicketState
from tests.unit.desks.test_triage_flow import Desk
from tests.unit.desks.test_triage_flow import desk as desk
from tests.unit.desks.test_triage_flow import drafting as drafting

BREAK_IN = "Somebody broke into our admin account and changed the settings!"
QUESTION = "How do I enable two-factor authentication?"
CALM = f"Thank you so much, you are great! {QUESTION}"
INVOICE = "Please send invoice INV-20931 again."
KEPT = {"ticket_persisted": False, "messages_saved": 0, "redis_keys_deleted": 0}


def ticket_in(story: dict[str, Any]) -> str:
    return str(story["outputs"]["ticket"]["ticket_id"])


async def about_invoice(desk: Desk, number: str = "INV-20931") -> dict[str, Any]:
    """The run of a question that another article answers."""
    usual = desk.said.draft
    desk.said.draft = {**usual, "sources": [{"id": "kb_005", "quote": usual["text"]}]}
    story = await desk.work(f"Please send invoice {number} again.")
    desk.said.draft = usual
    return story


async def broken_in(desk: Desk, conversation: str) -> tuple[str, str]:
    """The ticket and the run of a break-in, after which the brain reads ordinary questions."""
    desk.said.issue = "security_incident"
    story = await desk.work(BREAK_IN, conversation=conversation)
    desk.said.issue = "how_to"
    return ticket_in(story), story["run"]


async def test_an_automatic_answer_leaves_a_persons_ticket_to_that_person(desk: Desk) -> None:
    ticket_id, escalated = await broken_in(desk, "one")
    story = await desk.work(CALM, conversation="one")

    assert (story["status"], ticket_in(story)) == ("sent", ticket_id)
    assert story["outputs"]["supervisor_decision"]["urgency"] == "medium"
    ticket = await desk.tickets.find(ticket_id)
    assert (ticket.state, ticket.urgency) == ("open", "critical")
    assert (ticket.category, ticket.group) == ("security_incident", "technical")
    assert [ask.status for ask in ticket.asks] == ["escalated", "answered"]
    assert len(await desk.waiting(escalated)) == 1
    filed = {"ticket_persisted": True, "messages_saved": 2, "redis_keys_deleted": 0}
    assert story["outputs"]["file"] == filed


async def test_a_ticket_that_a_person_took_stays_open_after_his_hand_over(desk: Desk) -> None:
    ticket_id, escalated = await broken_in(desk, "one")
    (review,) = await desk.waiting(escalated)
    verdict = Verdict(Decision.CLOSE, "eve", review.version, review.payload_hash, note="called")
    await desk.lane.store.decide(review.id, verdict)
    story = await desk.work(CALM, conversation="one")
    assert story["status"] == "sent"
    ticket = await desk.tickets.find(ticket_id)
    assert (ticket.state, ticket.urgency) == ("open", "critical")


async def test_a_more_urgent_message_still_raises_a_persons_ticket(desk: Desk) -> None:
    first = await desk.work(QUESTION, conversation="one")
    ticket_id = ticket_in(first)
    await desk.tickets.set_state(ticket_id, TicketState.OPEN, "eve")
    assert (await broken_in(desk, "one"))[0] == ticket_id
    ticket = await desk.tickets.find(ticket_id)
    assert (ticket.state, ticket.urgency, ticket.messages) == ("open", "critical", 2)


async def test_the_desk_solves_again_what_a_person_had_solved(desk: Desk) -> None:
    ticket_id, escalated = await broken_in(desk, "one")
    (review,) = await desk.waiting(escalated)
    verdict = Verdict(Decision.CLOSE, "eve", review.version, review.payload_hash, note="called")
    await desk.lane.store.decide(review.id, verdict)
    await desk.tickets.set_state(ticket_id, TicketState.SOLVED, "eve")
    await desk.tickets.set_state(ticket_id, TicketState.ACTIVE, "eve", "the customer called again")
    story = await desk.work(CALM, conversation="one")
    assert (story["status"], ticket_in(story)) == ("sent", ticket_id)
    ticket = await desk.tickets.find(ticket_id)
    assert (ticket.state, ticket.urgency) == ("solved", "medium")


async def test_what_a_person_has_by_a_merge_is_not_solved_by_an_answer(drafting: Desk) -> None:
    escalated, _ = await broken_in(drafting, "one")
    story = await drafting.work(QUESTION)
    ticket_id = ticket_in(story)
    await drafting.tickets.merge(escalated, ticket_id, "eve")
    story = await drafting.approve(story["run"])
    assert story["status"] == "sent"
    ticket = await drafting.tickets.find(ticket_id)
    assert ticket.state == "active"
    assert [ask.status for ask in ticket.asks] == ["escalated", "answered"]
    assert story["outputs"]["file"] == {**KEPT, "waits_for_person": True}


@pytest.mark.parametrize("times", [1, 2])
async def test_an_answer_to_a_ticket_that_was_merged_settles_its_asks_there(
    drafting: Desk, times: int
) -> None:
    story = await drafting.work(QUESTION)
    leads = [ticket_in(story)]
    for number in range(times):
        leads.append(ticket_in(await about_invoice(drafting, f"INV-2093{number}")))
        await drafting.tickets.merge(leads[-2], leads[-1], "eve")
    story = await drafting.approve(story["run"])

    assert story["status"] == "sent"
    assert await drafting.waiting(story["run"]) == []
    assert story["outputs"]["file"] == {**KEPT, "open_asks": times}
    merged, target = [await drafting.tickets.find(name) for name in (leads[0], leads[-1])]
    assert (merged.state, merged.merged_into, merged.asks) == ("merged", leads[1], ())
    assert target.state == "active"
    by_run = {ask.run: ask.status for ask in target.asks}
    assert by_run.pop(story["run"]) == "answered"
    assert set(by_run.values()) == {"open"}


async def test_the_last_answer_solves_the_ticket_that_all_were_merged_into(drafting: Desk) -> None:
    story = await drafting.work(QUESTION)
    other = await about_invoice(drafting)
    await drafting.tickets.merge(ticket_in(story), ticket_in(other), "eve")
    await drafting.approve(other["run"])
    assert (await drafting.tickets.find(ticket_in(other))).state == "active"
    story = await drafting.approve(story["run"])
    assert (await drafting.tickets.find(ticket_in(other))).state == "solved"
    assert story["outputs"]["file"]["messages_saved"] == 2


@pytest.mark.parametrize("state", [TicketState.CLOSED, TicketState.SOLVED])
async def test_an_answer_leaves_a_ticket_as_a_person_ended_it(
    drafting: Desk, state: TicketState
) -> None:
    story = await drafting.work(QUESTION)
    ticket_id = ticket_in(story)
    ended = await drafting.tickets.set_state(ticket_id, state, "eve", "", AskStatus.DEFERRED)
    story = await drafting.approve(story["run"])

    assert story["status"] == "sent"
    assert await drafting.waiting(story["run"]) == []
    ticket = await drafting.tickets.find(ticket_id)
    assert (ticket.state, ticket.solved_at) == (state, ended.solved_at)
    assert [(ask.status, ask.by) for ask in ticket.asks] == [("deferred", "eve")]
    filed = {"ticket_persisted": True, "messages_saved": 1, "redis_keys_deleted": 0}
    assert story["outputs"]["file"] == filed


async def test_the_answer_to_a_message_that_was_split_off_solves_the_new_ticket(
    drafting: Desk,
) -> None:
    first = await drafting.work(INVOICE, conversation="one")
    story = await drafting.work(CALM, conversation="one")
    old_id = ticket_in(first)
    assert ticket_in(story) == old_id
    new_id = (await drafting.tickets.split(old_id, [story["run"]], "eve")).id
    story = await drafting.approve(story["run"])

    assert story["status"] == "sent"
    new, old = [await drafting.tickets.find(name) for name in (new_id, old_id)]
    assert (new.state, [ask.status for ask in new.asks]) == ("solved", ["answered"])
    assert (old.state, [ask.status for ask in old.asks]) == ("active", ["open"])
    assert story["outputs"]["file"]["messages_saved"] == 1
