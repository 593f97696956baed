"""What every database counts for the metrics: each message once, whatever became of it since."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.console_feed import SqlConsoleFeed
from deskhand.adapters.stores.figure_records import day_of
from deskhand.adapters.stores.run_figures import read_figures
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.engine.journal import make_row
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.figures import Became, Dimension, FigureFilter, Figures, Looked
from deskhand.model.judgement import Judged, Judgement
from deskhand.model.message import DELIVER
from deskhand.model.run import EffectKey, EffectState, LlmCall, RunStatus
from tests.conformance.adapters import Stores
from tests.conformance.test_store import claimed
from tests.conformance.test_trust import decided, trust_of, waiting

EVER = 10**6
ALL = FigureFilter(("desk",), 0, EVER)


async def total(feed: SqlConsoleFeed, wanted: FigureFilter = ALL) -> Figures:
    figures = Figures()
    for of_day in (await feed.figures_by_day(wanted)).values():
        figures.add(of_day)
    return figures


async def sent(store: Any, number: int, category: str, language: str, cost: float = 0.0) -> str:
    """A message that the desk answered by itself."""
    run_id, head = await claimed(store, number)
    found = Delta(outputs={"classify": {"category": category, "language": language}})
    row = make_row(
        run_id,
        0,
        "classify",
        StageResult(delta=found),
        attempt=1,
        flow_version="v1",
        started_at=1.0,
        latency_ms=1.0,
        previous=head,
    )
    if cost:
        await store.record_call(LlmCall(run_id, "draft", "draft", "house/m", "digest", cost=cost))
    await leave(store, run_id, rows=[row])
    return run_id


async def leave(store: Any, run_id: str, **more: Any) -> None:
    """A reply of the run leaves, and the run is over."""
    key = EffectKey(run_id, 0)
    await store.intend(key, DELIVER, "hash")
    await store.settle(key, EffectState.DONE, {})
    await store.finish(run_id, RunStatus.SENT, **more)


async def test_a_message_is_counted_once_as_what_became_of_it(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    run_id, review = await waiting(store)
    assert (await total(feed)).became == {Became.OPEN: 1}
    assert await feed.count_open(ALL) == 1
    await decided(store, review, "approve")
    await store.claim(run_id, {"flow": "v1"})
    await store.finish(run_id, RunStatus.SENT)
    second, other = await waiting(store, 2)
    await decided(store, other, "reject", note="no")
    await store.claim(second, {"flow": "v1"})
    await store.finish(second, RunStatus.REJECTED)

    figures = await total(feed)

    assert figures.became == {Became.UNCHANGED: 1, Became.REJECTED: 1}
    assert (figures.messages, figures.ended, figures.unchanged_share) == (2, 2, 0.5)
    assert await feed.count_open(ALL) == 0
    assert await total(feed, FigureFilter(("bank",), 0, EVER)) == Figures()


async def test_figures_are_told_apart_and_open_their_list(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    czech = await sent(store, 1, "inquiry", "cs")
    await sent(store, 2, "inquiry", "en", cost=0.25)
    await sent(store, 3, "complaint", "en")

    assert (await total(feed)).became == {Became.SENT: 3}
    by_category = await feed.figures_by(ALL, Dimension.CATEGORY)
    both = await feed.figures_by_day_and(ALL, Dimension.CATEGORY)
    assert both == (await feed.figures_by_day(ALL), by_category)
    assert {name: part.messages for name, part in by_category.items()} == {
        "inquiry": 2,
        "complaint": 1,
    }
    assert await feed.figure_values(ALL) == {
        Dimension.CATEGORY: ["complaint", "inquiry"],
        Dimension.LANGUAGE: ["cs", "en"],
        Dimension.CHANNEL: ["api"],
    }
    one = FigureFilter(("desk",), 0, EVER, category="inquiry", language="cs")
    assert (await total(feed, one)).messages == 1
    [listed] = await feed.counted_runs(one, None, 10)
    assert (listed.run_id, listed.became) == (czech, Became.SENT)
    newest, older = (await feed.counted_runs(ALL, None, 2))[-2:]
    assert newest.run > older.run
    rest = await feed.counted_runs(ALL, older.run, 10)
    assert [row.run_id for row in rest] == [czech]
    costs = await feed.figures_by(ALL, Dimension.LANGUAGE)
    assert costs["en"].cost == 0.25


async def test_a_reply_that_left_is_right_only_once_somebody_said_so(stores: Stores) -> None:
    store = await stores()
    feed, trust = SqlConsoleFeed(store._database), trust_of(store)
    runs = [await sent(store, number, "inquiry", "en") for number in range(4)]
    for run_id in runs:
        await trust.left_alone(Judgement(run_id, "inquiry", "en", "auto", Judged.SENT))
    before = await total(feed)
    assert (before.became, before.right, before.wrong) == ({Became.SENT: 4}, 0, 0)

    await trust.look_back(runs[0], Judged.RIGHT, drawn=True, by="eve")
    await trust.look_back(runs[1], Judged.WRONG, drawn=True, by="eve")

    figures = await total(feed)
    assert (figures.became, figures.right, figures.wrong) == ({Became.SENT: 4}, 1, 1)
    wrong = FigureFilter(("desk",), 0, EVER, looked_at=Looked.WRONG)
    assert [row.run_id for row in await feed.counted_runs(wrong, None, 10)] == [runs[1]]


async def test_the_first_reply_counts_from_the_first_message_of_a_conversation(
    stores: Stores,
) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    first, _ = await claimed(store, 1, conversation="c1")
    await store.finish(first, RunStatus.DONE)
    assert (await total(feed)).steps == {}
    second, _ = await claimed(store, 2, conversation="c1")
    await leave(store, second)
    early = t.runs.update().where(t.runs.c.id == first).values(created_at=t.runs.c.created_at - 600)
    await store._database.write_core(lambda core: core.execute(early).close())

    figures = await total(feed)

    assert sum(figures.steps.values()) == 1, "one conversation, one first reply"
    took = figures.took(0.5)
    assert took is not None
    assert 500 < took < 800
    slow = FigureFilter(("desk",), 0, EVER, slower_than=500)
    assert [row.run_id for row in await feed.counted_runs(slow, None, 10)] == [first]


async def test_programs_mail_is_not_counted_and_an_erased_message_stays_counted(
    stores: Stores,
) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    run_id, _ = await claimed(store, 1)
    assert (await total(feed)).messages == 1
    await store.finish(run_id, RunStatus.DONE, error_code="automatic_mail")
    assert (await total(feed)).messages == 0
    await sent(store, 2, "inquiry", "en")
    assert (await total(feed)).became == {Became.SENT: 1}
    await store.erase("ann@example.com", "ida")
    assert (await total(feed)).became == {Became.SENT: 1}


async def test_several_may_count_the_same_at_the_same_time(stores: Stores) -> None:
    here, elsewhere = await stores(), await stores()
    for number in range(40):
        await sent(here, number, "inquiry", "en")
    indexes = [SqlSearchIndex(store._database, "desk") for store in (here, elsewhere) * 3]
    while any(await asyncio.gather(*(index.index_some() for index in indexes))):
        pass

    figures = await total(SqlConsoleFeed(here._database))

    assert (figures.messages, figures.ended, sum(figures.steps.values())) == (40, 40, 40)


async def test_a_day_begins_when_it_begins_at_the_desk(stores: Stores) -> None:
    late = datetime(2027, 3, 1, 23, 30, tzinfo=UTC).timestamp()
    assert day_of(late, ZoneInfo("Europe/Prague")) == day_of(late, UTC) + 1
    store = await stores()
    run_id = await sent(store, 1, "inquiry", "en")
    moved = t.runs.update().values(created_at=late)
    await store._database.write_core(lambda core: core.execute(moved).close())
    run = await store.run(run_id)

    def days(core: sa.Connection) -> list[int]:
        prague = read_figures(core, "desk", [run.position], ZoneInfo("Europe/Prague")).rows
        utc = read_figures(core, "desk", [run.position], UTC).rows
        return [prague[0]["day"] - utc[0]["day"]]

    assert await store._database.read_core(days) == [1]


async def test_a_list_goes_on_where_its_page_ended(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    for number in range(1, 6):
        await sent(store, number, "inquiry", "en")
    await total(feed)
    yesterday = t.run_figures.update().where(t.run_figures.c.run == 5).values(day=1)
    await store._database.write_core(lambda core: core.execute(yesterday).close())

    first = await feed.counted_runs(ALL, None, 3)
    rest = await feed.counted_runs(ALL, first[-1].run, 3)

    assert [row.run for row in (*first, *rest)] == [4, 3, 2, 1, 5]


async def test_who_looks_does_not_index_a_desk_that_is_served(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    served = SqlSearchIndex(store._database, "desk")
    await served.index_some()
    await sent(store, 1, "inquiry", "en")

    assert (await total(feed)).messages == 0
    await served.index_some()
    assert (await total(feed)).messages == 1

    await sent(store, 2, "inquiry", "en")
    monkeypatch.setattr("deskhand.adapters.stores.search_index.MOMENT", -1.0)
    assert (await total(feed)).messages == 2, "nobody indexes it any more"
