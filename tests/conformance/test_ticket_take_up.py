"""What every database does when a message takes up what waits for its ticket elsewhere."""

from typing import Any

import pytest

from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, NewReview, ReviewKind, RunStatus, Verdict
from tests.conformance.adapters import Stores
from tests.tickets_kit import accepted, mail, tickets_of

REPLY = {"to": "ann@example.com", "subject": "Re", "text": "Here it is."}


async def resting(
    store: Any, number: str, status: RunStatus, kind: ReviewKind | None = None, **fields: Any
) -> str:
    """A message that came in a conversation of its own, and whose run rests so."""
    run = await accepted(store, mail(number, "Where is it?", **fields))
    await store.claim(run, {"flow": "v1"})
    review = None if kind is None else NewReview(kind, "why", {"reply": REPLY}, 0)
    await store.finish(run, status, review=review)
    return run


async def test_drafts_elsewhere_become_stale_and_the_question_is_taken_up(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store).store
    draft = await resting(store, "1", RunStatus.WAITING_REVIEW, ReviewKind.REPLY)
    asked = await resting(store, "2", RunStatus.WAITING_USER)
    sent = await resting(store, "3", RunStatus.SENT)
    here = await resting(
        store, "4", RunStatus.WAITING_REVIEW, ReviewKind.REPLY, conversation="same"
    )
    run = await accepted(store, mail("5", "It is number 7.", conversation="same", address="b@c.d"))
    others = [draft, asked, sent, here]
    for _ in range(2):
        parked, earlier = await tickets.take_up(run, others)
        assert parked is not None
        assert parked.id == asked
        assert [turn.run.id for turn in earlier] == [draft]
    after = {one: (await store.run(one)) for one in others}
    assert [after[one].status for one in others] == ["done", "done", "sent", "waiting_review"]
    assert [after[one].successor for one in others] == [run, run, None, None]
    (stale,) = await store.find_reviews(ReviewFilter(run_id=draft))
    assert stale.state == "stale"


async def test_nothing_waits_elsewhere(stores: Stores) -> None:
    store = await stores()
    done = await resting(store, "1", RunStatus.DONE)
    later = await accepted(store, mail("2", "And now?"))
    newer = await resting(store, "3", RunStatus.WAITING_USER)
    tickets = tickets_of(store).store
    assert await tickets.take_up(later, [done, newer]) == (None, [])
    assert (await store.run(newer)).status is RunStatus.WAITING_USER


async def test_a_hand_over_holds_further_messages_until_it_is_decided(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store).store
    first = await resting(store, "1", RunStatus.NEEDS_REVIEW, ReviewKind.HAND_OVER)
    second = await accepted(store, mail("2", "Hurry!"))
    (review,) = await store.find_reviews(ReviewFilter(run_id=first))
    assert await tickets.join_hand_over(second, [first, second], "desk") == review.id
    assert await tickets.join_hand_over(second, [second], "desk") is None
    noted = [event for event in await store.events(run_id=first) if event.kind == "review.note"]
    assert second in str(noted[0].payload)
    verdict = Verdict(Decision.CLOSE, "eve", review.version, review.payload_hash, note="called")
    await store.decide(review.id, verdict)
    assert await tickets.join_hand_over(second, [first, second], "desk") is None


@pytest.mark.parametrize("kind", [ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP])
async def test_a_run_waits_for_a_person_until_its_hand_over_is_decided(
    stores: Stores, kind: ReviewKind
) -> None:
    store = await stores()
    tickets = tickets_of(store).store
    draft = await resting(store, "1", RunStatus.WAITING_REVIEW, ReviewKind.REPLY)
    given = await resting(store, "2", RunStatus.NEEDS_REVIEW, kind)
    assert await tickets.waits_for_person([draft, given])
    assert not await tickets.waits_for_person([draft])
    assert not await tickets.waits_for_person([])
    (review,) = await store.find_reviews(ReviewFilter(run_id=given))
    verdict = Verdict(Decision.CLOSE, "eve", review.version, review.payload_hash, note="called")
    await store.decide(review.id, verdict)
    assert not await tickets.waits_for_person([draft, given])
