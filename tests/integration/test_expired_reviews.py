"""What nobody decides in time: ended, handed over or given to somebody, and never sent."""

import asyncio
from pathlib import Path

import pytest

from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import EXPIRY, Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from tests import api_kit
from tests.api_kit import Served, served
from tests.approvals_kit import outbox, person, words_of
from tests.waiting import PATIENCE

HOURS = 3600.0


async def waiting(shop: Served, body: str = "unsure") -> Review:
    client = await shop.client()
    run = await client.worked(body)
    [review] = await shop.desks["shop"].store.find_reviews(
        ReviewFilter(run_id=run["run"], state=ReviewState.OPEN)
    )
    return review


async def pass_time(shop: Served, review: Review, hours: float) -> list[Review]:
    """As if so many hours had passed; every review of the run, oldest first."""
    desk = shop.desks["shop"]
    await desk.store.expire_reviews(review.created_at + hours * HOURS)
    desk.dispatcher.wake()
    await asyncio.wait_for(desk.dispatcher.wait(review.run_id), PATIENCE)
    return await desk.store.find_reviews(ReviewFilter(run_id=review.run_id))


async def test_a_reply_that_nobody_decides_becomes_a_hand_over_that_can_be_answered(
    tmp_path: Path,
) -> None:
    more = "reviews: {expire: {after: 5 hours, then: hand_over}}\n"
    async with served(tmp_path, more=more, approvals=True) as shop:
        review, ida = await waiting(shop), await person(shop)
        shown = {"desk": "shop", "review": review.id}
        assert "Expires in 4 h, then it is handed over." in words_of(await ida.page(shown))
        assert len(await pass_time(shop, review, 4)) == 1
        expired, handed_over = await pass_time(shop, review, 6)
        assert (expired.state, expired.decision, expired.decided_by) == (
            ReviewState.EXPIRED,
            Decision.HAND_OVER,
            EXPIRY,
        )
        assert (handed_over.kind, handed_over.causes) == (ReviewKind.HAND_OVER, (Cause.EXPIRED,))
        assert handed_over.reason.startswith(
            "nobody decided in time: category confidence 0.4 is below 0.8"
        )
        assert handed_over.expires_at is None  # it waits for ever
        store = shop.desks["shop"].store
        assert (await store.run(review.run_id)).status is RunStatus.NEEDS_REVIEW
        sheet = await ida.page({"desk": "shop", "review": handed_over.id})
        assert (
            "Hello ann@example.com</textarea>" in sheet
        )  # what had been drafted is there to begin with
        assert len(await pass_time(shop, handed_over, 1000)) == 2
        assert outbox(shop) == []
        verdict = Verdict(Decision.ANSWER, "ida", handed_over.version, edit={"text": "It is lost."})
        await store.decide(handed_over.id, verdict)
        await pass_time(shop, review, 0)
        assert (await store.run(review.run_id)).status is RunStatus.SENT
        [mail] = outbox(shop)
        assert "It is lost." in mail


async def test_a_hand_over_goes_back_into_its_flow_when_somebody_retries_it(tmp_path: Path) -> None:
    more = "reviews: {expire: {after: 5 hours, then: hand_over}}\n"
    async with served(tmp_path, more=more) as shop:
        review = await waiting(shop)
        handed_over = (await pass_time(shop, review, 6))[-1]
        store = shop.desks["shop"].store
        await store.decide(handed_over.id, Verdict(Decision.RETRY, "ida", handed_over.version))
        again = (await pass_time(shop, review, 0))[-1]
        assert (again.kind, again.state) == (ReviewKind.REPLY, ReviewState.OPEN)
        assert again.expires_at is not None
        assert outbox(shop) == []


async def test_what_nobody_decides_is_given_to_somebody_and_waits_on(tmp_path: Path) -> None:
    more = "reviews: {expire: {after: 5 hours, then: assign, to: lead}}\n"
    async with served(tmp_path, more=more) as shop:
        reply, broken = await waiting(shop), await waiting(shop, "broken")
        store = shop.desks["shop"].store
        for review in (reply, broken):
            [given] = await pass_time(shop, review, 6)
            assert (given.assignee, given.state, given.version) == (
                "lead",
                ReviewState.OPEN,
                review.version,
            )
            assert (given.expires_at, given.decision) == (None, None)
            event = (await store.events(run_id=review.run_id))[-1]
            assert (event.kind, event.by, event.payload["to"]) == (
                "review.assigned",
                EXPIRY,
                "lead",
            )
            await pass_time(shop, review, 1000)
        verdict = Verdict(Decision.APPROVE, "ida", reply.version, reply.payload_hash)
        assert (await store.decide(reply.id, verdict)).decided_by == "ida"


@pytest.mark.parametrize(
    "more", ["reviews: {expire_after: 5 hours}\n", "reviews: {expire: {after: 5 hours}}\n"]
)
async def test_what_nobody_decides_is_over(tmp_path: Path, more: str) -> None:
    async with served(tmp_path, more=more) as shop:
        reply, broken = await waiting(shop), await waiting(shop, "broken")
        assert [one.decision for one in await pass_time(shop, reply, 6)] == [Decision.REJECT]
        assert [one.decision for one in await pass_time(shop, broken, 6)] == [Decision.CLOSE]
        store = shop.desks["shop"].store
        assert (await store.run(reply.run_id)).status is RunStatus.REJECTED
        assert (await store.run(broken.run_id)).status is RunStatus.DONE
        assert outbox(shop) == []


async def test_a_stage_may_wait_for_another_time_than_the_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = "auto_send_at: 0.8, expire: {{after: 1 hour, then: assign, to: lead}}"
    monkeypatch.setattr(api_kit, "DESK", api_kit.DESK.replace("auto_send_at: 0.8", stage))
    async with served(tmp_path, more="reviews: {expire: {after: 5 hours}}\n") as shop:
        reply, broken = await waiting(shop), await waiting(shop, "broken")
        [given] = await pass_time(shop, reply, 2)
        assert (given.assignee, given.state) == ("lead", ReviewState.OPEN)
        assert [one.decision for one in await pass_time(shop, broken, 2)] == [None]
        assert [one.decision for one in await pass_time(shop, broken, 6)] == [Decision.CLOSE]
