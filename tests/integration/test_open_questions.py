"""A customer with two questions open, and a clock that jumps while one is: each answer goes to its
own question, and what is done is done once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deskhand.desks.orders.order_tables import TABLES, refunds
from deskhand.engine.journal import fold
from deskhand.engine.story import read_records, story_of
from deskhand.evals.lane import LaneClock
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.principal import asserted
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Review, ReviewKind, ReviewState, RunStatus
from deskhand.ports import DeskDatabase
from deskhand.wiring import (
    Desk,
    LoadedDesk,
    desk_cases,
    open_database,
    open_desk,
    open_sandbox,
    own_database,
)
from tests.golden_router import messages_of
from tests.integration.test_golden_restarts import live
from tests.kit import a_message

__all__ = ["live"]

YEAR = 365 * 86400
WHICH = "Which order is it? The number begins with O-."
WRONG = "What was wrong with it?"


def said(number: int, conversation: str, text: str) -> Message:
    """Something that the customer C-2004 says in a chat or writes in a mail."""
    message = a_message(number, conversation=conversation, body=text)
    channel = "chat" if conversation.startswith("chat") else "api"
    by_login = asserted("C-2004", by="a test", address="owen@example.com")
    sender = Address(address="owen@example.com")
    return message.changed(channel=channel, subject="", principal=by_login, sender=sender)


class Talks:
    """The desk's conversations with one customer."""

    def __init__(self, desk: Desk, own: DeskDatabase) -> None:
        self._desk = desk
        self._own = own
        self._count = 0

    async def say(self, conversation: str, text: str) -> str:
        """What the desk answers or asks."""
        self._count += 1
        accepted = await self._desk.dispatcher.submit(said(self._count, conversation, text))
        await self._desk.dispatcher.wait(accepted.run_id)
        story = story_of(await read_records(self._desk.store, accepted.run_id))
        return str((story["reply"] or {}).get("text", ""))

    async def waiting(self) -> list[str]:
        """The conversations in which a question is open."""
        runs = await self._desk.store.runs()
        return sorted(run.conversation for run in runs if run.status is RunStatus.WAITING_USER)

    async def reviews(self) -> list[tuple[Review, str]]:
        """What waits for people, and the words of the customer that each of them answers."""
        store = self._desk.store
        found = await store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        read: list[tuple[Review, str]] = []
        for review in found:
            message = await store.message(review.run_id)
            assert message is not None
            first = Envelope.of(message, run_id=review.run_id)
            read.append((review, fold(first, await store.rows(review.run_id)).raw_input))
        return read

    async def paid_back(self) -> list[tuple[str, str]]:
        """The order and the reason of each refund."""
        query = sa.select(refunds.c.order_id, refunds.c.reason)
        rows = await self._own.read(TABLES, lambda db: db.execute(query).all())
        return [(row[0], row[1]) for row in rows]


@asynccontextmanager
async def talks(loaded: LoadedDesk, folder: Path) -> AsyncIterator[Talks]:
    async with (
        open_database(str(folder / "d.db")) as database,
        open_desk(loaded, database, outbox=folder / "outbox") as desk,
    ):
        yield Talks(desk, own_database(database, "orders"))


async def test_two_conversations_with_a_question_each_get_their_own_answers(
    live: LoadedDesk, tmp_path: Path
) -> None:
    async with talks(live, tmp_path) as customer:
        assert await customer.say("chat", "I would like my money back") == WHICH
        assert WHICH in await customer.say("mail", "Where is my parcel?")
        assert await customer.waiting() == ["chat", "mail"]
        assert await customer.say("chat", "O-10004") == WRONG
        assert await customer.waiting() == ["chat", "mail"]
        assert "O-10023 is on its way" in await customer.say("mail", "It is O-10023")
        assert await customer.waiting() == ["chat"]
        assert "72.00 EUR" in await customer.say("chat", "they are far too small")
        assert await customer.waiting() == []
        assert await customer.paid_back() == [("O-10004", "they are far too small")]


async def test_of_two_questions_in_one_mail_the_one_that_is_not_answered_is_asked_again(
    live: LoadedDesk, tmp_path: Path
) -> None:
    async with talks(live, tmp_path) as customer:
        asked = await customer.say("mail", "I would like my money back")
        assert WHICH in asked
        assert WRONG in asked
        again = await customer.say("mail", "They are broken.")
        assert WHICH in again
        assert WRONG not in again
        assert "72.00 EUR" in await customer.say("mail", "O-10004")
        assert await customer.waiting() == []
        assert [order for order, _ in await customer.paid_back()] == ["O-10004"]


async def test_two_matters_that_both_lack_something_stay_together_before_one_person(
    live: LoadedDesk, tmp_path: Path
) -> None:
    async with talks(live, tmp_path) as customer:
        await customer.say(
            "chat", "Please refund O-10004. And please change the delivery address of O-10030."
        )
        await customer.say("chat", "they are far too small")
        await customer.say("chat", "22 Mill Road, York YO1 7HH")
        assert await customer.paid_back() == []
        [(review, known)] = await customer.reviews()
        assert review.kind is ReviewKind.REPLY
        for words in ("O-10004", "O-10030", "far too small", "22 Mill Road"):
            assert words in known


async def test_a_clock_that_jumps_between_question_and_answer_changes_nothing(
    live: LoadedDesk,
) -> None:
    [case] = [case for case in desk_cases(live)[0] if case.id == "address-asked"]
    async with open_sandbox(live) as sandbox:

        async def played(jump: float) -> list[tuple[Any, ...]]:
            clock = LaneClock(case.first_at.timestamp())
            lane = sandbox.lane(clock, mode="auto")
            made: list[tuple[Any, ...]] = []
            for message in messages_of(case):
                at = datetime.fromtimestamp(clock.at, UTC)
                run_id = await lane.accept(message.changed(received_at=at))
                await lane.work(run_id)
                records = await read_records(lane.store, run_id)
                reply = story_of(records)["reply"] or {}
                rows = tuple(row.name for row in records.rows)
                made.append((str(records.run.status), reply.get("text"), rows))
                clock.at += jump
            return made

        steady = await played(0)
        assert [len(rows) for _, _, rows in steady] == [4, 4, 10]
        for jump in (-YEAR, -3600, 3600, YEAR):
            assert await played(jump) == steady, jump
