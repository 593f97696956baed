"""What every Store promises about caps, the stop switch and approvals by two people."""

import asyncio
from typing import Any

import pytest

from deskhand.errors import Conflict, EffectRefused
from deskhand.model.run import (
    Decision,
    EffectKey,
    EffectState,
    LlmCall,
    NewReview,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
)
from deskhand.model.totals import CountedEffect, Limit, Sums
from tests.conformance.adapters import Stores
from tests.kit import a_message

VERSIONS = {"flow": "v1"}
PLACES: Any = {
    "conversation": ("c1", ""),
    "principal": ("customer:ann", "2026-11-15"),
    "day": ("", "2026-11-15"),
}


def counted(*limits: Limit, places: Any = None, **units: int) -> CountedEffect:
    return CountedEffect(places or PLACES, {"calls": 1, **units}, limits)


async def claimed(store: Any, number: int = 1) -> str:
    accepted = await store.accept(a_message(number), flow="flow")
    await store.claim(accepted.run_id, VERSIONS)
    return str(accepted.run_id)


async def facts(store: Any, places: Any = None) -> Any:
    return Sums.of(await store.totals(places or PLACES)).facts()


async def test_an_effect_is_counted_once_with_its_intention(stores: Stores) -> None:
    store = await stores()
    key = EffectKey(await claimed(store), 1)
    for _ in range(3):
        assert (
            await store.intend(key, "refund", "h", counted(EUR=125_000))
        ).state is EffectState.INTENDED
    await store.intend(EffectKey(key.run_id, 2), "mail", "h", counted(sends=1))
    told = await facts(store)
    assert (told["day"]["calls"], told["day"]["money"]) == (2, {"EUR": "12.5"})
    assert told["conversation"]["tools"]["refund"] == {"calls": 1, "money": {"EUR": "12.5"}}
    assert await facts(store, {"day": ("", "2026-11-16")}) == {}


