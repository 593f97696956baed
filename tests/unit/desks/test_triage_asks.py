"""Several asks in one ticket: each has its department, and none of them is passed over."""

from deskhand.model.ticket_state import AskStatus
from deskhand.tickets.handling import mark_asks
from tests.unit.desks.test_triage_flow import TEXT, Desk, desk, drafting

__all__ = ["desk", "drafting"]

TWO = "How do I enable two-factor authentication? And how do I get a copy of my last invoice?"


async def test_each_ask_is_given_to_its_department_and_searched_there(desk: Desk) -> None:
    story = await desk.work(TWO)
    asks = story["outputs"]["asks"]
    assert [ask["ask"][:12] for ask in asks] == ["How do I ena", "And how do I"]
    assert asks[1]["group"] == "billing"
    [task] = [task for task in desk.said.asked if task.kind == "draft"]
    searched = {task.knowledge_category, *task.also_categories}
    assert {ask["ticket_type"] for ask in asks} <= searched


async def test_a_reply_that_passes_over_an_ask_does_not_leave_by_itself(desk: Desk) -> None:
    story = await desk.work(TWO)
    result = story["outputs"]["triage_result"]
    assert result["recommended_action"] == "route_specialist"
    assert "1 of 2 asks have no answer in it" in result["reasoning"]
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert (ticket.state, [ask.status for ask in ticket.asks]) == ("active", ["open", "open"])


async def test_a_ticket_stays_active_until_its_last_ask_is_settled(drafting: Desk) -> None:
    story = await drafting.work(TWO)
    ticket_id = story["outputs"]["ticket"]["ticket_id"]
    story = await drafting.approve(story["run"])
    assert story["status"] == "sent"
    assert story["outputs"]["file"]["open_asks"] == 1
    ticket = await drafting.tickets.find(ticket_id)
    assert [ask.status for ask in ticket.asks] == ["answered", "open"]
    assert ticket.state == "active"
    ticket = await mark_asks(drafting.tickets, ticket_id, AskStatus.DEFERRED, "eve", ["2"])
    assert [ask.status for ask in ticket.asks] == ["answered", "deferred"]


async def test_a_reply_that_answers_both_solves_the_ticket(desk: Desk) -> None:
    invoice = "You find a copy of every invoice under Billing, Invoices: press Download."
    desk.said.draft["text"] = f"{TEXT}\n\n{invoice}"
    story = await desk.work(TWO)
    assert story["outputs"]["triage_result"]["recommended_action"] == "auto_respond"
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert ticket.state == "solved"
    assert [ask.status for ask in ticket.asks] == ["answered", "answered"]


async def test_what_goes_to_a_person_is_escalated_with_all_its_asks(desk: Desk) -> None:
    desk.said.issue = "security_incident"
    words = "Somebody broke into our admin account! Can you lock it? Who was it?"
    story = await desk.work(words, plan="free")
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert ticket.state == "open"
    assert {ask.status for ask in ticket.asks} == {"escalated"}
    assert len(ticket.asks) == 2


async def test_a_promise_defers_and_does_not_solve(drafting: Desk) -> None:
    drafting.said.draft = {
        "text": "Thank you for your message. A colleague will get back to you shortly.",
        "language": "en",
        "hand_over": True,
        "reason": "no article answers this",
    }
    story = await drafting.work("Could you explain the difference between your two plans?")
    story = await drafting.approve(story["run"])
    ticket = await drafting.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert ticket.state == "active"
    assert [ask.status for ask in ticket.asks] == ["deferred"]


async def test_a_report_is_one_ask_as_a_whole_and_thanks_are_none(desk: Desk) -> None:
    desk.said.draft = {
        "text": "A colleague will look at it.",
        "language": "en",
        "hand_over": True,
        "reason": "no article answers this",
    }
    story = await desk.work("The export to Excel stops half way since this morning.")
    ticket = await desk.tickets.find(story["outputs"]["ticket"]["ticket_id"])
    assert [ask.text for ask in ticket.asks] == [
        "The export to Excel stops half way since this morning."
    ]
    story = await desk.work("Thank you so much, your team is amazing!", customer_id="CUST-9")
    assert story["outputs"]["asks"] == []


async def test_a_wish_beside_a_question_is_kept_too(desk: Desk) -> None:
    story = await desk.work(
        "How do I enable two-factor authentication? I would like to have my money for May back."
    )
    asks = [ask["ask"] for ask in story["outputs"]["asks"]]
    assert asks[1] == "I would like to have my money for May back."
    assert story["outputs"]["triage_result"]["recommended_action"] == "route_specialist"
