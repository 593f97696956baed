"""A time is held while a reply waits, confirmed when it leaves, and free again when it does not."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from deskhand.model.booking import BookingState, NewBooking
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, RunStatus, Verdict
from tests.booking_desk import a_place, on_server, survive
from tests.calendar_servers import Collection, radicale
from tests.kit import a_message
from tests.waiting import PATIENCE


async def test_a_time_is_held_while_its_reply_waits_and_confirmed_when_it_leaves(
    tmp_path: Path,
) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        booking = await place.held(run_id)
        assert (booking.state, booking.holder) == (BookingState.TENTATIVE, "ann@example.com")
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
        assert (await place.held(run_id)).state is BookingState.CONFIRMED
        assert place.mails == 1
        kinds = [event.kind for event in await place.desk.store.events(run_id=run_id)]
        assert [kind for kind in kinds if kind.startswith("booking")] == [
            "booking.held",
            "booking.confirmed",
        ]


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
        other, _ = await place.asked(
            a_message(2)
        )  # whoever comes to rest next sets the keeper going
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
                update={
                    "principal": a_message().principal.changed(address=f"p{number}@example.com")
                }
            )
            for number in range(12)
        ]
        runs = [(await place.desk.dispatcher.submit(message)).run_id for message in people]
        await asyncio.gather(*(place.rested(run_id) for run_id in runs))
        standing = [
            one for one in await place.calendar.bookings() if one.state is BookingState.TENTATIVE
        ]
        spans = sorted(one.span for one in standing)
        assert spans
        assert all(one.end <= other.start for one, other in pairwise(spans))


async def test_a_promise_whose_time_is_gone_waits_for_a_person(tmp_path: Path) -> None:
    async with a_place(tmp_path) as place:
        run_id, review = await place.asked(a_message())
        booking = await place.held(run_id)
        await place.calendar.release(booking.key, "nobody decided in time")
        await place.calendar.hold(
            NewBooking("other.1.0", "run_other", booking.span, "bob@example.com", 9e9)
        )
        assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        (asked,) = await place.desk.store.find_reviews(
            ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        )
        assert "is gone" in asked.reason
        assert place.mails == 0
        assert (
            await place.decided(run_id, asked, Decision.APPROVE) is RunStatus.SENT
        )  # he has seen it
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
    async with a_place(tmp_path, on_server(collection)) as place:
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
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while await collection.text(rival) is not None:
            assert asyncio.get_running_loop().time() < deadline, "the event stays in the calendar"
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("setting", ["effect.after_perform:1", "effect.after_intend:2"])
async def test_a_killed_process_holds_and_confirms_once(
    tmp_path: Path, collection: Collection, setting: str
) -> None:
    """After the time was held, and after it was confirmed, before the reply leaves; `make chaos`
    tries more."""
    await survive(tmp_path, collection, setting)
