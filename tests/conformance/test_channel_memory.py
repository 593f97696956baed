"""What every database must remember about channels, and do with replies that wait, leave or come
back."""

from typing import Any

import pytest

from deskhand.adapters.stores.channels import Arrival, SqlChannelStore
from deskhand.errors import AlreadyServed, Conflict, Fenced
from deskhand.model.message import DELIVER
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    Decision,
    EffectKey,
    EffectState,
    NewReview,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
)
from tests.conformance.adapters import Stores
from tests.kit import a_message

VERSIONS = {"flow": "v1"}
NOW = 1_800_000_000.0


def memory_of(store: Any, channel: str = "api", owner: str | None = None) -> SqlChannelStore:
    return SqlChannelStore(
        store._database, store.desk, channel, owner or store.owner, now=lambda: NOW
    )


async def working(store: Any, number: int = 1, conversation: str | None = None) -> str:
    run_id: str = (
        await store.accept(a_message(number, conversation=conversation), flow="flow")
    ).run_id
    assert await store.claim(run_id, VERSIONS) is not None
    return run_id


async def delivered(store: Any, run_id: str, seq: int = 1) -> EffectKey:
    key = EffectKey(run_id, seq, 0)
    await store.intend(key, DELIVER, "hash")
    await store.settle(key, EffectState.DONE, {})
    return key


async def leaving(store: Any, run_id: str, expires_at: float | None = NOW + 30) -> str:
    """A reply that leaves by itself then, or that only waits."""
    fallback = None if expires_at is None else Decision.APPROVE
    review = NewReview(
        ReviewKind.REPLY, "leaves", {"reply": {"text": "x"}}, 0, expires_at, fallback
    )
    await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    found: str = (await store.find_reviews(ReviewFilter(run_id=run_id)))[0].id
    return found


# --- how far a channel has read


async def test_a_mark_is_kept_by_channel_and_name(stores: Stores) -> None:
    store = await stores()
    memory = memory_of(store)
    assert await memory.mark("INBOX") is None
    await memory.advance("INBOX", {"next": 1})
    await memory.advance("INBOX", {"next": 5})
    await memory.advance("Other", {"next": 2})
    assert await memory.mark("INBOX") == {"next": 5}
    assert await memory_of(store, "second").mark("INBOX") is None
    assert await memory_of(await stores("other")).mark("INBOX") is None


async def test_what_became_of_a_mail_is_told_once(stores: Stores) -> None:
    store = await stores()
    memory = memory_of(store)
    first, second = await working(store, 1), await working(store, 2)
    arrivals = [
        Arrival("1/7/INBOX", first),
        Arrival("1/8/INBOX", second),
        Arrival("1/9/INBOX", first),
    ]
    await memory.advance("INBOX", {"next": 10}, arrivals)
    await memory.advance("INBOX", {"next": 10}, arrivals)
    assert await memory.unshown() == []
    await store.finish(first, RunStatus.SENT)
    told = await memory.unshown()
    assert {(one.place, one.status) for one in told} == {
        ("1/7/INBOX", RunStatus.SENT),
        ("1/9/INBOX", RunStatus.SENT),
    }
    await memory.shown(told)
    assert await memory.unshown() == []
    await store.finish(second, RunStatus.NEEDS_REVIEW)
    assert [one.place for one in await memory.unshown()] == ["1/8/INBOX"]


async def test_a_mail_is_found_by_its_id_and_ours_by_its_effect(stores: Stores) -> None:
    store = await stores()
    run_id = await working(store)
    key = await delivered(store, run_id)
    memory = memory_of(store)
    found = await memory.run_of("m1")
    assert found is not None
    assert found.id == run_id
    assert await memory.run_of("m2") is None
    assert await memory.sent(key)
    assert not await memory.sent(EffectKey(run_id, 2, 0))
    assert not await memory_of(await stores("other")).sent(key)


async def test_one_process_reads_a_channel(stores: Stores) -> None:
    one, two = memory_of(await stores()), memory_of(await stores())
    await one.acquire(15)
    with pytest.raises(AlreadyServed):
        await two.acquire(15)
    await memory_of(await stores(), "another channel").acquire(15)
    await one.give_up()
    await two.acquire(15)
    with pytest.raises(Fenced):
        await one.renew(15)


# --- replies


async def test_replies_are_counted_by_conversation_and_time(stores: Stores) -> None:
    store = await stores()
    first, second = await working(store, 1, "c"), await working(store, 2, "c")
    await delivered(store, first)
    await delivered(store, second)
    await delivered(store, await working(store, 3, "elsewhere"))
    assert await store.replies_since("c", DELIVER, 0, beside="nobody") == 2
    assert await store.replies_since("c", DELIVER, 0, beside=first) == 1
    assert await store.replies_since("c", DELIVER, 4e9, beside="nobody") == 0
    assert await store.replies_since("c", "another_tool", 0, beside="nobody") == 0


async def test_replies_to_one_sender_are_counted_over_conversations(stores: Stores) -> None:
    store = await stores()
    for number in (1, 2, 3):
        await delivered(store, await working(store, number))
    assert await store.replies_to("Ann@example.com", DELIVER, 0, beside="elsewhere") == 3
    assert await store.replies_to("ann@example.com", DELIVER, 0, beside="c2") == 2
    assert await store.replies_to("ann@example.com", DELIVER, 4e9, beside="elsewhere") == 0
    assert await store.replies_to("bob@example.com", DELIVER, 0, beside="elsewhere") == 0
    assert (
        await (await stores("other")).replies_to("ann@example.com", DELIVER, 0, beside="elsewhere")
        == 0
    )


