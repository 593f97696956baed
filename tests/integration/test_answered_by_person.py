"""A person answers what was handed over: from the page, the API and the command line, as every
reply leaves."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.engine.audit import verify_desk
from deskhand.evals.case_from_run import append_case, case_of
from deskhand.evals.case_runner import Settings, run_cases
from deskhand.evals.recorded_runs import RunRange, read_conversations
from deskhand.model.message import Address, Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, RunStatus
from deskhand.wiring import desk_cases, open_database, open_sandbox, open_store, read_desk
from tests.api_kit import Client, Served, is_problem, served, write_desk
from tests.approvals_kit import outbox, person, words_of
from tests.replay_kit import recording, replayed, verdicts
from tests.waiting import PATIENCE

MORE = """
undo_seconds: {undo}
mode: {mode}
channels: {{post: {{files: mail}}}}
reviews: {{canned: {{thanks: {{en: "Dear {{name}}, thank you. {{reviewer}}"}}}}}}
"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, more=MORE.format(undo=600, mode="auto"), approvals=True) as running:
        yield running


def a_mail(body: str = "broken", **fields: Any) -> Message:
    known = {
        "id": "m1",
        "channel": "post",
        "conversation": "c1",
        "sender": Address(address="ann@example.com", name="Ann"),
        "subject": "Parcel",
        "body": body,
        "received_at": datetime(2026, 11, 15, 9, 0, tzinfo=UTC),
    }
    return Message.model_validate({**known, **fields})


async def handed_over(shop: Served, message: Message | None = None) -> Review:
    desk = shop.desks["shop"]
    accepted = await desk.dispatcher.submit(message or a_mail())
    status = await asyncio.wait_for(desk.dispatcher.wait(accepted.run_id), PATIENCE)
    assert status is RunStatus.NEEDS_REVIEW
    return await newest(shop, accepted.run_id)


async def newest(shop: Served, run_id: str) -> Review:
    return (await shop.desks["shop"].store.find_reviews(ReviewFilter(run_id=run_id)))[-1]


def shown(review: Review) -> dict[str, Any]:
    return {
        "desk": review.desk,
        "review": review.id,
        "version": review.version,
        "payload_hash": review.payload_hash,
    }


async def at_rest(shop: Served, run_id: str) -> RunStatus:
    desk = shop.desks["shop"]
    desk.dispatcher.wake()
    return await asyncio.wait_for(desk.dispatcher.wait(run_id), PATIENCE)


async def test_an_answer_from_the_page_can_be_stopped_changed_and_leaves_once(shop: Served) -> None:
    review, ida = await handed_over(shop), await person(shop)
    sheet = await ida.page(shown(review))
    assert "Send this answer" in words_of(sheet)
    assert 'value="Re: Parcel"' in sheet
    assert "Dear Ann, thank you. ida" in words_of(sheet)
    half = await ida.do(shown(review), "answer", text="Dear {name}, thank you.")
    assert (half.status_code, "still says {name}" in words_of(half.text)) == (409, True)
    assert (await ida.do(shown(review), "answer", text="  ")).status_code == 409
    assert "Dear {name}, thank you.</textarea>" in await ida.page(shown(review))

    done = await ida.do(
        shown(review), "answer", text="It is lost.\nWe are sorry.", subject="Re: Parcel"
    )
    assert done.status_code == 303
    late = await (await person(shop, "otto")).do(shown(review), "answer", text="It is on its way.")
    assert late.status_code == 409
    assert "ida was faster: answered just now." in words_of(late.text)
    leaving = await newest(shop, review.run_id)
    assert leaving.leaves_by_itself
    assert leaving.payload["reply"]["text"] == "It is lost.\nWe are sorry."
    assert leaving.payload["reply"]["to"] == "ann@example.com"
    assert outbox(shop) == []

    assert (await ida.do(shown(review), "undo")).status_code == 303
    held = await newest(shop, review.run_id)
    assert held.reason == "held back by ida"
    assert (await ida.do(shown(held), "approve", text="It has been found.")).status_code == 303
    store = shop.desks["shop"].store
    leaving = await newest(shop, review.run_id)
    assert leaving.leaves_by_itself
    await store.expire_reviews((leaving.expires_at or 0) + 1)
    assert await at_rest(shop, review.run_id) is RunStatus.SENT
    [mail] = outbox(shop)
    assert "It has been found." in mail
    assert [
        one.state for one in await store.find_reviews(ReviewFilter(run_id=review.run_id))
    ].count(ReviewState.OPEN) == 0
    assert (await verify_desk(store)).problems == []


