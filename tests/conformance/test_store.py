"""What every Store promises: one run a message, one owner a run, decisions once, erasure that
keeps the chain."""

import asyncio
from typing import Any

import pytest

from deskhand.engine.audit import seal_desk, verify_desk
from deskhand.engine.journal import make_row, seed
from deskhand.errors import AlreadyServed, Conflict, Fenced, NotFound
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.message import Address, Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    Decision,
    EffectKey,
    EffectState,
    Event,
    LlmCall,
    NewReview,
    ReviewKind,
    ReviewState,
    RunStatus,
    StepRow,
    Verdict,
)
from tests.conformance.adapters import Stores
from tests.kit import a_message

VERSIONS = {"flow": "v1"}


def row_of(run_id: str, seq: int, previous: bytes, name: str = "step") -> StepRow:
    result = StageResult(delta=Delta(outputs={name: {"seq": seq}}))
    return make_row(
        run_id,
        seq,
        name,
        result,
        attempt=1,
        flow_version="v1",
        started_at=1.5,
        latency_ms=2.25,
        previous=previous,
    )


async def claimed(store: Any, number: int = 1, **fields: Any) -> tuple[str, bytes]:
    accepted = await store.accept(a_message(number, **fields), flow="flow")
    taken = await store.claim(accepted.run_id, VERSIONS)
    return accepted.run_id, seed(accepted.run_id, taken.message_digest)


# --- accepting and claiming


async def test_a_message_accepted_three_times_is_one_run(stores: Stores) -> None:
    store = await stores()
    answers = await asyncio.gather(
        *(store.accept(a_message(n % 100), flow="flow") for n in range(300))
    )
    assert len({answer.run_id for answer in answers}) == 100
    assert sum(not answer.duplicate for answer in answers) == 100
    assert len(await store.runs(limit=500)) == 100


