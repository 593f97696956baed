"""What is kept for a limited time goes when it is old and over; nothing open ever does, and the
audit holds before and after."""

from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.chats import SqlChats
from deskhand.adapters.stores.notices import SqlNoticeStore
from deskhand.engine import retention
from deskhand.engine.audit import seal_desk, verify_desk
from deskhand.engine.housekeeping import Housekeeper
from deskhand.engine.retention import count_by_age, prune_by_age
from deskhand.model.attached_files import AttachedFile
from deskhand.model.audited import Kept
from deskhand.model.notice import NoticeState
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    EffectKey,
    EffectState,
    LlmCall,
    NewReview,
    ReviewKind,
    RunStatus,
)
from tests.conformance.adapters import Stores
from tests.conformance.test_store import claimed, row_of
from tests.kit import a_message

DAY = 24 * 3600.0
TODAY = 1_900_000_000.0
LONG_AGO = TODAY - 100 * DAY
RUNS = {Kept.RUNS: 30 * DAY}
KEY = b"a key that is long enough"
OF_RUNS = (t.steps, t.effects, t.reviews, t.events, t.llm_calls, t.attachments)


class Desk:
    """A store whose clock the test sets, and runs in it that have some of everything."""

    def __init__(self, store: Any, clock: list[float]) -> None:
        self.store = store
        self._clock = clock

    def at(self, now: float) -> None:
        self._clock[0] = now

    @property
    def now(self) -> float:
        return self._clock[0]

    async def worked(
        self,
        number: int,
        status: RunStatus = RunStatus.DONE,
        review: ReviewKind | None = None,
        effect: EffectState = EffectState.DONE,
        conversation: str | None = None,
    ) -> str:
        run_id, head = await claimed(self.store, number, conversation=conversation)
        rows = [row_of(run_id, 0, head)]
        rows.append(row_of(run_id, 1, rows[0].chain))
        await self.store.append(*rows)
        key = EffectKey(run_id, 0)
        await self.store.intend(key, "send", "hash")
        if effect is not EffectState.INTENDED:
            await self.store.settle(key, effect, {"sent": True})
        await self.store.record_call(LlmCall(run_id, "draft", "chat", "p/m", "digest"))
        new = None if review is None else NewReview(review, "why", {"reply": {"text": "Hi"}}, 0)
        await self.store.finish(run_id, status, review=new)
        return run_id

    async def rows_of(self, run_id: str) -> dict[str, int]:
        """How many rows there are of a run, by table."""
        position = (await self.store.run(run_id)).position

        def count(core: sa.Connection) -> dict[str, int]:
            counts: dict[str, int] = {}
            for table in OF_RUNS:
                here = table.c.run == position if "run" in table.c else table.c.run_id == run_id
                query = sa.select(sa.func.count()).select_from(table).where(here)
                counts[table.name] = core.execute(query).scalar_one()
            return counts

        return dict(await self.store._database.read_core(count))

    async def change(self, statement: Any) -> None:
        await self.store._database.write_core(lambda core: core.execute(statement))


@pytest.fixture
async def desk(stores: Stores) -> Desk:
    clock = [LONG_AGO]
    return Desk(await stores(now=lambda: clock[0]), clock)


async def test_runs_that_are_over_go_with_all_they_have(desk: Desk) -> None:
    old = await desk.worked(1)
    desk.at(TODAY - DAY)
    new = await desk.worked(2)
    desk.at(TODAY)
    assert await count_by_age(desk.store, RUNS) == {Kept.RUNS: 1}
    report = await prune_by_age(desk.store, RUNS)
    assert (report.deleted, report.journal_rows) == ({Kept.RUNS: 1}, 2)
    assert set((await desk.rows_of(old)).values()) == {0}
    assert (await desk.rows_of(new))["steps"] == 2
    assert await desk.store.message(old) is None
    assert [run.id for run in await desk.store.runs()] == [new]
    again = await desk.store.accept(a_message(1), flow="flow")
    assert (again.run_id, again.duplicate) == (old, True)  # it is still known that it came
    assert (await prune_by_age(desk.store, RUNS)).deleted == {Kept.RUNS: 0}


async def test_nothing_that_is_open_goes(desk: Desk) -> None:
    waiting = RunStatus.WAITING_REVIEW
    kept = [
        await desk.worked(1, RunStatus.WAITING_USER),
        await desk.worked(2, waiting, ReviewKind.REPLY),
        await desk.worked(3, RunStatus.FAILED, ReviewKind.HAND_OVER),
        await desk.worked(4, RunStatus.SENT, ReviewKind.FOLLOW_UP),
        await desk.worked(5, effect=EffectState.INTENDED),
        await desk.worked(6, effect=EffectState.UNKNOWN),
        await desk.worked(7, conversation="going on"),
        await desk.worked(8, RunStatus.WAITING_USER, conversation="going on"),
        (await desk.store.accept(a_message(9), flow="flow")).run_id,
    ]
    over = await desk.worked(10, conversation="over")
    desk.at(TODAY)
    ages = dict.fromkeys(Kept, 30 * DAY)
    report = await prune_by_age(desk.store, ages)
    assert report.deleted[Kept.RUNS] == 1
    assert {run.id for run in await desk.store.runs()} == set(kept)
    for run_id in kept[:4]:
        assert [row.body is None for row in await desk.store.rows(run_id)] == [False, False]
        assert (await desk.rows_of(run_id))["llm_calls"] == 1
    assert len(await desk.store.find_reviews(ReviewFilter())) == 3
    assert (await desk.rows_of(over))["steps"] == 0


