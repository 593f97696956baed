"""The shipped inbox desk makes appointments on a real calendar server: offered, taken, invited
to, called off."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import deskhand
from deskhand.model.booking import Booking, BookingState
from deskhand.model.message import Attachment, Message
from deskhand.model.run import Decision, RunStatus
from deskhand.scheduling.public_holidays import holiday_on
from deskhand.wiring import open_calendar, open_database, open_desk, read_desk
from tests.booking_desk import Place, on_server
from tests.calendar_servers import PASSWORD, Collection, radicale
from tests.kit import a_message

SHIPPED = Path(deskhand.__file__).parent / "desks" / "inbox"


@pytest.fixture
async def collection() -> Collection:
    return await (await asyncio.to_thread(radicale)).new_calendar()


@pytest.fixture
async def place(tmp_path: Path, collection: Collection) -> AsyncIterator[Place]:
    home = tmp_path / "inbox"
    shutil.copytree(SHIPPED, home)
    written = (home / "desk.yaml").read_text()
    assert 'calendar: {working_hours: {mon-fri: "9:00-17:00"}' in written
    hours = f'calendar: {{{on_server(collection)}, working_hours: {{mon-fri: "9:00-17:00"}}'
    (home / "desk.yaml").write_text(
        written.replace('calendar: {working_hours: {mon-fri: "9:00-17:00"}', hours)
    )
    (home / "secret").write_text(PASSWORD)
    loaded, outbox = read_desk(str(home)), tmp_path / "outbox"
    async with (
        open_database(str(tmp_path / "desk.db")) as database,
        open_desk(loaded, database, outbox=outbox) as desk,
    ):
        looked_at = open_calendar(loaded.spec, database)
        try:
            yield Place(desk, looked_at, outbox)
        finally:
            await looked_at.close()


def written(number: int, body: str, *attachments: Attachment) -> Message:
    fields = {"subject": "Visit", "received_at": datetime.now(UTC), "attachments": attachments}
    return a_message(number, conversation="c", body=body).model_copy(update=fields)


async def approved(place: Place, message: Message) -> str:
    """Work a message and let its reply leave; its text."""
    run_id, review = await place.asked(message)
    assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
    return str(review.payload["reply"]["text"])


async def standing(place: Place) -> list[Booking]:
    return [
        one for one in await place.calendar.bookings() if one.state is not BookingState.RELEASED
    ]


async def test_a_time_that_is_taken_from_an_offer_is_held_confirmed_and_seen_by_colleagues(
    place: Place, collection: Collection
) -> None:
    ask = "Hello, could somebody meet us at your showroom to talk about desks for our new office?"
    offer = await approved(place, written(1, ask))
    times = [line for line in offer.splitlines() if line.startswith("- ")]
    first = times[0].removeprefix("- ").partition(" (")[0]
    run_id, review = await place.asked(written(2, f"Thank you, {first} suits us well."))
    (held,) = await standing(place)
    assert held.state is BookingState.TENTATIVE
    assert "We have reserved this time for you" in review.payload["reply"]["text"]
    assert first in review.payload["reply"]["text"]
    assert "STATUS:TENTATIVE" in (await collection.text(f"{held.key}.ics") or "")
    assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
    assert (await standing(place))[0].state is BookingState.CONFIRMED
    assert "STATUS:CONFIRMED" in (await collection.text(f"{held.key}.ics") or "")
    rejected, review = await place.asked(
        written(3, "Could we have the second one instead, please? The second time.")
    )
    await place.decided(rejected, review, Decision.REJECT)
    await place.until(rejected, BookingState.RELEASED)
    assert [one.key for one in await standing(place)] == [held.key]


async def test_an_invitation_is_answered_and_what_is_called_off_is_free_again(place: Place) -> None:
    at = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=3)
    while at.weekday() > 4 or holiday_on(at.date(), ["CZ"]):
        at += timedelta(days=1)
    run_id, review = await place.asked(
        written(1, "Please find the invitation attached.", invitation(at, "REQUEST"))
    )
    reply = review.payload["reply"]
    assert (reply["invitation"], "We are free then" in reply["text"]) == ("accepted", True)
    assert await place.decided(run_id, review, Decision.APPROVE) is RunStatus.SENT
    (held,) = await standing(place)
    assert (held.state, held.span.start, held.uid) == (
        BookingState.CONFIRMED,
        at,
        "visit-1@example.com",
    )
    rival = written(
        2,
        "Please find the invitation attached.",
        invitation(at, "REQUEST", uid="other@example.com"),
    )
    _, review = await place.asked(rival.model_copy(update={"conversation": "d"}))
    assert review.payload["reply"]["invitation"] == "declined"
    assert "not free then" in review.payload["reply"]["text"]
    await place.asked(written(3, "We have to call it off, sorry.", invitation(at, "CANCEL")))
    assert await standing(place) == []


def invitation(at: datetime, method: str, *, uid: str = "visit-1@example.com") -> Attachment:
    text = (
        f"BEGIN:VCALENDAR\r\nMETHOD:{method}\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nSUMMARY:Visit\r\nDURATION:PT1H\r\n"
        f"ORGANIZER:mailto:ann@example.com\r\nDTSTART:{at:%Y%m%dT%H%M%SZ}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    return Attachment(name="invite.ics", type="text/calendar", size=len(text), text=text)


async def test_what_is_asked_beside_a_meeting_is_answered_or_left_to_a_person(place: Place) -> None:
    wish = "Hello, could somebody meet us at your showroom to talk about desks for our new office?"
    _, known = await place.asked(written(1, f"{wish} Can visitors park at the showroom?"))
    assert "These times are free" in known.payload["reply"]["text"]
    assert "parking is in the courtyard" in known.payload["reply"]["text"]
    _, open_ask = await place.asked(
        written(2, f"{wish} Do you sell aquariums for offices, and how much do they cost?")
    )
    assert "aquariums" in open_ask.payload["reply"]["text"]
    assert "hands over" in open_ask.reason