async def test_the_same_id_on_another_channel_or_desk_is_another_message(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    first = await store.accept(a_message(), flow="flow")
    assert not (
        await store.accept(a_message().model_copy(update={"channel": "chat"}), flow="flow")
    ).duplicate
    assert not (await other.accept(a_message(), flow="flow")).duplicate
    with pytest.raises(NotFound):
        await other.run(first.run_id)
    assert await other.message(first.run_id) is None
    assert [run.desk for run in await other.runs()] == ["other"]


async def test_a_message_comes_back_as_it_was_accepted(stores: Stores) -> None:
    store = await stores()
    message = a_message(body="ünïcödé \N{PILE OF POO} \x01").model_copy(
        update={"headers": {"x": "y"}}
    )
    accepted = await store.accept(message, flow="flow")
    assert await store.message(accepted.run_id) == message


async def test_of_two_claims_one_gets_the_run(stores: Stores) -> None:
    one, two = await stores(), await stores()
    run_id = (await one.accept(a_message(), flow="flow")).run_id
    taken = await asyncio.gather(one.claim(run_id, VERSIONS), two.claim(run_id, VERSIONS))
    assert sum(claim is not None for claim in taken) == 1


async def test_an_owner_may_claim_its_own_run_again_after_the_database_was_away(
    stores: Stores,
) -> None:
    store, other = await stores(), await stores()
    run_id, _ = await claimed(store)
    assert await store.claim(run_id, VERSIONS) is not None
    assert await other.claim(run_id, VERSIONS) is None


async def test_queued_runs_come_in_order_of_acceptance_and_by_page(stores: Stores) -> None:
    store = await stores()
    ids = [(await store.accept(a_message(n), flow="flow")).run_id for n in range(5)]
    page = await store.queued(limit=3)
    rest = await store.queued(after=page[-1].position)
    assert [run.id for run in (*page, *rest)] == ids


async def test_what_an_owner_left_running_is_recovered_with_a_crash_counted(stores: Stores) -> None:
    store = await stores()
    run_id, _ = await claimed(store)
    waiting = (await store.accept(a_message(2), flow="flow")).run_id
    assert await store.recover() == 0
    heir = await stores()
    assert await heir.recover() == 1
    assert ((await heir.run(run_id)).status, (await heir.run(run_id)).crashes) == (
        RunStatus.QUEUED,
        1,
    )
    assert (await heir.run(waiting)).crashes == 0


async def test_a_released_run_is_queued_without_a_crash(stores: Stores) -> None:
    store = await stores()
    run_id, _ = await claimed(store)
    await store.release(run_id)
    run = await store.run(run_id)
    assert (run.status, run.crashes, run.owner) == (RunStatus.QUEUED, 0, None)


# --- the journal


async def test_rows_come_back_in_order_and_byte_for_byte(stores: Stores) -> None:
    store = await stores()
    run_id, head = await claimed(store)
    written = []
    for seq in range(5):
        row = row_of(run_id, seq, head)
        await store.append(row)
        written.append(row)
        head = row.chain
    assert await store.rows(run_id) == written


async def test_a_second_writer_of_the_same_row_is_fenced(stores: Stores) -> None:
    store = await stores()
    run_id, head = await claimed(store)
    await store.append(row_of(run_id, 0, head))
    with pytest.raises(Fenced):
        await store.append(row_of(run_id, 0, head, name="other"))
    assert [row.name for row in await store.rows(run_id)] == ["step"]


async def test_whoever_lost_a_run_can_write_nothing_about_it(stores: Stores) -> None:
    zombie, heir = await stores(), await stores()
    run_id, head = await claimed(zombie)
    await heir.recover()
    await heir.claim(run_id, VERSIONS)
    with pytest.raises(Fenced):
        await zombie.append(row_of(run_id, 0, head))
    with pytest.raises(Fenced):
        await zombie.finish(run_id, RunStatus.DONE)
    with pytest.raises(Fenced):
        await zombie.intend(EffectKey(run_id, 0), "refund", "hash")
    await heir.append(row_of(run_id, 0, head))
    await heir.finish(run_id, RunStatus.DONE)


async def test_one_failing_write_does_not_touch_its_neighbours(stores: Stores) -> None:
    store = await stores()
    run_id, head = await claimed(store)
    await store.append(row_of(run_id, 0, head))
    writes = [
        store.append(row_of(run_id, 0, head)),
        *(store.accept(a_message(n), flow="flow") for n in range(10, 40)),
    ]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(results[0], Fenced)
    assert not any(isinstance(result, BaseException) for result in results[1:])
    assert len(await store.runs()) == 31


# --- effects


async def test_an_effect_is_intended_once_and_settled(stores: Stores) -> None:
    store = await stores()
    run_id, _ = await claimed(store)
    key = EffectKey(run_id, 3, 1)
    assert (await store.intend(key, "refund", "hash")).state is EffectState.INTENDED
    again = await store.intend(key, "refund", "worded differently")
    assert again.call_hash == "hash"
    await store.settle(key, EffectState.DONE, {"ok": True})
    known = await store.intend(key, "refund", "hash")
    assert (known.state, known.result) == (EffectState.DONE, {"ok": True})
    assert [effect.key for effect in await store.effects(run_id)] == [key]
    assert await store.effects(state=EffectState.UNKNOWN) == []


async def test_settling_what_was_never_intended_is_an_error(stores: Stores) -> None:
    store = await stores()
    run_id, _ = await claimed(store)
    with pytest.raises(NotFound):
        await store.settle(EffectKey(run_id, 9), EffectState.DONE, None)


# --- reviews


async def parked(
    store: Any, number: int = 1, kind: ReviewKind = ReviewKind.REPLY, **fields: Any
) -> str:
    run_id, _ = await claimed(store, number)
    status = RunStatus.NEEDS_REVIEW if kind is ReviewKind.HAND_OVER else RunStatus.WAITING_REVIEW
    await store.finish(
        run_id, status, review=NewReview(kind, "unsure", {"text": "draft"}, 0, **fields)
    )
    return run_id


async def test_of_twenty_clicks_on_approve_one_counts(stores: Stores) -> None:
    one, two = await stores(), await stores()
    run_id = await parked(one)
    [review] = await one.find_reviews()
    verdicts = [Verdict(Decision.APPROVE, f"person {n}", review.version) for n in range(20)]
    clicks = [one.decide(review.id, verdict) for verdict in verdicts[:10]]
    clicks += [two.decide(review.id, verdict) for verdict in verdicts[10:]]
    results = await asyncio.gather(*clicks, return_exceptions=True)
    assert sum(not isinstance(result, BaseException) for result in results) == 1
    assert all(
        isinstance(result, Conflict) for result in results if isinstance(result, BaseException)
    )
    assert (await one.run(run_id)).status is RunStatus.QUEUED


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict(Decision.APPROVE, "eve", 7), "has changed"),
        (Verdict(Decision.APPROVE, "eve", 1, payload_hash="other"), "does not hold"),
        (Verdict(Decision.CLOSE, "eve", 1), "cannot be decided"),
        (Verdict(Decision.EDIT, "eve", 1), "new text"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"subject": "Re: you"}), "new text"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": " \n"}), "new text"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": 5}), "new text"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": "Dear {name}"}), "still says {name}"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": "It costs {slots.price}."}), "slots.price"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": "Hi", "subject": " "}), "subject is empty"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": "Hi", "to": "thief"}), "thief"),
        (Verdict(Decision.EDIT, "eve", 1, edit={"text": "Hi", "from": "eve"}), "'from' cannot"),
        (
            Verdict(Decision.EDIT, "eve", 1, edit={"text": "Hi", "invitation": "accepted"}),
            "no invitation",
        ),
        (Verdict(Decision.APPROVE, "eve", 1, edit={"text": "Hi"}), "leave the new text out"),
        (Verdict(Decision.REVISE, "eve", 1), "do differently"),
        (Verdict(Decision.REVISE, "eve", 1, note=" \t"), "do differently"),
        (Verdict(Decision.REJECT, "eve", 1, note="x" * 10_001), "10,000 characters"),
    ],
)
async def test_a_decision_on_something_else_is_refused_and_changes_nothing(
    stores: Stores, verdict: Verdict, words: str
) -> None:
    store = await stores()
    run_id = await parked(store)
    [review] = await store.find_reviews()
    with pytest.raises(Conflict, match=words):
        await store.decide(review.id, verdict)
    assert (await store.review(review.id)).state is ReviewState.OPEN
    assert (await store.run(run_id)).status is RunStatus.WAITING_REVIEW


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (None, "answer is empty"),
        ({"text": "  "}, "answer is empty"),
        ({"subject": "Re: you"}, "answer is empty"),
        ({"text": "Dear {name}"}, "still says {name}"),
    ],
)
async def test_an_answer_without_its_words_is_refused(
    stores: Stores, edit: dict[str, Any] | None, words: str
) -> None:
    store = await stores()
    run_id = await parked(store, kind=ReviewKind.HAND_OVER)
    [review] = await store.find_reviews()
    with pytest.raises(Conflict, match=words):
        await store.decide(review.id, Verdict(Decision.ANSWER, "eve", 1, edit=edit))
    assert (await store.review(review.id)).state is ReviewState.OPEN
    assert (await store.run(run_id)).status is RunStatus.NEEDS_REVIEW


