"""Conversations with the orders desk as it ships, by its embedded brain: what customers say after
a refusal, beside a question, and once something is done."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from deskhand import wiring
from deskhand.engine.story import Document, read_records, story_of
from deskhand.evals.lane import Lane, LaneClock
from deskhand.mail.message_files import message_from
from deskhand.wiring.sandbox import Sandbox


class Conversation:
    """One customer in a chat with the desk; his customer id is None where nobody vouches."""

    def __init__(self, lane: Lane, customer: str | None) -> None:
        self._lane = lane
        self._customer = customer
        self._said = 0

    async def say(self, text: str) -> Document:
        self._said += 1
        fields: dict[str, Any] = {
            "channel": "chat",
            "from": "visitor@example.com",
            "id": f"message-{self._said}",
            "conversation": "a chat",
            "body": text,
        }
        if self._customer is not None:
            fields["customer_id"] = self._customer
        run_id = await self._lane.accept(message_from(fields, vouched_by="a test"))
        await self._lane.work(run_id)
        return story_of(await read_records(self._lane.store, run_id))


def asked_for(story: Document) -> str | None:
    return (story["question"] or {}).get("param")


def said(story: Document) -> str:
    return str((story["reply"] or {}).get("text") or "")


def done(story: Document) -> list[tuple[str, dict[str, Any]]]:
    """The calls that were carried out, with the arguments that have a value."""
    made: list[tuple[str, dict[str, Any]]] = []
    for call in story["tool_calls"]:
        arguments = call["arguments"].items()
        if call["ok"]:
            made.append((call["tool"], {name: value for name, value in arguments if value}))
    return made


@pytest.fixture
async def shop() -> AsyncIterator[Sandbox]:
    loaded = wiring.read_desk("orders")
    spec = loaded.spec.model_copy(update={"mode": "auto"})
    async with wiring.open_sandbox(replace(loaded, spec=spec)) as sandbox:
        yield sandbox


def talk(shop: Sandbox, customer: str | None) -> Conversation:
    return Conversation(shop.lane(LaneClock(time.time()), lambda *call: None), customer)


async def test_too_large_an_amount_is_asked_for_again(shop: Sandbox) -> None:
    customer = talk(shop, "C-2004")
    first = await customer.say("Please refund 90 EUR of O-10004, the sole came off")
    assert asked_for(first) == "amount"
    assert done(first) == []
    second = await customer.say("all right, 30 euros then")
    assert done(second) == [
        (
            "request_refund",
            {"order": "O-10004", "amount": "30 EUR", "reason": "the sole came off"},
        )
    ]


async def test_an_order_that_is_not_ones_own_must_be_proven(shop: Sandbox) -> None:
    visitor = talk(shop, None)
    assert asked_for(await visitor.say("Where is O-10018?")) == "proof"
    why = await visitor.say("why do you need that?")
    assert asked_for(why) == "proof"
    assert "belongs to" in said(why)
    declined = await visitor.say("no, forget it")
    assert "colleague" in said(declined)
    assert declined["question"] is None


async def test_somebody_elses_and_no_order_are_asked_about_alike(shop: Sandbox) -> None:
    theirs = await talk(shop, "C-2003").say("Where is O-10001?")
    nobodys = await talk(shop, "C-2003").say("Where is O-19999?")
    assert said(theirs) == said(nobodys)
    assert asked_for(theirs) == asked_for(nobodys) == "proof"


async def test_another_number_is_looked_up_at_once(shop: Sandbox) -> None:
    customer = talk(shop, "C-2003")
    assert asked_for(await customer.say("Where is O-10081?")) == "proof"
    second = await customer.say("O-10018")
    assert done(second) == [("check_order_status", {"order": "O-10018"})]


async def test_an_order_that_has_not_left_is_cancelled_once_the_customer_agrees(
    shop: Sandbox,
) -> None:
    customer = talk(shop, "C-2001")
    first = await customer.say("Please refund O-10001, a mug is broken")
    assert asked_for(first) == "confirm"
    assert "cancelled" in said(first)
    second = await customer.say("yes please")
    assert done(second) == [("cancel_order", {"order": "O-10001"})]
    assert "is cancelled" in said(second)


async def test_two_matters_of_one_message_are_both_worked(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    first = await customer.say("Where is O-10027? And please cancel O-10001, we have enough mugs.")
    assert done(first) == [("check_order_status", {"order": "O-10027"})]
    assert asked_for(first) == "confirm"
    assert "O-10027: cancelled" in said(first)
    assert "cancel, order O-10001" in said(first)
    second = await customer.say("yes")
    assert done(second) == [("cancel_order", {"order": "O-10001"})]
    assert "O-10001 is cancelled" in said(second)
    assert "O-10027" not in said(second)


async def test_what_one_of_two_matters_lacks_is_asked_for(shop: Sandbox) -> None:
    customer = talk(shop, "C-2004")
    first = await customer.say("Please refund O-10004. And where is O-10023?")
    assert done(first) == [("check_order_status", {"order": "O-10023"})]
    assert asked_for(first) == "reason"
    assert "O-10023 is on its way" in said(first)
    assert asked_for(await customer.say("the sole came off")) == "confirm"
    third = await customer.say("yes")
    assert done(third) == [("request_refund", {"order": "O-10004", "reason": "the sole came off"})]


async def test_a_matter_that_a_message_only_tells_of_is_not_worked_unasked(shop: Sandbox) -> None:
    story = await talk(shop, "C-2001").say("I cancelled O-10001 last week. Where is O-10027?")
    assert ("cancel_order", {"order": "O-10001"}) not in done(story)


async def test_several_orders_are_looked_up_together(shop: Sandbox) -> None:
    story = await talk(shop, "C-2001").say("Where are O-10001 and O-10027?")
    orders = [arguments["order"] for _, arguments in done(story)]
    assert orders == ["O-10001", "O-10027"]
    assert "O-10001" in said(story)
    assert "O-10027" in said(story)


async def test_what_was_done_can_be_corrected(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    await customer.say("Please send O-10001 to 5 Elm Street, Leeds LS1 4AP")
    corrected = await customer.say("sorry, wrong address, I meant 15 Elm Street, Leeds")
    assert asked_for(corrected) == "confirm"
    assert "15 Elm Street" in said(corrected)
    [(tool, arguments)] = done(await customer.say("yes"))
    assert tool == "change_address"
    assert arguments["address"].startswith("15 Elm Street")


async def test_the_other_one_is_asked_for_where_nobody_named_it(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    await customer.say("where is O-10001")
    assert asked_for(await customer.say("no, the other one")) == "order"


async def test_what_is_added_to_a_hand_over_reaches_the_colleague(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    assert (await customer.say("I want to talk to a human"))["status"] == "needs_review"
    added = await customer.say("the hinges squeak like an old barn door")
    assert added["status"] == "needs_review"
    assert added["question"] is None


async def test_a_conversation_keeps_its_language_through_numbers_and_short_words(
    shop: Sandbox,
) -> None:
    customer = talk(shop, "C-2001")
    first = await customer.say("Zdravim, chtel bych vedet, kde je moje objednavka")
    assert asked_for(first) == "order"
    second = await customer.say("O-10001")
    assert said(second).startswith("Objednávku O-10001")
    assert "objednávk" in said(await customer.say("jo diky"))


async def test_a_greeting_does_not_hide_the_wish_behind_it(shop: Sandbox) -> None:
    assert asked_for(await talk(shop, "C-2001").say("hallo, will ne erstattung")) == "order"


async def test_what_shall_not_be_done_is_not_done(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    await customer.say("How far along is O-10001?")
    second = await customer.say("good, then leave it as it is and don't cancel it")
    assert done(second) == []
    assert asked_for(second) != "confirm"


async def test_a_wish_that_is_taken_back_at_once_is_asked_about(shop: Sandbox) -> None:
    story = await talk(shop, "C-2001").say("Please cancel O-10001. Actually no, leave it.")
    assert asked_for(story) == "confirm"
    assert done(story) == []


async def test_what_was_done_and_is_taken_back_goes_to_a_person(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    assert done(await customer.say("cancel O-10001")) == [("cancel_order", {"order": "O-10001"})]
    assert (await customer.say("oh wait no, keep it!"))["status"] == "needs_review"


async def test_one_of_two_orders_is_asked_for(shop: Sandbox) -> None:
    said_both = "I have two orders with you, O-10001 and O-10020. Please cancel the first."
    story = await talk(shop, "C-2001").say(said_both)
    assert asked_for(story) == "order"
    assert done(story) == []


async def test_a_number_in_a_clause_of_its_own_hides_no_wish(shop: Sandbox) -> None:
    story = await talk(shop, "C-2001").say("My wife bought mugs, number O-10001. Please cancel it.")
    assert "O-10001" in said(story)
    assert ("cancel_order", {"order": "O-10001"}) in done(story) or asked_for(story) == "confirm"


async def test_who_declines_a_person_in_his_own_words_is_let_go(shop: Sandbox) -> None:
    customer = talk(shop, "C-2001")
    assert asked_for(await customer.say("do you have green curtains?")) == "loop_in_human"
    declined = await customer.say("no worries, I will look on your page")
    assert declined["status"] in ("sent", "waiting_user")


async def test_how_refunds_and_cancelling_work_is_told(shop: Sandbox) -> None:
    for question in (
        "until when can I give something back?",
        "Dokdy se u vás dají věci vrátit?",
        "Welche Frist gilt für die Rückgabe?",
    ):
        story = await talk(shop, None).say(question)
        assert "60" in said(story)
        assert story["status"] == "sent"


async def test_all_is_not_paid_back_to_who_wants_some_of_it(shop: Sandbox) -> None:
    customer = talk(shop, "C-2004")
    assert asked_for(await customer.say("I would like some of my money back")) == "order"
    assert asked_for(await customer.say("O-10004")) == "reason"
    third = await customer.say("the sole came off a bit")
    assert asked_for(third) == "amount"
    assert done(third) == []
    [(tool, arguments)] = done(await customer.say("12 euros"))
    assert (tool, arguments["amount"]) == ("request_refund", "12 EUR")
