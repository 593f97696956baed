"""A desk that offers times and holds one, and the way of a message through it.

As a process of its own it may be killed on the way.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deskhand.model.booking import Booking, BookingState
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, RunStatus, Verdict
from deskhand.ports import Calendar
from deskhand.wiring import Desk, open_calendar, open_database, open_desk, read_desk
from tests.calendar_servers import PASSWORD, USER, Collection
from tests.forked import run_forked
from tests.kit import a_message
from tests.waiting import PATIENCE

DESK = """
desk: bookable
mode: auto
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
        (review,) = await self.desk.store.find_reviews(
            ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        )
        return run_id, review

    async def decided(self, run_id: str, review: Review, decision: Decision) -> RunStatus:
        await self.desk.store.decide(review.id, Verdict(decision, "eve", review.version))
        return await self.rested(run_id)

    async def rested(self, run_id: str) -> RunStatus:
        async with asyncio.timeout(PATIENCE):
            return await self.desk.dispatcher.wait(run_id)

    async def held(self, run_id: str) -> Booking:
        (booking,) = await self.calendar.bookings(run_id=run_id)
        return booking

    async def until(self, run_id: str, state: BookingState) -> Booking:
        """What the keeper makes of it, in a moment."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
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
    async with (
        open_database(str(folder / "desk.db")) as database,
        open_desk(loaded, database, outbox=outbox) as desk,
    ):
        looked_at = open_calendar(loaded.spec, database)
        try:
            yield Place(desk, looked_at, outbox)
        finally:
            await looked_at.close()


async def answer(place: Place) -> str:
    """Work the one message until its reply has left, from wherever it is."""
    run_id = (await place.desk.dispatcher.submit(a_message())).run_id
    while (status := await place.rested(run_id)) is RunStatus.WAITING_REVIEW:
        (review,) = await place.desk.store.find_reviews(
            ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        )
        await place.decided(run_id, review, Decision.APPROVE)
    assert status is RunStatus.SENT, status
    return run_id


def on_server(collection: Collection) -> str:
    return (
        f"caldav: {{url: '{collection.url}', user: {USER}, password_file: secret}}, title: Call"
        " with a customer"
    )


async def survive(folder: Path, collection: Collection, setting: str) -> None:
    """Kill a process there that works the message; whoever comes next holds and confirms one
    time, and sends once."""
    ended = await asyncio.to_thread(
        run_forked,
        "tests.booking_desk",
        str(folder),
        on_server(collection),
        environment={"DESKHAND_CRASH_AT": setting},
    )
    assert ended.code == -signal.SIGKILL, ended.errors
    async with open_database(str(folder / "desk.db")) as database:
        await database.write_core(lambda core: core.exec_driver_sql("DELETE FROM leases").close())
    async with a_place(folder, on_server(collection)) as place:
        booking = await place.held(await answer(place))
        assert booking.state is BookingState.CONFIRMED
        assert place.mails == 1
        names = await collection.names()
        assert names == [f"{booking.key}.ics"]
        assert "STATUS:CONFIRMED" in (await collection.text(names[0]) or "")


async def main(folder: str, calendar: str) -> None:
    async with a_place(Path(folder), calendar) as place:
        await answer(place)
