"""Whoever changes or deletes a record is noticed by `audit verify`, in every column of every table,
but for those listed here with their reasons."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.adapters.stores.console_actions import SqlConsoleActions
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.trust import SqlTrustStore
from deskhand.adapters.stores.users import SqlUserStore
from deskhand.engine.audit import seal_desk, verify_desk
from deskhand.engine.retention import prune_by_age
from deskhand.model.access import Role, Scope
from deskhand.model.attached_files import AttachedFile
from deskhand.model.audited import Kept, Seal
from deskhand.model.judgement import ModeChange
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    Decision,
    EffectKey,
    EffectState,
    Event,
    LlmCall,
    NewReview,
    ReviewKind,
    RunStatus,
    Verdict,
)
from deskhand.model.totals import CALLS, CountedEffect
from tests.conformance.adapters import ADAPTERS, snapshot_after
from tests.conformance.test_store import claimed, row_of
from tests.kit import a_message
from tests.tickets_kit import placing_of, tickets_of

KEY = b"a key that is long enough"
PASSWORD = "a password that is long enough"

COUNTED = CountedEffect(
    {"conversation": ("c-1", ""), "day": ("", "2026-11-17")}, {CALLS: 1, "EUR": 125_000}
)
"""What each effect of the desk adds to the totals."""

COVERED = (
    t.runs,
    t.messages,
    t.steps,
    t.effects,
    t.effect_counts,
    t.reviews,
    t.events,
    t.llm_calls,
    t.attachments,
    t.judgements,
    t.mode_changes,
    t.stops,
    t.ticket_events,
    t.console_actions,
    t.users,
    t.api_keys,
    t.statements,
    t.seals,
)

NOT_COVERED = {
    "active_tickets": "made from the events of tickets",
    "answer_sources": "made from what the steps say; used to find answers that an article changed",
    "arrivals": "where the mails of runs lie; told by the mailbox itself",
    "begun_logins": "logins under way; forgotten after minutes",
    "bookings": "the calendar as it is; each change of it is an event, which is covered",
    "calendar_turns": "a lock",
    "channel_marks": "how far a channel has read",
    "chat_lines": "what a chat shows; messages and replies are of their runs, which are covered",
    "chat_codes": "short-lived codes of chats; what they proved stands in each message's principal",
    "chat_mails": "mails of chats on their way; what they say stands in the chat",
    "chats": "who holds which chat; changed at any time, and says nothing about a run",
    "console_changes": "what open consoles are told; forgotten after an hour",
    "console_lookers": "who looks at what now",
    "contact_notes": "the address book, which people change",
    "contacts": "the address book, which people and mails change",
    "conversations": "who answers now; each change of it is an event, which is covered",
    "exchanges": "made from runs that were answered, and compared with them",
    "kb_articles": "made from the desk's files",
    "kb_chunks": "made from the desk's files",
    "kb_versions": "a counter of changes",
    "leases": "who serves now",
    "login_failures": "a limit that is forgotten after minutes",
    "model_rates": "a limit that is forgotten after minutes",
    "notices": "what is still to be told; deliveries are tried again",
    "responses": "a cache of answers to repeated requests",
    "review_edits": "what reviewers have typed and not sent",
    "day_figures": "sums of run_figures, and compared with them",
    "day_replies": "sums of run_figures, and compared with them",
    "run_figures": "made from the records of runs, and compared with them",
    "search_due": "whose words search does not know yet",
    "search_people": "made from the address book, and compared with it",
    "search_runs": "made from messages and runs, and compared with them",
    "sessions": "who is logged in",
    "telemetry_events": "told from the rows",
    "telemetry_marks": "how far telemetry has been told",
    "setup_links": "a digest that is used once",
    "eval_reports": "what golden cases came to; they decide nothing",
    "ticket_customers": "a lock",
    "ticket_views": "filters that people keep, which decide nothing",
    "ticket_messages": "made from runs and the events of tickets, and compared with them",
    "taken_turns": "made from messages and the events of tickets; what need not be taken again",
    "tickets": "made from the events of tickets, and compared with them",
    "told_sentences": "made from replies, and compared with them",
    "totals": "what effect_counts add up to; compared, since a smaller one would lift a cap",
    "webhook_deliveries": "what is still to be told, and what became of it",
    "webhook_endpoints": "who is told; changed at any time, and says nothing about a run",
    "webhook_events": "what is to be told in a moment",
    "workers": "who is at work now",
    "write_checks": "whether the disk takes writes",
}

UNTOUCHED = {
    "statements.told": "a number of the teller's, for telemetry",
    "statements.salt": "of a run's statements it is empty: the message has it",
}
"""Columns of covered tables that are changed alone without notice, each with the reason. Those of
LEFT_OUT are compared with what they are made from."""


def test_every_table_is_covered_or_has_a_reason_not_to_be() -> None:
    names = {table.name for table in COVERED}
    assert names.isdisjoint(NOT_COVERED)
    assert names | set(NOT_COVERED) == set(t.metadata.tables)


SEALED_ALONE = (t.seals, t.console_actions)
"""The end of these may be cut off until a seal names it, or is kept elsewhere."""


class Worked:
    """A desk with some of every record there is."""

    def __init__(self, store: Any, run_id: str = "") -> None:
        self.store = store
        self.run_id = run_id

    async def work(self) -> None:
        store = self.store
        self.run_id, head = await claimed(store, 1)
        tickets = tickets_of(store)
        placed = await placing_of(tickets).place(self.run_id, a_message(1))
        await tickets.note(placed.ticket_id, "A word among colleagues", "eva")
        rows = [row_of(self.run_id, 0, head)]
        rows.append(row_of(self.run_id, 1, rows[0].chain))
        await store.append(*rows)
        for number in range(2):
            key = EffectKey(self.run_id, 0, number)
            await store.intend(key, "send", "hash", COUNTED)
            await store.settle(key, EffectState.DONE, {"sent": True})
        await store.record_call(
            LlmCall(self.run_id, "draft", "chat", "p/m", "digest", answer={"text": "Hi"})
        )
        await store.record_call(LlmCall(None, "", "embed", "p/m", "digest", cost=0.5))
        payload = {
            "reply": {"text": "Hi", "to": ["ann@example.com"]},
            "mode": "draft",
            "counts": True,
        }
        review = NewReview(ReviewKind.REPLY, "why", payload, 1)
        await store.finish(self.run_id, RunStatus.WAITING_REVIEW, review=review)
        [opened] = await store.find_reviews(ReviewFilter())
        await store.attach(opened.id, "eva", AttachedFile("a.txt", "text/plain", b"content"))
        verdict = Verdict(
            Decision.APPROVE, by="eva", version=opened.version, payload_hash=opened.payload_hash
        )
        await store.decide(opened.id, verdict)
        await store.claim(self.run_id, {"flow": "v1"})
        await store.finish(self.run_id, RunStatus.SENT)
        await store.record_event(Event("desk.noted", by="eva", payload={"text": "hello"}))
        await store.stop("eva", "a test")
        change = ModeChange("refund", 1, "auto", "draft", "people", "eva", "good", {"n": 1}, at=0.0)
        assert await SqlTrustStore(store._database, store.desk).change_mode(change)
        actions = SqlConsoleActions(store._database)
        for path in ("/approvals/a", "/approvals/b"):
            await actions.record("eva", "127.0.0.1", "POST", path, 200)
        users = SqlUserStore(store._database)
        await users.add("eva", PASSWORD, ["desk"], role=Role.APPROVER)
        await users.set_rights("eva", limit="500 EUR")
        await SqlKeyStore(store._database).add("shop", [Scope.MESSAGES_WRITE], ["desk"])
        await seal_desk(store, KEY)

    async def problems(self, outside: list[Seal] | None = None) -> list[str]:
        report = await verify_desk(self.store, key=KEY, outside=outside)
        return [problem.what for problem in report.problems]

    async def forge(self, statement: sa.Executable) -> int:
        """As somebody would who reaches into the database with another program."""
        return int(
            await self.store._database.write_core(lambda core: core.execute(statement).rowcount)
        )

    async def read(self, table: sa.Table) -> list[Any]:
        return list(
            await self.store._database.read_core(lambda core: core.execute(sa.select(table)).all())
        )


async def work(store: Any) -> str:
    """Returns the run that it worked."""
    desk = Worked(store)
    await desk.work()
    return desk.run_id


@pytest.fixture
async def worked(
    adapter: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Worked]:
    snapshot = await snapshot_after(work, adapter, tmp_path_factory.mktemp("worked"))
    async with ADAPTERS[adapter](tmp_path, snapshot.begin) as stores:
        yield Worked(await stores(), snapshot.told)


def another(column: sa.Column[Any], value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return bytes(value) + b" "
    if isinstance(value, str):
        return value + " "
    if value is not None:
        return value + 1000
    if isinstance(column.type, sa.LargeBinary):
        return b"{}"
    return "forged" if isinstance(column.type, sa.Text) else 5


def this_row(
    table: sa.Table, row: Any, changed: dict[str, Any] | None = None
) -> list[sa.ColumnElement[bool]]:
    values = dict(row._mapping) | (changed or {})
    return [column == values[column.name] for column in table.primary_key.columns]


async def test_nothing_is_wrong_with_what_nobody_touched(worked: Worked) -> None:
    assert await worked.problems() == []
    for table in COVERED:
        assert await worked.read(table), f"{table.name} is empty: nothing would be tried on it"


EVERY_ROW = pytest.mark.parametrize(
    "every_row", [False, pytest.param(True, marks=pytest.mark.chaos)], ids=["", "every row"]
)
"""On PostgreSQL `make test` tries one row of a table: what verifies the others is the same code
that SQLite tries every row with. `make chaos` tries them all on both."""


def tried(
    worked: Worked, rows: list[Any], every_row: bool, column: sa.Column[Any] | None = None
) -> list[Any]:
    """Of these rows those to try, one that has a value in this column if there is any."""
    if every_row or isinstance(worked.store, SqliteStore):
        return rows
    filled = [row for row in rows if column is not None and getattr(row, column.name) is not None]
    return (filled or rows)[-1:]


@EVERY_ROW
@pytest.mark.parametrize("table", COVERED, ids=lambda table: table.name)
async def test_a_change_in_any_column_is_noticed(
    worked: Worked, table: sa.Table, every_row: bool
) -> None:
    outside = await worked.store.seals() if table is t.seals else None
    unnoticed: list[str] = []
    rows = await worked.read(table)
    for column in table.columns:
        name = f"{table.name}.{column.name}"
        if name in UNTOUCHED:
            continue
        for row in tried(worked, rows, every_row, column):
            unnoticed += await unnoticed_changes(worked, table, column, row, outside)
    assert sorted(set(unnoticed)) == []
    assert await worked.problems() == []


async def unnoticed_changes(
    worked: Worked, table: sa.Table, column: sa.Column[Any], row: Any, outside: list[Seal] | None
) -> list[str]:
    """Changes the column of this row and sets it to null; each is taken back again."""
    name = f"{table.name}.{column.name}"
    unnoticed: list[str] = []
    same = this_row(table, row)
    was = getattr(row, column.name)
    forged = another(column, was)
    values = {column.name: forged}
    assert await worked.forge(table.update().where(*same).values(values)) == 1
    if not await worked.problems(outside):
        unnoticed.append(name)
    moved = this_row(table, row, {column.name: forged})
    assert await worked.forge(table.update().where(*moved).values({column.name: was})) == 1
    if column.nullable and was is not None:
        await worked.forge(table.update().where(*same).values({column.name: None}))
        if not await worked.problems(outside):
            unnoticed.append(f"{name} set to null")
        await worked.forge(table.update().where(*same).values({column.name: was}))
    return unnoticed


@EVERY_ROW
@pytest.mark.parametrize("table", COVERED, ids=lambda table: table.name)
async def test_a_deleted_row_is_noticed(worked: Worked, table: sa.Table, every_row: bool) -> None:
    rows = await worked.read(table)
    if table is t.seals:
        outside = await worked.store.seals()
        await worked.forge(table.delete())
        report = await verify_desk(worked.store, key=KEY, outside=outside)
        assert [problem.what for problem in report.problems] == [
            f"seal {outside[0].id} is gone; it was kept elsewhere"
        ]
        return
    for row in tried(worked, rows, every_row):
        await worked.forge(table.delete().where(*this_row(table, row)))
        assert await worked.problems(), row
        await worked.forge(table.insert().values(dict(row._mapping)))
    assert await worked.problems() == []


@EVERY_ROW
@pytest.mark.parametrize(
    "table", [table for table in COVERED if table not in SEALED_ALONE], ids=lambda table: table.name
)
async def test_a_row_deleted_before_any_seal_is_noticed(
    worked: Worked, table: sa.Table, every_row: bool
) -> None:
    await worked.forge(t.seals.delete())
    assert await worked.problems() == []
    unnoticed: list[Any] = []
    for row in tried(worked, await worked.read(table), every_row):
        await worked.forge(table.delete().where(*this_row(table, row)))
        if not await worked.problems():
            unnoticed.append(row)
        await worked.forge(table.insert().values(dict(row._mapping)))
    assert unnoticed == []


async def test_a_run_without_a_message_that_somebody_adds_is_noticed(worked: Worked) -> None:
    row = dict((await worked.read(t.runs))[0]._mapping)
    forged = {**row, "id": "run_forged", "position": 777, "message_key": b"forged"}
    await worked.forge(t.runs.insert().values(forged))
    assert await worked.problems()


@pytest.mark.parametrize(
    "table",
    [t.effects, t.reviews, t.events, t.llm_calls, t.attachments, t.judgements],
    ids=lambda table: table.name,
)
async def test_a_row_that_somebody_adds_is_noticed(worked: Worked, table: sa.Table) -> None:
    row = dict((await worked.read(table))[0]._mapping)
    key = list(table.primary_key.columns)[-1]
    row[key.name] = "forged" if isinstance(key.type, sa.Text) else 777
    if table is t.judgements:
        row["judged"] = "forged"
    await worked.forge(table.insert().values(row))
    assert any("was added" in what for what in await worked.problems())


async def test_an_event_of_a_ticket_that_somebody_adds_is_noticed(worked: Worked) -> None:
    row = dict((await worked.read(t.ticket_events))[0]._mapping)
    await worked.forge(t.ticket_events.insert().values({**row, "number": 777}))
    assert await worked.problems() == [
        f"ticket_events {row['ticket']} was changed",
        f"ticket {row['ticket']} is not what its events say (tickets: number)",
    ]
    await worked.forge(t.ticket_events.insert().values({**row, "ticket": "TKT-FORGED00"}))
    assert "ticket_events TKT-FORGED00 was added" in await worked.problems()


async def test_a_model_call_of_no_run_that_somebody_adds_is_noticed(worked: Worked) -> None:
    [row] = [row for row in await worked.read(t.llm_calls) if row.run_id is None]
    await worked.forge(t.llm_calls.insert().values({**row._mapping, "id": 777}))
    assert await worked.problems() == ["llm_calls 777 was added"]


async def test_a_right_that_somebody_writes_into_the_database_is_noticed(worked: Worked) -> None:
    """The product's own changes are stated: they are no problem, and a forged right stays one
    after them."""
    users, keys = SqlUserStore(worked.store._database), SqlKeyStore(worked.store._database)
    [key] = await keys.list()
    await users.add("ida", PASSWORD, ["*"], role=Role.ADMIN)
    await users.set_rights("eva", role=Role.VIEWER)
    await users.set_password("ida", f"{PASSWORD} indeed")
    await keys.revoke(key.id)
    await keys.revoke(key.id)
    assert await worked.problems() == []
    named = t.users.c.name == "eva"
    await worked.forge(t.users.update().where(named).values(role="admin", limit=None))
    await worked.forge(t.api_keys.update().values(revoked_at=None, scopes="admin"))
    noticed = [f"api_keys {key.id} was changed", "users eva was changed"]
    assert sorted(await worked.problems()) == noticed
    await users.set_rights("ida", limit="100 EUR")
    assert sorted(await worked.problems()) == noticed
    [row] = [row for row in await worked.read(t.users) if row.name == "ida"]
    await worked.forge(t.users.insert().values({**row._mapping, "name": "mallory"}))
    assert "users mallory was added" in await worked.problems()


async def test_accounts_cut_back_to_an_earlier_day_are_noticed_by_the_seal(worked: Worked) -> None:
    """Whoever takes a change back together with what was stated about it."""
    [before] = await worked.read(t.users)
    await SqlUserStore(worked.store._database).set_rights("eva", role=Role.VIEWER)
    await seal_desk(worked.store, KEY)
    of_accounts = t.statements.c.desk == "@accounts"
    newest = sa.select(sa.func.max(t.statements.c.number)).where(of_accounts).scalar_subquery()
    await worked.forge(t.statements.delete().where(of_accounts, t.statements.c.number == newest))
    await worked.forge(t.users.update().values(dict(before._mapping)))
    seals = await worked.store.seals()
    assert await worked.problems() == [
        f"the statements are not those that seal {seals[-1].id} covers"
    ]


async def test_statements_of_accounts_tell_neither_passwords_nor_keys(worked: Worked) -> None:
    [user] = await worked.read(t.users)
    [key] = await worked.read(t.api_keys)
    bodies = [row.body for row in await worked.read(t.statements) if row.desk == "@accounts"]
    assert len(bodies) == 3
    for secret in (user.password, bytes(key.digest).hex(), PASSWORD):
        assert not any(secret in body for body in bodies)


async def test_a_run_deleted_with_its_seals_is_noticed_by_those_kept_elsewhere(
    worked: Worked,
) -> None:
    outside = await worked.store.seals()
    for table in t.metadata.tables.values():
        await worked.forge(table.delete())
    assert (await verify_desk(worked.store, key=KEY)).ok
    report = await verify_desk(worked.store, key=KEY, outside=outside)
    told = [problem.what for problem in report.problems]
    assert told == [
        f"seal {outside[0].id} is gone; it was kept elsewhere",
        f"the statements are not those that seal {outside[0].id} covers",
        f"the statements are not those that seal {outside[0].id} covers",
        f"the console's log is not the one that seal {outside[0].id} covers",
        f"the run is gone, but seal {outside[0].id} covers it",
    ]


async def test_a_forged_record_stays_noticed_after_the_run_is_changed_again(
    worked: Worked,
) -> None:
    await worked.forge(t.effects.update().values(result=b"{}"))
    [review] = await worked.read(t.reviews)
    await worked.store.note_review(review.id, "eva", "a word among colleagues")
    assert "effect 0.0 was changed" in await worked.problems()


async def test_an_erased_person_still_verifies(worked: Worked) -> None:
    [message] = await worked.read(t.messages)
    assert await worked.store.erase(message.sender, "eva") == 1
    assert await worked.problems() == []
    [statement] = [row for row in await worked.read(t.statements) if row.kind == "erased"]
    await worked.forge(t.statements.delete().where(*this_row(t.statements, statement)))
    assert "the message is gone, and no erasure is on record" in await worked.problems()


@pytest.mark.parametrize("kind", [Kept.RUNS, Kept.STEPS, Kept.CALLS, Kept.ATTACHMENTS])
async def test_what_went_for_its_age_still_verifies(worked: Worked, kind: Kept) -> None:
    later = worked.store._now() + 1000
    worked.store._now = lambda: later
    pruned = await prune_by_age(worked.store, {kind: 10.0}, key=KEY)
    assert pruned.deleted[kind] > 0
    assert await worked.problems() == []
    await seal_desk(worked.store, KEY)
    assert await worked.problems() == []


async def test_a_lowered_total_is_noticed(worked: Worked) -> None:
    money = sa.and_(t.totals.c.scope == "day", t.totals.c.unit == "EUR")
    await worked.forge(t.totals.update().where(money).values(amount=125_000))
    assert await worked.problems() == [
        "the total (EUR of send a day 2026-11-17) is 12.5, but the effects counted 25"
    ]
    await worked.forge(t.totals.update().where(money).values(amount=250_000))
    assert await worked.problems() == []


async def test_a_deleted_total_is_noticed(worked: Worked) -> None:
    await worked.forge(t.totals.delete().where(t.totals.c.scope == "conversation"))
    assert await worked.problems() == [
        "the total (EUR of send a conversation) is 0, but the effects counted 25",
        "the total (calls of send a conversation) is 0, but the effects counted 2",
    ]


async def test_counts_that_cannot_be_read_are_a_finding_and_no_error(worked: Worked) -> None:
    await worked.forge(t.effect_counts.update().values(body="[[1]]"))
    assert await worked.problems()
