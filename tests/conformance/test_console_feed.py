"""What every database tells open consoles: changes that any process wrote, and who looks."""

import asyncio
from typing import Any

import pytest

from deskhand.adapters.stores.console_feed import GONE_AFTER, SqlConsoleFeed
from deskhand.adapters.stores.retention import FOLLOWED
from deskhand.errors import StoreUnavailable
from deskhand.model.run import Decision, Verdict
from deskhand.ports.console import Look, Looker, Place
from deskhand.web.console.live import LiveHub, OpenPage
from tests.accounts import add_accounts
from tests.conformance.adapters import Stores
from tests.conformance.test_review_queue import parked
from tests.kit import a_message
from tests.waiting import PATIENCE, until


def told(look: Look) -> list[tuple[str, str, bool]]:
    return [(change.kind, change.reference, change.is_open) for change in look.changes]


async def test_what_another_process_wrote_is_told_in_order(stores: Stores) -> None:
    here, elsewhere = await stores(), await stores()
    feed = SqlConsoleFeed(here._database)
    before = await feed.newest()

    review = await parked(elsewhere, 1)
    await add_accounts(elsewhere, "ida")
    await elsewhere.assign(review.id, "ida", "ida")
    look = await feed.look(before, ())
    assert told(look) == [
        ("message", review.run_id, False),
        ("review", review.id, True),
        ("review", review.id, True),
    ]
    mark = look.changes[-1].number
    assert (await feed.look(mark, ())).changes == []

    await elsewhere.keep_edit(review.id, "ida", {"text": "Dear Ann"})
    verdict = Verdict(Decision.TAKE_OVER, "ida", review.version, review.payload_hash)
    await elsewhere.decide(review.id, verdict)
    kinds = {change[:2] for change in told(await feed.look(mark, ()))}
    assert kinds == {("review", review.id), ("conversation", review.conversation)}
    assert not any(is_open for _, _, is_open in told(await feed.look(mark, ())))


