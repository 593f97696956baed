"""A time is held while a reply waits, confirmed when it leaves, and free again when it does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from deskhand.model.booking import Booking, BookingState, NewBooking
from deskhand.model.message import Message
from deskhand.model.run import Decision, Review, ReviewState, RunStatus, Verdict
from deskhand.ports import Calendar
from deskhand.wiring import Desk, open_calendar, open_database, open_desk, read_desk
from tests.calendar_servers import PASSWORD, USER, Collection, radicale
from tests.kit import a_message

DESK = """
desk: bookable
brain: {scripted: brain.yaml}
calendar: {working_hours: {mon-sun: "0:00-24:00"}, notice: 1 hours, CALENDAR}
flows:
  main:
    stages:
      decide: {task: decide, output: plan, next: look}
      look: {tools: [check_calendar], next: choose}
      choose: {service: choose, output: plan, next: hold}
      hold: {tools: [hold_slot], next: draft}
      draft: {task: draft, output: reply, next: review}
      review: {service: review, next: dispatch}
      dispatch: {service: dispatch}
"""
BRAIN = """
rules:
  - when: {stage: decide}
    answer: {steps: [{tool: check_calendar, parameters: {}}]}
  - when: {stage: draft}
    answer: {text: The time is yours.}
"""
CODE = '''
from deskhand import service


@service("choose")
async def choose(envelope, ctx, settings):
    """The first of the times that were offered."""
    slots = envelope.outputs["look"]["results"][0]["data"]["slots"]
    return {"steps": [{"tool": "hold_slot", "parameters": {"slot": slots[0]["id"]}}]}
'''


@dataclass
class Place:
    desk: Desk
    calendar: Calendar
    outbox: Path

    async def asked(self, message: Message) -> tuple[str, Review]:
        """Hand a message in; its run and the review that it waits for."""
        run_id = (await self.desk.dispatcher.submit(message)).run_id
        assert await self.rested(run_id) is RunStatus.WAITING_REVIEW
        (review,) = await self.desk.store.reviews(run_id=run_id, state=ReviewState.OPEN)
        return run_id, review

    async def decided(self, run_id: str, review: Review, decision: Decision) -> RunStatus:
        await self.desk.store.decide(review.id, Verdict(decision, "eve", review.version))
        return await self.rested(run_id)

    async def rested(self, run_id: str) -> RunStatus:
        async with asyncio.timeout(60):
            return await self.desk.dispatcher.wait(run_id)

    async def held(self, run_id: str) -> Booking:
        (booking,) = await self.calendar.bookings(run_id=run_id)
        return booking

    async def until(self, run_id: str, state: BookingState) -> Booking:
        """What the keeper makes of it, in a moment."""
        deadline = asyncio.get_running_loop().time() + 60
        while (booking := await self.held(run_id)).state is not state:
            assert asyncio.get_running_loop().time() < deadline, f"{booking} did not become {state}"
            await asyncio.sleep(0.02)
        return booking

    @property
    def mails(self) -> int:
        return len(list(self.outbox.glob("*.eml")))


@asynccontextmanager
async def a_place(folder: Path, calendar: str = "database: true") -> AsyncIterator[Place]:
    home = folder / "bookable"
    home.mkdir(exist_ok=True)
    (home / "desk.yaml").write_text(DESK.replace("CALENDAR", calendar))
    (home / "brain.yaml").write_text(BRAIN)
    (home / "tools.py").write_text(CODE)
    (home / "secret").write_text(PASSWORD)
    loaded = read_desk(str(home))
    outbox = folder / "outbox"
    async with open_database(str(folder / "desk.db")) as database, open_desk(loaded, database, outbox=outbox) as desk:
        looked_at = open_calendar(loaded.spec, database)
        try:
            yield Place(desk, looked_at, outbox)
        finally:
            await looked_at.close()


async def test_a_time_is_held_while_its_reply_waits_and_confirmed_when_it_leaves(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        booking = await place.held(run_id)
        assert (booking.state, booking.holder) == (BookingState.TENTATIVE, "ann@example.com")
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
        assert (await place.held(run_id)).state is BookingState.CONFIRMED
        assert place.mails == 1
        kinds = [event.kind for event in await place.desk.store.events(run_id=run_id)]
        assert [kind for kind in kinds if kind.startswith("booking")] == ["booking.held", "booking.confirmed"]


async def test_a_rejected_reply_gives_its_time_back(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        assert await place.decided(run_id, review, Decision.REJECT) is RunStatus.REJECTED
        assert (await place.until(run_id, BookingState.RELEASED)).reason == "the run was rejected"
        assert place.mails == 0


async def test_a_run_that_is_cancelled_gives_its_time_back(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, _ = await place.asked(a_message())
        await place.desk.store.cancel(run_id, "eve")
        other, _ = await place.asked(a_message(2))  # whoever comes to rest next sets the keeper going
        assert (await place.until(run_id, BookingState.RELEASED)).reason == "the run was cancelled"
        assert (await place.held(other)).state is BookingState.TENTATIVE


async def test_a_customer_who_writes_again_holds_one_time(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        first, _ = await place.asked(a_message(1, conversation="c"))
        before = await place.held(first)
        second, review = await place.asked(a_message(2, conversation="c", body="Still waiting."))
        assert (await place.until(first, BookingState.RELEASED)).span == before.span
        assert await place.decided(second, review, Decision.APPROVE) is RunStatus.SENT
        assert (await place.held(second)).state is BookingState.CONFIRMED


async def test_a_taken_over_conversation_keeps_its_time_until_it_expires(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        await place.desk.store.decide(review.id, Verdict(Decision.TAKE_OVER, "eve", review.version))
        rejected, other = await place.asked(a_message(2))
        await place.decided(rejected, other, Decision.REJECT)
        await place.until(rejected, BookingState.RELEASED)
        assert (await place.held(run_id)).state is BookingState.TENTATIVE


async def test_conversations_side_by_side_hold_different_times(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        people = [
            a_message(number).model_copy(
                update={"principal": a_message().principal.changed(address=f"p{number}@example.com")}
            )
            for number in range(12)
        ]
        runs = [(await place.desk.dispatcher.submit(message)).run_id for message in people]
        await asyncio.gather(*(place.rested(run_id) for run_id in runs))
        standing = [one for one in await place.calendar.bookings() if one.state is BookingState.TENTATIVE]
        spans = sorted(one.span for one in standing)
        assert spans
        assert all(one.end <= other.start for one, other in pairwise(spans))


async def test_a_promise_whose_time_is_gone_waits_for_a_person(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        booking = await place.held(run_id)
        await place.calendar.release(booking.key, "nobody decided in time")
        await place.calendar.hold(NewBooking("other.1.0", "run_other", booking.span, "bob@example.com", 9e9))
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        (asked,) = await place.desk.store.reviews(run_id=run_id, state=ReviewState.OPEN)
        assert "is gone" in asked.reason
        assert place.mails == 0
        assert await place.decided(run_id, asked, Decision.APPROVE) is RunStatus.SENT  # he has seen it
        assert place.mails == 1


async def test_nothing_is_confirmed_while_the_desk_is_stopped(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        await place.desk.store.stop("eve", "wrong prices")
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        assert (await place.held(run_id)).state is BookingState.TENTATIVE
        await place.desk.store.resume("eve")
        assert await place.rested(run_id) is RunStatus.SENT
        assert (await place.held(run_id)).state is BookingState.CONFIRMED


# --- the same with a server between


@pytest.fixture
async def collection() -> Collection:
    return await (await asyncio.to_thread(radicale)).new_calendar()


async def test_colleagues_see_in_their_calendar_what_is_held_and_confirmed(
    tmp_path: Path, collection: Collection
) -> None:
    server = f"caldav: {{url: '{collection.url}', user: {USER}, password_file: secret}}, title: Call with a customer"
    async with a_place(tmp_path, server) as place:
        run_id, review = await place.asked(a_message())
        name = f"{(await place.held(run_id)).key}.ics"
        shown = await collection.text(name) or ""
        assert "STATUS:TENTATIVE" in shown
        assert "SUMMARY:Call with a customer" in shown
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
        assert "STATUS:CONFIRMED" in (await collection.text(name) or "")
        other, asked = await place.asked(a_message(2))
        rival = f"{(await place.held(other)).key}.ics"
        assert await collection.text(rival) is not None
        await place.decided(other, asked, Decision.REJECT)
        await place.until(other, BookingState.RELEASED)
        deadline = asyncio.get_running_loop().time() + 60
        while await collection.text(rival) is not None:
            assert asyncio.get_running_loop().time() < deadline, "the event stays in the calendar"
            await asyncio.sleep(0.05)