async def test_a_blank_note_and_a_nameless_colleague_are_refused(stores: Stores) -> None:
    store = await stores()
    await parked(store)
    [review] = await store.find_reviews()
    for text in ("", " \n", "x" * 10_001):
        with pytest.raises(Conflict, match="note"):
            await store.note_review(review.id, "eve", text)
    for name in ("", "  ", "x" * 101):
        with pytest.raises(Conflict, match="name"):
            await store.assign(review.id, "eve", name)
    assert (await store.review(review.id)).assignee is None
    assert [event.kind for event in await store.events()] == []


async def test_overdue_reviews_fall_back_as_named_and_people_are_too_late(stores: Stores) -> None:
    now = 1000.0
    store = await stores(now=lambda: now)
    with_fallback = await parked(store, 1, expires_at=1500.0, fallback=Decision.REJECT)
    without = await parked(store, 2, expires_at=1500.0)
    assert await store.expire_reviews(1400.0) == []
    now = 1600.0
    [late] = [review for review in await store.find_reviews() if review.run_id == without]
    with pytest.raises(Conflict, match="expired"):
        await store.decide(late.id, Verdict(Decision.APPROVE, "eve", late.version))
    [expired] = await store.expire_reviews(now)
    assert (expired.run_id, expired.state, expired.decision) == (
        with_fallback,
        ReviewState.EXPIRED,
        Decision.REJECT,
    )
    assert (await store.run(with_fallback)).status is RunStatus.QUEUED
    assert (await store.run(without)).status is RunStatus.WAITING_REVIEW