async def test_what_would_exceed_a_cap_leaves_no_trace(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    cap = Limit("day", "EUR", 1_000_000)
    await store.intend(EffectKey(run, 1), "refund", "h", counted(cap, EUR=900_000))
    with pytest.raises(EffectRefused, match="100 EUR a day") as caught:
        await store.intend(EffectKey(run, 2), "refund", "h", counted(cap, EUR=100_001))
    assert (caught.value.rule, caught.value.liftable) == ("over_cap", True)
    assert [effect.key.seq for effect in await store.effects(run)] == [1]
    await store.intend(EffectKey(run, 3), "refund", "h", counted(cap, EUR=100_000))
    assert (await facts(store))["day"]["money"] == {"EUR": "100"}


async def test_a_limit_may_be_for_one_tool_or_one_scope(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    one = Limit("conversation", "calls", 1, tool="refund")
    await store.intend(EffectKey(run, 1), "mail", "h", counted(one))
    await store.intend(EffectKey(run, 2), "refund", "h", counted(one))
    with pytest.raises(EffectRefused, match="1 calls of refund a conversation"):
        await store.intend(EffectKey(run, 3), "refund", "h", counted(one))
    elsewhere = {**PLACES, "conversation": ("c2", "")}
    await store.intend(EffectKey(run, 4), "refund", "h", counted(one, places=elsewhere))


async def test_many_workers_never_overshoot_a_cap(stores: Stores) -> None:
    """Every store is another process's; all want the last places at once."""
    several = [await stores(owner=f"w{number}") for number in range(4)]
    runs = [await claimed(several[number % 4], number) for number in range(40)]
    cap = Limit("day", "sends", 25)

    async def intend(number: int) -> bool:
        try:
            await several[number % 4].intend(
                EffectKey(runs[number], 1), "mail", "h", counted(cap, sends=1)
            )
        except EffectRefused:
            return False
        return True

    allowed = await asyncio.gather(*map(intend, range(40)))
    assert sum(allowed) == 25
    assert (await facts(several[0]))["day"]["calls"] == 25
    assert len(await several[0].effects()) == 25


async def test_a_stopped_desk_does_nothing_until_it_is_resumed(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    run = await claimed(store)
    assert await store.stopped() is None
    await store.stop("eve", "the shop is on fire")
    assert (await store.stop("bob", "too late")).by == "eve"
    stop = await store.stopped()
    assert stop is not None
    assert (stop.by, stop.reason) == ("eve", "the shop is on fire")
    assert await other.stopped() is None
    with pytest.raises(EffectRefused, match="the shop is on fire") as caught:
        await store.intend(EffectKey(run, 1), "mail", "h", counted())
    assert (caught.value.rule, caught.value.liftable) == ("stopped", False)
    assert await store.effects(run) == []
    assert await store.resume("eve") == 0
    await store.intend(EffectKey(run, 1), "mail", "h", counted())
    assert [event.kind for event in await store.events() if event.kind.startswith("desk.")] == [
        "desk.stopped",
        "desk.resumed",
    ]


async def test_what_met_the_stop_goes_on_when_the_desk_is_resumed(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    await store.stop("eve")
    await store.finish(
        run, RunStatus.WAITING_REVIEW, review=NewReview(ReviewKind.STOPPED, "stopped", {}, 0)
    )
    await store.expire_reviews(10**12)
    assert (await store.run(run)).status is RunStatus.WAITING_REVIEW
    assert await store.resume("eve") == 1
    assert (await store.run(run)).status is RunStatus.QUEUED


async def test_a_run_that_comes_to_rest_while_the_desk_is_resumed_is_found(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    await store.finish(
        run, RunStatus.WAITING_REVIEW, review=NewReview(ReviewKind.STOPPED, "stopped", {}, 0)
    )
    await store.expire_reviews(0)
    assert (await store.run(run)).status is RunStatus.QUEUED


async def test_two_people_approve_what_two_must(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    asked = NewReview(ReviewKind.TOOL_CALL, "much money", {"approvals_needed": 2}, 0)
    await store.finish(run, RunStatus.WAITING_REVIEW, review=asked)
    (review,) = await store.find_reviews()
    signed = await store.decide(
        review.id, Verdict(Decision.APPROVE, "ann", review.version, review.payload_hash)
    )
    assert (signed.state, signed.signed_by, signed.decision) == (ReviewState.OPEN, "ann", None)
    assert (await store.run(run)).status is RunStatus.WAITING_REVIEW
    with pytest.raises(Conflict, match="needs two people"):
        await store.decide(review.id, Verdict(Decision.APPROVE, " Ann", signed.version))
    with pytest.raises(Conflict, match="has changed"):
        await store.decide(review.id, Verdict(Decision.APPROVE, "bob", review.version))
    decided = await store.decide(review.id, Verdict(Decision.APPROVE, "bob", signed.version))
    assert (decided.state, decided.signed_by, decided.decided_by) == (
        ReviewState.DECIDED,
        "ann",
        "bob",
    )
    assert (await store.run(run)).status is RunStatus.QUEUED


async def test_one_person_may_still_reject(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    asked = NewReview(ReviewKind.TOOL_CALL, "much money", {"approvals_needed": 2}, 0)
    await store.finish(run, RunStatus.WAITING_REVIEW, review=asked)
    (review,) = await store.find_reviews()
    decided = await store.decide(review.id, Verdict(Decision.REJECT, "ann", review.version))
    assert decided.state is ReviewState.DECIDED


@pytest.mark.parametrize("needed", [1, 2])
async def test_a_run_that_has_ended_takes_no_approval(stores: Stores, needed: int) -> None:
    store = await stores()
    run = await claimed(store)
    asked = NewReview(ReviewKind.TOOL_CALL, "money", {"approvals_needed": needed}, 0)
    await store.finish(run, RunStatus.WAITING_REVIEW, review=asked)
    (review,) = await store.find_reviews()
    await store.cancel(run, "eve")
    with pytest.raises(Conflict, match="stale"):
        await store.decide(review.id, Verdict(Decision.APPROVE, "ann", review.version))


async def test_erasing_a_person_forgets_what_was_counted_for_him(stores: Stores) -> None:
    store = await stores()
    run = await claimed(store)
    places = {"principal": ("address:ann@example.com", "2026-11-15"), "day": ("", "2026-11-15")}
    await store.intend(EffectKey(run, 1), "mail", "h", counted(places=places))
    await store.finish(run, RunStatus.DONE)
    await store.erase("Ann@example.com", "eve")
    assert list(await facts(store, places)) == ["day"]


async def test_what_models_cost_adds_up_from_a_moment_on(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    for at, cost in ((10.0, 1.0), (20.0, 0.25), (30.0, 0.5)):
        await store.record_call(LlmCall(None, "draft", "complete", "m", "d", cost=cost, at=at))
    await other.record_call(LlmCall(None, "draft", "complete", "m", "d", cost=9.0, at=30.0))
    assert (await store.spent(20.0), await store.spent(31.0)) == (0.75, 0.0)