async def test_an_answer_over_the_api_needs_its_words(tmp_path: Path) -> None:
    async with served(tmp_path, more=MORE.format(undo=0, mode="shadow")) as shop:
        review, client = await handed_over(shop), await shop.client(name="Ida")
        path, body = (
            f"/api/reviews/{review.id}",
            {"decision": "answer", "version": review.version, "payload_hash": review.payload_hash},
        )
        assert (await client.get(path)).json()["decisions"] == [
            "answer",
            "acknowledge",
            "take_over",
            "retry",
            "close",
        ]
        is_problem(await client.post(f"{path}/decision", json=body), 422, "request_invalid")
        told = await client.post(f"{path}/decision", json={**body, "edit": {"text": "It is lost."}})
        assert (told.status_code, told.json()["decided_by"]) == (200, "Ida")
        is_problem(
            await client.post(f"{path}/decision", json={**body, "edit": {"text": "Again."}}),
            409,
            "conflict",
        )
        assert (
            await at_rest(shop, review.run_id) is RunStatus.SENT
        )  # modes are about what the desk writes
        [mail] = outbox(shop)
        assert "It is lost." in mail
        story = (await client.get(f"/api/runs/{review.run_id}")).json()
        assert story["status"] == "sent"


async def test_a_reply_that_waits_cannot_be_answered_beside_it(shop: Served) -> None:
    client = await shop.client()
    review = await client.under_review()
    body = {
        "decision": "answer",
        "version": review["version"],
        "payload_hash": review["payload_hash"],
        "edit": {"text": "No."},
    }
    refused = is_problem(
        await client.post(f"/api/reviews/{review['review']}/decision", json=body), 409, "conflict"
    )
    assert "cannot be decided with 'answer'" in refused["detail"]


async def test_an_answer_passes_over_what_keeps_the_desk_from_answering(tmp_path: Path) -> None:
    """A conversation that somebody has taken over, a program that wrote: nobody works them, a
    person may answer."""
    async with served(tmp_path, more=MORE.format(undo=0, mode="auto")) as shop:
        store = shop.desks["shop"].store
        await store.take_over("c1", "otto")
        taken = await handed_over(shop, a_mail("Hello?"))
        automatic = await handed_over(
            shop,
            a_mail("Back on Monday", id="m2", conversation="c2", subject="Out of office: Parcel"),
        )
        client: Client = await shop.client()
        for review in (taken, automatic):
            body = {
                "decision": "answer",
                "version": review.version,
                "payload_hash": review.payload_hash,
                "edit": {"text": f"To {review.conversation}."},
            }
            assert (
                await client.post(f"/api/reviews/{review.id}/decision", json=body)
            ).status_code == 200
            assert await at_rest(shop, review.run_id) is RunStatus.SENT
        assert len(outbox(shop)) == 2


async def test_what_people_answered_replays_as_it_was(tmp_path: Path) -> None:
    folder = write_desk(tmp_path, "shop", more="modes: {else: auto}\ntrust: {start: draft}\n")
    database = tmp_path / "desk.db"
    async with recording(folder, database) as desk:
        run_id = await desk.say("broken")
        assert (await desk.desk.store.run(run_id)).status is RunStatus.NEEDS_REVIEW
        await desk.decide(run_id, Decision.ANSWER, edit={"text": "It is lost."})
        assert (await desk.desk.store.run(run_id)).status is RunStatus.SENT
        assert (
            await desk.desk.trust.store.judgements("") == []
        )  # a person's own words judge nothing
    found, _ = await replayed(database, folder)
    assert verdicts(found) == {run_id: "identical"}
    loaded = read_desk(str(folder))
    async with open_database(str(database)) as opened:
        [conversation] = await read_conversations(open_store(opened, "shop"), RunRange())
    append_case(folder / "evals" / "answered.yaml", case_of(conversation, "answered", []))
    cases, scorers = desk_cases(loaded)
    async with open_sandbox(loaded) as sandbox:
        [result] = await run_cases(cases, sandbox, Settings(scorers))
    assert result.passed, result.shown.scores