async def test_a_reply_that_leaves_by_itself_can_be_held_back_until_it_does(stores: Stores) -> None:
    store = await stores(now=lambda: NOW)
    review = await leaving(store, await working(store))
    held = await store.hold_back(review, "eve")
    assert (held.expires_at, held.fallback, held.reason, held.version) == (
        None,
        None,
        "held back by eve",
        2,
    )
    assert await store.expire_reviews(NOW + 60) == []
    with pytest.raises(Conflict, match="waits for a decision"):
        await store.hold_back(review, "eve")
    assert [event.kind for event in await store.events()][-1] == "review.undo"


async def test_it_is_too_late_once_it_leaves(stores: Stores) -> None:
    store = await stores(now=lambda: NOW + 30)
    run_id = await working(store)
    review = await leaving(store, run_id)
    with pytest.raises(Conflict, match="too late"):
        await store.hold_back(review, "eve")
    assert [one.id for one in await store.expire_reviews(NOW + 30)] == [review]
    assert (await store.run(run_id)).status is RunStatus.QUEUED
    with pytest.raises(Conflict, match="too late"):
        await store.hold_back(review, "eve")


@pytest.mark.parametrize("silence", [True, False])
async def test_a_person_who_answers_ends_what_waits(stores: Stores, silence: bool) -> None:
    store = await stores()
    run_id = await working(store, 1, "c")
    review = await leaving(store, run_id, None)
    elsewhere = await leaving(store, await working(store, 2, "elsewhere"), None)
    assert await store.answered_by_person("c", "eve", silence=silence) == 1
    run = await store.run(run_id)
    assert (run.status, run.reason) == (RunStatus.DONE, "answered by eve")
    assert (await store.review(review)).state is ReviewState.STALE
    assert (await store.review(elsewhere)).state is ReviewState.OPEN
    assert await store.taken_over_by("c") == ("eve" if silence else None)


async def test_a_bounce_is_told_at_the_run(stores: Stores) -> None:
    store = await stores()
    run_id = await working(store)
    await store.finish(run_id, RunStatus.SENT)
    assert await store.note_bounce(run_id, "550 no such user")
    run = await store.run(run_id)
    assert (run.status, run.reason) == (RunStatus.SENT, "550 no such user")
    assert [event.kind for event in await store.events(run_id=run_id)] == ["reply.bounced"]
    assert not await (await stores("other")).note_bounce(run_id, "550")


# --- whether a mail has left


async def in_doubt(store: Any, run_id: str, key: EffectKey) -> str:
    """A reply about which a person is asked whether it left."""
    payload = {"reply": {"text": "x"}, "effect_key": str(key)}
    review = NewReview(ReviewKind.DELIVERY, "It may have left.", payload, 1)
    await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    found: str = (await store.find_reviews(ReviewFilter(run_id=run_id)))[0].id
    return found


async def test_only_the_owner_of_a_run_notes_that_its_reply_leaves(stores: Stores) -> None:
    store = await stores()
    key = EffectKey(await working(store), 1, 0)
    await store.intend(key, DELIVER, "hash")
    memory = memory_of(store)
    assert await memory.leaving_at(str(key)) is None
    with pytest.raises(Fenced):
        await memory_of(store, owner="a process that was replaced").leaving(str(key))
    assert await memory.leaving_at(str(key)) is None
    await memory.leaving(str(key))
    assert await memory.leaving_at(str(key)) == NOW
    await memory.stayed(str(key))
    assert await memory.leaving_at(str(key)) is None


@pytest.mark.parametrize(
    ("decision", "state", "leaving_at"),
    [
        (Decision.LEFT, EffectState.DONE, NOW),
        (Decision.SEND_AGAIN, EffectState.FAILED, None),
        (Decision.TAKE_OVER, EffectState.UNKNOWN, NOW),
    ],
)
async def test_what_a_person_says_about_a_reply_that_may_have_left_stands_in_the_ledger(
    stores: Stores, decision: Decision, state: EffectState, leaving_at: float | None
) -> None:
    store = await stores()
    run_id = await working(store)
    key = EffectKey(run_id, 1, 0)
    await store.intend(key, DELIVER, "hash")
    memory = memory_of(store)
    await memory.leaving(str(key))
    await store.settle(key, EffectState.UNKNOWN, None)
    review_id = await in_doubt(store, run_id, key)
    await store.decide(review_id, Verdict(decision, "eve", 1))
    (effect,) = await store.effects(run_id)
    assert (effect.state, await memory.leaving_at(str(key))) == (state, leaving_at)


async def test_a_copy_says_that_its_reply_left_and_no_other(stores: Stores) -> None:
    store = await stores()
    memory = memory_of(store)
    reviews: list[str] = []
    keys: list[EffectKey] = []
    for number in (1, 2):
        run_id = await working(store, number)
        keys.append(EffectKey(run_id, 1, 0))
        await store.intend(keys[-1], DELIVER, "hash")
        await memory.leaving(str(keys[-1]))
        reviews.append(await in_doubt(store, run_id, keys[-1]))
    await memory.copy_arrived(EffectKey(keys[0].run_id, 2, 0))
    await memory.copy_arrived(keys[1])
    states = [(await store.review(review_id)).state for review_id in reviews]
    assert states == [ReviewState.OPEN, ReviewState.DECIDED]
    assert (await store.run(keys[1].run_id)).status is RunStatus.QUEUED