async def test_a_watched_run_and_conversation_change_when_the_run_does(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    accepted = await store.accept(a_message(1), flow="flow")
    run = await store.run(accepted.run_id)
    places = [
        Place("desk", "run", run.id),
        Place("desk", "conversation", run.conversation),
        Place("other", "run", run.id),
    ]
    before = (await feed.look(0, places)).states
    assert set(before) == set(places[:2])
    await store.claim(run.id, {"flow": "v1"})
    after = (await feed.look(0, places)).states
    assert all(after[place] != before[place] for place in places[:2])


async def test_who_looks_is_known_until_they_leave_or_fall_silent(stores: Stores) -> None:
    store = await stores()
    now = [1000.0]
    feed = SqlConsoleFeed(store._database, lambda: now[0])
    ida = Looker(Place("desk", "review", "rev_1"), "ida", "win_1")
    otto = Looker(Place("desk", "review", "rev_1"), "otto", "win_2")
    await feed.enter(ida)
    await feed.enter(otto)
    assert sorted((await feed.look(0, ())).lookers) == [ida, otto]
    now[0] += GONE_AFTER - 1
    await feed.stay(["win_1"])
    now[0] += 2
    assert (await feed.look(0, ())).lookers == [ida]
    await feed.leave("win_1")
    assert (await feed.look(0, ())).lookers == []


async def test_old_changes_are_forgotten_with_what_else_helps_for_a_while(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    await store.accept(a_message(1), flow="flow")
    await store.prune(3600, 3600)
    assert len((await feed.look(0, ())).changes) == 1
    store._now = _later(store._now, FOLLOWED + 60)
    await store.prune(3600, 3600)
    assert (await feed.look(0, ())).changes == []


def _later(now: Any, seconds: float) -> Any:
    return lambda: now() + seconds


async def test_open_windows_are_told_what_another_process_does(stores: Stores) -> None:
    here, elsewhere = await stores(), await stores()
    feed = SqlConsoleFeed(here._database)
    hub = LiveHub(feed, asyncio.Event())
    review = await parked(elsewhere, 1)
    place = Place("desk", "review", review.id)
    ida = hub.events(OpenPage("win_ida", "ida", frozenset({"desk"}), place))
    stranger = hub.events(OpenPage("win_eva", "eva", frozenset({"bank"})))
    assert [await anext(ida), await anext(stranger)] == ["retry: 1000\n\n"] * 2
    assert await anext(ida) == 'event: here\ndata: {"people": []}\n\n'
    assert await anext(stranger) == 'event: here\ndata: {"people": []}\n\n'

    await feed.enter(Looker(place, "otto", "win_otto"))
    async with asyncio.timeout(PATIENCE):
        assert await anext(ida) == 'event: here\ndata: {"people": ["otto"]}\n\n'
    verdict = Verdict(Decision.REJECT, "otto", review.version, review.payload_hash)
    await elsewhere.decide(review.id, verdict)
    async with asyncio.timeout(PATIENCE):
        event = await anext(ida)
    assert event.startswith(f"id: {await feed.newest()}\nevent: queue\n")
    assert f'"review": "{review.id}", "open": false' in event

    await elsewhere.stop("ida", "a wrong price")
    async with asyncio.timeout(PATIENCE):
        assert await anext(ida) == 'event: desk\ndata: {"desk": "desk", "stopped": true}\n\n'
    await ida.aclose()
    await stranger.aclose()
    assert (await feed.look(0, ())).lookers[0].person == "otto"


async def test_a_window_is_told_what_happened_while_its_page_was_on_the_way(
    stores: Stores,
) -> None:
    store, other = await stores(), await stores("bank")
    feed = SqlConsoleFeed(store._database)
    hub = LiveHub(feed, asyncio.Event())
    await parked(store, 1)
    read_at = await feed.newest()
    await parked(other, 1)
    later = await parked(store, 2)
    newest = await feed.newest()
    told: dict[int | None, str] = {}
    for number, after in enumerate((read_at, newest, None)):
        ida = hub.events(OpenPage(f"win_{after}", "ida", frozenset({"desk"}), None, after))
        assert await anext(ida) == "retry: 1000\n\n"
        assert await anext(ida) == 'event: here\ndata: {"people": []}\n\n'
        told[after] = ""
        if after == read_at:
            told[after] = await anext(ida) + await anext(ida)
        await parked(store, 10 + number)  # what comes next is this, and nothing older
        told[after] += await anext(ida)
        await ida.aclose()
    assert told[read_at].count("event: message") == 2
    assert f'"review": "{later.id}", "open": true' in told[read_at]
    for after in (newest, None):
        assert told[after].count("event: ") == 1
        assert later.run_id not in told[after]


class BrieflyAway(SqlConsoleFeed):
    """Takes a moment to say what is newest, and cannot take in who looks at `gone`."""

    async def newest(self) -> int:
        await asyncio.sleep(0)
        return await super().newest()

    async def enter(self, looker: Looker) -> None:
        if looker.place.reference == "gone":
            raise StoreUnavailable("the database is away")
        await super().enter(looker)


async def test_windows_that_open_at_once_or_in_vain_leave_nobody_looking_behind(
    stores: Stores,
) -> None:
    store = await stores()
    hub = LiveHub(BrieflyAway(store._database), asyncio.Event())
    gone = hub.events(
        OpenPage("win_eva", "eva", frozenset({"desk"}), Place("desk", "review", "gone"))
    )
    assert await anext(gone) == "retry: 1000\n\n"
    with pytest.raises(StoreUnavailable):
        await anext(gone)

    both = [
        hub.events(OpenPage(f"win_{name}", name, frozenset({"desk"}))) for name in ("ida", "jo")
    ]
    for line in ("retry: 1000\n\n", 'event: here\ndata: {"people": []}\n\n'):
        async with asyncio.timeout(PATIENCE):
            assert await asyncio.gather(*(anext(window) for window in both)) == [line] * 2
    assert len(looking()) == 1
    for window in both:
        await window.aclose()
    await until(lambda: looking() == [])


def looking() -> list[str]:
    """The tasks that look at the database for open windows."""
    return [repr(task) for task in asyncio.all_tasks() if "LiveHub._tell" in repr(task)]