async def test_a_review_of_another_desk_is_not_there(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    await parked(store)
    [review] = await store.find_reviews()
    with pytest.raises(NotFound):
        await other.decide(review.id, Verdict(Decision.APPROVE, "eve", 1))
    assert await other.find_reviews() == []


async def test_what_was_screened_out_is_listed_counted_and_taken_back(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    answered, screened = [(await claimed(store, number))[0] for number in (1, 2)]
    await store.finish(answered, RunStatus.DONE)
    await store.finish(
        screened, RunStatus.DONE, reason="a program sent it", error_code="automatic_mail"
    )
    assert [run.id for run in await store.runs(screened=True)] == [screened]
    assert (await store.count_screened(0.0), await other.count_screened(0.0)) == (1, 0)
    done = RunStatus.DONE
    assert (await store.count_runs(done, 9), await store.count_runs(done, 1)) == (2, 1)
    assert await other.count_runs(done, 9) == 0
    since = (await store.run(screened)).created_at + 1
    assert await store.count_screened(since) == 0
    with pytest.raises(Conflict):
        await store.requeue(answered, "eve")
    assert (await store.requeue(screened, "eve")).status is RunStatus.QUEUED
    assert await store.runs(screened=True) == []
    [review] = await store.find_reviews(ReviewFilter(run_id=screened))
    assert (review.state, review.decision, review.decided_by) == (
        ReviewState.DECIDED,
        Decision.RETRY,
        "eve",
    )


async def test_retry_is_for_what_failed_and_cancel_for_what_is_not_over(stores: Stores) -> None:
    store = await stores()
    failed = await parked(store, 1, ReviewKind.HAND_OVER)
    assert (await store.requeue(failed, "eve")).status is RunStatus.QUEUED
    with pytest.raises(Conflict):
        await store.requeue(failed, "eve")
    assert (await store.cancel(failed, "eve")).status is RunStatus.CANCELLED
    with pytest.raises(Conflict):
        await store.cancel(failed, "eve")
    waiting = await parked(store, 2)
    await store.cancel(waiting, "eve")
    assert [review.state for review in await store.find_reviews(ReviewFilter(run_id=waiting))] == [
        ReviewState.STALE
    ]
    running, _ = await claimed(store, 3)
    with pytest.raises(Conflict):
        await store.cancel(running, "eve")


# --- conversations


async def test_a_waiting_run_is_adopted_once_and_again_by_the_same_run(stores: Stores) -> None:
    store = await stores()
    asked, _ = await claimed(store, 1, conversation="c")
    await store.finish(asked, RunStatus.WAITING_USER)
    answer = (await store.accept(a_message(2, conversation="c"), flow="flow")).run_id
    taken = await store.claim(answer, VERSIONS)
    assert taken.customer_waited_for
    position = taken.run.position
    assert (await store.adopt(answer, "c", position)).id == asked
    assert (await store.adopt(answer, "c", position)).id == asked
    third = (await store.accept(a_message(3, conversation="c"), flow="flow")).run_id
    assert not (await store.claim(third, VERSIONS)).customer_waited_for
    assert await store.adopt(third, "c", position + 1) is None


async def test_taking_over_is_seen_when_the_next_run_starts(stores: Stores) -> None:
    store = await stores()
    await store.take_over("c1", "eve")
    run_id = (await store.accept(a_message(1), flow="flow")).run_id
    assert (await store.claim(run_id, VERSIONS)).taken_over_by == "eve"
    assert await store.taken_over_by("c1") == "eve"
    assert await store.give_back("c1", "eve")
    assert not await store.give_back("c1", "eve")
    assert await store.taken_over_by("c1") is None


# --- records


async def test_model_calls_and_events_are_kept(stores: Stores) -> None:
    store = await stores()
    call = LlmCall(
        "run_x",
        "classify",
        "task",
        "openai/x",
        "digest",
        10,
        5,
        0.25,
        12.5,
        "late",
        99.0,
        {"text": "Ahoj"},
        cached_tokens=8,
        reasoning_tokens=3,
    )
    await store.record_call(call)
    assert await store.calls("run_x") == [call]
    assert await store.calls("run_y") == []
    await store.record_event(Event("note", "run_x", "eve", {"text": "hm"}, 5.0))
    [event] = await store.events(run_id="run_x")
    assert (event.kind, event.by, event.payload, event.at) == ("note", "eve", {"text": "hm"}, 5.0)


async def test_an_idempotency_key_gives_the_first_answer_to_the_same_request_only(
    stores: Stores,
) -> None:
    store = await stores()
    assert await store.remember_response("key", "digest", b"first") is None
    assert await store.remember_response("key", "digest", b"second") == b"first"
    with pytest.raises(Conflict):
        await store.remember_response("key", "other", b"third")


# --- the lease


async def test_a_database_is_served_by_one_process(stores: Stores) -> None:
    one, two = await stores(), await stores()
    await one.acquire(600)
    with pytest.raises(AlreadyServed, match="is served by process"):
        await two.acquire(600)
    await one.acquire(0)
    await one.renew(600)
    with pytest.raises(AlreadyServed):
        await two.acquire(600)
    await one.renew(0)
    await two.acquire(600)
    with pytest.raises(Fenced):
        await one.renew(600)
    run_id = (await one.accept(a_message(), flow="flow")).run_id
    with pytest.raises(Fenced):
        await one.claim(run_id, VERSIONS)
    await two.give_up()
    await one.acquire(600)


async def test_of_many_who_want_the_first_lease_at_once_one_gets_it(stores: Stores) -> None:
    several = [await stores() for _ in range(5)]
    results = await asyncio.gather(
        *(store.acquire(10) for store in several), return_exceptions=True
    )
    assert sum(result is None for result in results) == 1
    assert sum(isinstance(result, AlreadyServed) for result in results) == 4


# --- audit and erasure


async def worked(store: Any, number: int, rows: int = 3) -> str:
    run_id, head = await claimed(store, number)
    for seq in range(rows):
        row = row_of(run_id, seq, head)
        await store.append(row)
        head = row.chain
    await store.finish(run_id, RunStatus.DONE)
    return run_id


async def test_untouched_records_verify_with_their_seals(stores: Stores) -> None:
    store = await stores()
    for number in range(5):
        await worked(store, number)
    await seal_desk(store, b"key")
    await worked(store, 9)
    report = await verify_desk(store, key=b"key")
    assert (report.ok, report.runs, report.rows, report.seals) == (True, 6, 18, 1)
    assert not (await verify_desk(store, key=b"another key")).ok


async def test_erasing_a_person_removes_every_word_and_keeps_the_chain(stores: Stores) -> None:
    store = await stores()
    mine = await worked(store, 1)
    stranger = a_message(2).model_copy(
        update={"sender": a_message().sender.model_copy(update={"address": "x@y.z"})}
    )
    kept = (await store.accept(stranger, flow="flow")).run_id
    waiting = await parked(store, 3)
    call = LlmCall(
        mine,
        "classify",
        "task",
        "openai/x",
        "digest",
        error="she said",
        at=1.0,
        answer={"text": "Ann"},
    )
    await store.record_call(call)
    await seal_desk(store, b"key")
    assert await store.erase("ANN@example.com ", "officer") == 2
    assert [(call.error, call.answer) for call in await store.calls(mine)] == [(None, None)]
    assert await store.message(mine) is None
    assert all(row.body is None and row.salt is None for row in await store.rows(mine))
    assert (await store.run(waiting)).status is RunStatus.CANCELLED
    assert [
        review.payload for review in await store.find_reviews(ReviewFilter(run_id=waiting))
    ] == [{}]
    assert await store.message(kept) == stranger
    report = await verify_desk(store, key=b"key")
    assert (report.ok, report.erased) == (True, 3)
    assert (await store.accept(a_message(1), flow="flow")).duplicate


async def test_erasing_a_person_removes_the_names_of_their_conversations(stores: Stores) -> None:
    """On a chat channel a conversation is called after the person."""
    store = await stores()
    waiting, _ = await claimed(store, 1, conversation="ann@example.com")
    await store.finish(
        waiting, RunStatus.WAITING_REVIEW, review=NewReview(ReviewKind.REPLY, "unsure", {}, 0)
    )
    await store.take_over("ann@example.com", "bob")
    await store.erase("ann@example.com", "officer")
    assert await store.taken_over_by("ann@example.com") is None
    assert "ann@" not in str(await store.events()) + str(
        await store.find_reviews(ReviewFilter(run_id=waiting))
    )


async def test_a_person_is_not_erased_while_their_message_is_worked(stores: Stores) -> None:
    store = await stores()
    await claimed(store)
    with pytest.raises(Conflict, match="still at work"):
        await store.erase("ann@example.com", "officer")


async def test_what_a_newer_message_supersedes_is_found_through_every_draft(stores: Stores) -> None:
    store = await stores()
    for number in (1, 2):
        run_id, _ = await claimed(store, number, conversation="c")
        review = NewReview(ReviewKind.REPLY, "unsure", {"text": "draft"})
        await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    third = (await store.accept(a_message(3, conversation="c"), flow="flow")).run_id
    assert (await store.claim(third, VERSIONS)).supersedes
    assert [turn.message.id for turn in await store.superseded(third, "c")] == ["m1", "m2"]
    other = (await store.accept(a_message(4), flow="flow")).run_id
    assert not (await store.claim(other, VERSIONS)).supersedes


# --- two people in one conversation


def from_mallory(number: int) -> Message:
    return a_message(number, conversation="c").model_copy(
        update={"sender": Address(address="mallory@example.com")}
    )


async def test_somebody_elses_message_does_not_take_a_waiting_matter_over(stores: Stores) -> None:
    store = await stores()
    asked, _ = await claimed(store, 1, conversation="c")
    await store.finish(asked, RunStatus.WAITING_USER)
    stranger = await store.accept(from_mallory(2), flow="flow")
    claim = await store.claim(stranger.run_id, VERSIONS)
    assert await store.adopt(stranger.run_id, "c", claim.run.position) is None
    assert (await store.run(asked)).status is RunStatus.WAITING_USER
    answer = await store.accept(a_message(3, conversation="c"), flow="flow")
    claim = await store.claim(answer.run_id, VERSIONS)
    adopted = await store.adopt(answer.run_id, "c", claim.run.position)
    assert adopted is not None
    assert adopted.id == asked


async def test_somebody_elses_message_leaves_a_waiting_draft_alone(stores: Stores) -> None:
    store = await stores()
    run, _ = await claimed(store, 1, conversation="c")
    await store.finish(
        run, RunStatus.WAITING_REVIEW, review=NewReview(ReviewKind.REPLY, "look", {}, 0)
    )
    await store.accept(from_mallory(2), flow="flow")
    (review,) = await store.find_reviews()
    assert review.state is ReviewState.OPEN
    again = await store.accept(a_message(3, conversation="c"), flow="flow")
    (review,) = await store.find_reviews()
    assert review.state is ReviewState.STALE
    assert (await store.run(run)).successor == again.run_id


async def test_several_rows_are_written_together(stores: Stores) -> None:
    store = await stores()
    run_id = (await store.accept(a_message(1), flow="flow")).run_id
    claimed = await store.claim(run_id, {"flow": "v1"})
    assert claimed is not None
    head, rows = seed(run_id, claimed.message_digest), []
    for number in range(3):
        row = make_row(
            run_id,
            number,
            f"stage/{number}",
            StageResult(),
            attempt=1,
            flow_version="v1",
            started_at=1.0,
            latency_ms=1.0,
            previous=head,
        )
        rows.append(row)
        head = row.chain
    await store.append(*rows[:2])
    assert [row.seq for row in await store.rows(run_id)] == [0, 1]
    with pytest.raises(Fenced):
        await store.append(rows[0], rows[1])
    await store.append(rows[2])
    assert [row.seq for row in await store.rows(run_id)] == [0, 1, 2]