async def test_the_audit_holds_and_says_what_was_pruned(desk: Desk) -> None:
    for number in range(3):
        await desk.worked(number)
    await seal_desk(desk.store, KEY)
    desk.at(TODAY)
    await desk.worked(9)
    await prune_by_age(desk.store, RUNS, key=KEY)
    report = await verify_desk(desk.store, key=KEY)
    assert report.problems == []
    assert (report.runs, report.pruned_runs, report.pruned_rows) == (4, 3, 6)
    assert report.pruned_at == TODAY
    assert report.unsigned_seals == 0
    await seal_desk(desk.store, KEY)
    assert (await verify_desk(desk.store, key=KEY)).ok


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (t.runs.update().values(pruned_chain=b"x" * 32), "not those that seal"),
        (t.seals.delete(), "no seal closed it"),
        (t.seals.update().values(mac="0" * 64), "was changed, or made with another key"),
        (t.messages.update().values(body=b"{}"), "has rows"),
        (t.runs.update().values(pruned_at=None), "are gone that seal"),
    ],
)
async def test_what_only_looks_pruned_is_found(desk: Desk, change: Any, problem: str) -> None:
    await desk.worked(1)
    desk.at(TODAY)
    await prune_by_age(desk.store, RUNS, key=KEY)
    await desk.change(change)
    report = await verify_desk(desk.store, key=KEY)
    assert [problem in found.what for found in report.problems].count(True) >= 1


async def test_changed_records_do_not_vanish_as_if_they_were_sound(desk: Desk) -> None:
    run_id = await desk.worked(1)
    await desk.change(t.steps.update().where(t.steps.c.seq == 1).values(outcome="error"))
    desk.at(TODAY)
    report = await prune_by_age(desk.store, RUNS)
    assert (report.deleted, report.damaged) == ({Kept.RUNS: 0}, [run_id])
    assert (await desk.rows_of(run_id))["steps"] == 2
    assert not (await verify_desk(desk.store)).ok


async def test_what_steps_hold_goes_and_which_there_were_stays(desk: Desk) -> None:
    old = await desk.worked(1)
    ages = {Kept.STEPS: 30 * DAY}
    desk.at(TODAY)
    new = await desk.worked(2)
    assert await count_by_age(desk.store, ages) == {Kept.STEPS: 2}
    assert (await prune_by_age(desk.store, ages)).deleted == {Kept.STEPS: 2}
    rows = await desk.store.rows(old)
    assert [(row.name, row.body) for row in rows] == [("step", None)] * 2
    assert all(row.body for row in await desk.store.rows(new))
    assert await desk.store.message(old) is not None
    assert (await verify_desk(desk.store)).ok
    assert (await prune_by_age(desk.store, ages)).deleted == {Kept.STEPS: 0}


async def test_calls_notices_and_files_have_ages_of_their_own(desk: Desk) -> None:
    run_id = await desk.worked(1, RunStatus.WAITING_REVIEW, ReviewKind.REPLY)
    [review] = await desk.store.find_reviews(ReviewFilter(run_id=run_id))
    await desk.store.attach(review.id, "ida", AttachedFile("a.txt", "text/plain", b"x"))
    await desk.store.record_call(LlmCall(None, "learn", "chat", "p/m", "digest"))
    notices = SqlNoticeStore(desk.store._database, "desk", desk.store._now)
    for name in ("arrived", "due"):
        await notices.put(name, {})
    await notices.settle("arrived", NoticeState.DONE)
    desk.at(TODAY)
    ages = dict.fromkeys((Kept.CALLS, Kept.NOTICES, Kept.ATTACHMENTS), 30 * DAY)
    open_run = {Kept.CALLS: 1, Kept.NOTICES: 1, Kept.ATTACHMENTS: 0}
    assert await count_by_age(desk.store, ages) == open_run
    assert (await prune_by_age(desk.store, ages)).deleted == open_run
    assert await notices.states() == {"due": NoticeState.DUE}

    await desk.store.cancel(run_id, "ida")
    desk.at(TODAY + 40 * DAY)
    assert (await prune_by_age(desk.store, ages)).deleted == {
        Kept.CALLS: 1,
        Kept.NOTICES: 0,
        Kept.ATTACHMENTS: 1,
    }
    assert await desk.store.files(run_id) == []


async def test_whoever_serves_the_desk_prunes_in_small_batches(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    for number in range(5):
        await desk.worked(number)
    desk.at(TODAY)
    await Housekeeper(desk.store, responses_days=7, totals_days=7, ages=RUNS).tidy()
    report = await verify_desk(desk.store)
    assert (report.pruned_runs, report.seals, report.unsigned_seals) == (5, 3, 3)
    assert report.ok


async def test_a_chat_goes_with_its_last_run(desk: Desk) -> None:
    chats = SqlChats(desk.store._database, desk.store.desk, lambda: desk.now)
    old, talked = [await chats.open(token, None, "net") for token in ("old", "talked")]
    for number, chat in enumerate((old, talked)):
        await chats.say(chat.id, f"{chat.id}/1", "visitor", "hello")
        await desk.worked(number, conversation=chat.id)
    desk.at(TODAY - DAY)
    await chats.say(talked.id, f"{talked.id}/2", "visitor", "still there?")
    await desk.worked(7, RunStatus.WAITING_USER, conversation=talked.id)
    desk.at(TODAY)
    await prune_by_age(desk.store, RUNS)
    assert await chats.find("old") is None
    assert await chats.lines(old.id) == []
    assert [line.text for line in await chats.lines(talked.id)] == ["hello", "still there?"]
