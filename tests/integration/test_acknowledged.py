"""A reply that only says that somebody will answer leaves, and the matter stays open."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from tests.api_kit import Client, Served, is_problem, served
from tests.approvals_kit import outbox, person, words_of
from tests.waiting import PATIENCE

COMMITMENTS = "commitments: [{name: an answer, actions: [contact], within: 1 day}]\n"
REVIEWS = "reviews: {answer_within: 4 hours, expire: {after: 5 hours, then: end}}\n"
MORE = "undo_seconds: 0\n" + REVIEWS
HOUR = 3600.0


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, more=MORE, approvals=True) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(name="ann")


async def at_rest(shop: Served, run_id: str) -> RunStatus:
    desk = shop.desks["shop"]
    desk.dispatcher.wake()
    return await asyncio.wait_for(desk.dispatcher.wait(run_id), PATIENCE)


async def open_review(shop: Served, run_id: str) -> Review | None:
    found = await shop.desks["shop"].store.find_reviews(
        ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
    )
    return found[-1] if found else None


async def decide(api: Client, review: dict[str, Any], decision: str, **more: Any) -> Any:
    body = {
        "decision": decision,
        "version": review["version"],
        "payload_hash": review["payload_hash"],
        **more,
    }
    return await api.post(f"/api/reviews/{review['review']}/decision", json=body)


async def test_an_approved_holding_reply_leaves_a_task_with_a_deadline(
    shop: Served, api: Client
) -> None:
    review = await api.under_review("unsure, later")
    assert review["holding"] is True
    decided = (await decide(api, review, "approve")).json()
    assert decided["decision"] == "acknowledge"
    assert await at_rest(shop, review["run"]) is RunStatus.NEEDS_REVIEW
    [mail] = outbox(shop)
    assert "A colleague will answer you today." in mail

    task = await open_review(shop, review["run"])
    assert task is not None
    assert (task.kind, task.causes) == (ReviewKind.FOLLOW_UP, (Cause.ANSWER_OWED,))
    assert "acknowledged by ann" in task.reason
    shown = (await api.get(f"/api/reviews/{task.id}")).json()
    due = datetime.fromisoformat(shown["due_at"]) - datetime.fromisoformat(shown["created_at"])
    assert abs(due - timedelta(hours=4)) < timedelta(minutes=1)
    assert shown["decisions"] == ["answer", "acknowledge", "take_over", "close"]

    store = shop.desks["shop"].store
    assert await store.expire_reviews(task.created_at + 1000 * HOUR) == []  # time closes no promise
    retried = await api.post(f"/api/runs/{review['run']}/retry")
    assert "owes the customer an answer" in is_problem(retried, 409, "conflict")["detail"]

    answered = await decide(api, shown, "answer", edit={"text": "It was found."})
    assert answered.status_code == 200
    assert await at_rest(shop, review["run"]) is RunStatus.SENT
    assert ["It was found." in text for text in outbox(shop)].count(True) == 1
    assert len(outbox(shop)) == 2
    assert await open_review(shop, review["run"]) is None


async def test_the_page_says_what_approving_means_and_shows_what_is_owed(
    shop: Served, api: Client
) -> None:
    ida = await person(shop)
    review = await api.under_review("unsure, later")
    page = await ida.page(review)
    assert "Acknowledge and keep open" in words_of(page)
    assert "Approve & send" not in words_of(page)
    assert (await ida.do(review, "acknowledge")).status_code == 303
    task = await open_review(shop, review["run"])
    assert task is not None
    sheet = words_of(await ida.page({"desk": "shop", "review": task.id}))
    assert "answer owed" in sheet
    assert "The answer is due in 3 h." in sheet
    assert "Send this answer" in sheet
    assert "Sent so far: Thank you. A colleague will answer you today." in sheet
    assert sheet.count("A colleague will answer") == 1  # it does not wait to be sent again
    assert "due in 3 h" in words_of((await ida.get("/approvals/")).text)

    late = await ida.do(await _shown(api, task), "snooze", until=str(int(task.created_at + 90000)))
    assert (late.status_code, "due before that" in words_of(late.text)) == (409, True)
    again = await ida.do(await _shown(api, task), "acknowledge", text="We are still looking.")
    assert again.status_code == 303
    task = await open_review(shop, review["run"])
    assert task is not None
    assert task.kind is ReviewKind.FOLLOW_UP
    assert (await ida.do(await _shown(api, task), "close", note="called")).status_code == 303
    assert (await shop.desks["shop"].store.run(review["run"])).status is RunStatus.DONE


async def _shown(api: Client, review: Review) -> dict[str, Any]:
    return dict((await api.get(f"/api/reviews/{review.id}")).json())


async def test_a_reviewer_may_say_that_it_is_the_answer(shop: Served, api: Client) -> None:
    ida = await person(shop)
    review = await api.under_review("unsure, later")
    sent = await ida.do(review, "approve", final="yes", text=review["payload"]["reply"]["text"])
    assert sent.status_code == 303
    assert await at_rest(shop, review["run"]) is RunStatus.SENT
    assert await open_review(shop, review["run"]) is None


async def test_an_edit_that_answers_closes_and_one_that_does_not_keeps_open(
    shop: Served, api: Client
) -> None:
    answered = await api.under_review("unsure, later")
    await decide(api, answered, "edit", edit={"text": "It arrives on Monday."})
    assert await at_rest(shop, answered["run"]) is RunStatus.SENT
    put_off = await api.under_review("unsure")
    edit = {"text": "Thanks! A colleague will answer you."}
    assert (await decide(api, put_off, "edit", edit=edit)).json()["decision"] == "acknowledge"
    assert await at_rest(shop, put_off["run"]) is RunStatus.NEEDS_REVIEW


async def test_any_reply_can_be_acknowledged_until_a_named_time(shop: Served, api: Client) -> None:
    review = await api.under_review("unsure")
    due = datetime.now(UTC) + timedelta(days=3)
    past = await decide(api, review, "acknowledge", due_at="2020-01-01T00:00:00Z")
    assert (past.status_code, "within the next year" in past.text) == (422, True)
    wrong = await decide(api, review, "reject", due_at=due.isoformat())
    assert wrong.status_code == 422
    await decide(api, review, "acknowledge", due_at=due.isoformat(), edit={"text": "Bear with us."})
    assert await at_rest(shop, review["run"]) is RunStatus.NEEDS_REVIEW
    task = await open_review(shop, review["run"])
    assert task is not None
    assert task.due_at == pytest.approx(due.timestamp())
    assert "Bear with us." in outbox(shop)[0]


async def test_a_colleagues_mail_settles_what_is_owed(shop: Served, api: Client) -> None:
    review = await api.under_review("unsure, later")
    await decide(api, review, "approve")
    await at_rest(shop, review["run"])
    store = shop.desks["shop"].store
    assert await store.answered_by_person(review["conversation"], "otto", silence=False) == 1
    assert await open_review(shop, review["run"]) is None
    assert (await store.run(review["run"])).status is RunStatus.DONE


async def test_a_holding_reply_that_leaves_by_itself_leaves_a_task_too(tmp_path: Path) -> None:
    async with served(tmp_path, more=MORE + COMMITMENTS) as shop:
        run = await (await shop.client()).worked("later")
        assert run["status"] == "needs_review"
        assert run["review"]["kind"] == "follow_up"
        assert len(outbox(shop)) == 1


async def test_a_stopped_acknowledgement_stays_one(tmp_path: Path) -> None:
    more = "undo_seconds: 600\nchannels: {post: {files: mail}}\n"
    async with served(tmp_path, more=more) as shop:
        api = await shop.client()
        review = await api.under_review("unsure", channel="post")
        await decide(api, review, "acknowledge", edit={"text": "Bear with us."})
        await at_rest(shop, review["run"])
        store = shop.desks["shop"].store
        held = await store.hold_back(review["review"], "ida")
        await store.decide(held.id, Verdict(Decision.APPROVE, "ida", held.version))
        await at_rest(shop, review["run"])
        leaving = await open_review(shop, review["run"])
        assert leaving is not None
        await store.expire_reviews((leaving.expires_at or 0) + 1)
        assert await at_rest(shop, review["run"]) is RunStatus.NEEDS_REVIEW
        task = await open_review(shop, review["run"])
        assert task is not None
        assert task.kind is ReviewKind.FOLLOW_UP
