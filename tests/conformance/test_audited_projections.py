"""What is made from records is compared with them by `audit verify`: whoever changes or deletes a
row of it is noticed, in every column but those listed here with their reasons."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.engine.journal import make_row
from deskhand.engine.learner import exchange_in
from deskhand.engine.story import read_records
from deskhand.knowledge.exchanges import learned
from deskhand.model.contact import ContactEntry
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from tests.conformance.adapters import ADAPTERS, Stores, snapshot_after
from tests.conformance.test_audited_records import Worked, another, this_row
from tests.conformance.test_store import claimed
from tests.kit import a_message
from tests.tickets_kit import NOW, WordVectors, placing_of, tickets_of

COMPARED = (
    t.search_runs,
    t.search_people,
    t.run_figures,
    t.day_figures,
    t.day_replies,
    t.exchanges,
    t.told_sentences,
    t.tickets,
    t.ticket_messages,
)
_DEADLINE = "counted by the targets of desk.yaml, which the database does not have"
_CHECKPOINT = "what a ticket is about in few words, told anew when its events have gone on"
NOT_COMPARED = {
    "search_people.number": "a number without a meaning",
    "exchanges.position": "a number without a meaning",
    "exchanges.vector": "made by a model, which the database does not have",
    "tickets.search_text": _CHECKPOINT,
    "tickets.checkpoint": _CHECKPOINT,
    "tickets.due_at": _DEADLINE,
    "tickets.due_for": _DEADLINE,
    "tickets.warn_at": _DEADLINE,
    "tickets.timed": _DEADLINE,
}
REPLY = {"text": "We deliver to Brno every Tuesday.", "to": "ann@example.com", "language": "en"}


async def index_all(store: Any) -> None:
    while await SqlSearchIndex(store._database, store.desk).index_some():
        pass


async def answer(store: Any) -> None:
    """A second message, answered by a colleague, and learned from."""
    run_id, head = await claimed(store, 2)
    result = StageResult(delta=Delta(outputs={"reply": REPLY}))
    timed: dict[str, Any] = {
        "attempt": 1,
        "flow_version": "v1",
        "started_at": 1.5,
        "latency_ms": 2.0,
    }
    timed["flow_version"] = "v1"
    await store.append(make_row(run_id, 0, "draft", result, previous=head, **timed))
    review = NewReview(ReviewKind.REPLY, "why", {"reply": REPLY}, 1)
    await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    [opened] = await store.find_reviews(ReviewFilter(run_id=run_id))
    seen: dict[str, Any] = {"version": opened.version, "payload_hash": opened.payload_hash}
    await store.decide(opened.id, Verdict(Decision.APPROVE, by="eva", **seen))
    await store.claim(run_id, {"flow": "v1"})
    await store.finish(run_id, RunStatus.SENT)
    exchange = exchange_in(await read_records(store, run_id))
    assert exchange is not None
    kept = learned(exchange, WordVectors())
    assert await SqlExchanges(store._database, store.desk).keep(kept)


async def work_and_answer(store: Any) -> str:
    """Returns the first run that it worked."""
    desk = Worked(store)
    await desk.work()
    await answer(store)
    contacts = SqlContacts(store._database, store.desk, lambda text: None)
    await contacts.put([ContactEntry(address="ann@example.com", name="Ann")], "eva")
    await index_all(store)
    return desk.run_id


@pytest.fixture
async def worked(
    adapter: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Worked]:
    snapshot = await snapshot_after(work_and_answer, adapter, tmp_path_factory.mktemp("worked"))
    async with ADAPTERS[adapter](tmp_path, snapshot.begin) as stores:
        yield Worked(await stores(), snapshot.told)


async def test_nothing_is_wrong_with_what_was_just_made(worked: Worked) -> None:
    assert await worked.problems() == []
    empty = [table.name for table in COMPARED if not await worked.read(table)]
    assert empty == ["day_replies"]  # nothing was delivered here


@pytest.mark.parametrize("table", COMPARED, ids=lambda table: table.name)
async def test_a_change_in_any_column_is_noticed(worked: Worked, table: sa.Table) -> None:
    if table is t.day_replies:
        await worked.forge(table.insert().values(**_DAY, took=3, messages=1))
        assert any("day_replies" in what for what in await worked.problems())
        return
    [row, *_] = await worked.read(table)
    unnoticed: list[str] = []
    for column in table.columns:
        name = f"{table.name}.{column.name}"
        if name in NOT_COMPARED:
            continue
        was = getattr(row, column.name)
        forged = f"{was} forged" if column.name == "words" else another(column, was)
        same, moved = this_row(table, row), this_row(table, row, {column.name: forged})
        changed = table.update().where(*same).values({column.name: forged})
        assert await worked.forge(changed) == 1
        if not any(table.name in what for what in await worked.problems()):
            unnoticed.append(name)
        await worked.forge(table.update().where(*moved).values({column.name: was}))
    assert unnoticed == []
    await worked.forge(table.delete().where(*this_row(table, row)))
    is_learned_again = table is t.exchanges
    noticed = [what for what in await worked.problems() if table.name in what]
    assert bool(noticed) is not is_learned_again
    await worked.forge(table.insert().values(dict(row._mapping)))
    assert await worked.problems() == []


_DAY = {"desk": "desk", "day": 1, "category": "", "language": "", "channel": "mail"}


async def test_what_is_due_to_be_made_anew_is_no_problem(worked: Worked) -> None:
    """Neither before it is indexed nor after."""
    await claimed(worked.store, 3)
    await answer_again(worked)
    assert await worked.problems() == []
    await index_all(worked.store)
    assert await worked.problems() == []


async def answer_again(worked: Worked) -> None:
    reviews = await worked.store.find_reviews(ReviewFilter(run_id=worked.run_id))
    await worked.store.note_review(reviews[0].id, "eva", "a word among colleagues")


async def test_what_is_left_of_an_erased_person_is_no_problem(worked: Worked) -> None:
    for message in await worked.read(t.messages):
        if message.sender is not None:
            await worked.store.erase(message.sender, "eva")
    assert await worked.problems() == []
    await index_all(worked.store)
    assert await worked.problems() == []


async def test_a_deadline_told_to_a_waiting_review_is_no_problem(stores: Stores) -> None:
    """It changes a run at rest, so it is stated like every other change there."""
    desk = Worked(await stores())
    await desk.work()
    run_id, _ = await claimed(desk.store, 2)
    tickets = tickets_of(desk.store)
    placed = await placing_of(tickets).place(run_id, a_message(2))
    review = NewReview(ReviewKind.REPLY, "why", {"reply": REPLY}, 1)
    await desk.store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    due = t.tickets.update().where(t.tickets.c.id == placed.ticket_id)
    await desk.forge(due.values(due_at=NOW + 60, due_for="first_response"))
    assert await tickets.store.order_reviews() == 1
    assert await desk.problems() == []
