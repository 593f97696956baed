"""What every database promises about judgements and modes."""

import asyncio
from typing import Any

from deskhand.adapters.stores.trust import SqlTrustStore
from deskhand.model.judgement import Judged, Judgement, ModeChange
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    EXPIRY,
    Decision,
    NewReview,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
)
from tests.conformance.adapters import Stores
from tests.kit import a_message

REPLY = {
    "to": "ann@example.com",
    "subject": "Re: My parcel",
    "text": "It left on Monday.",
    "language": "en",
}


def trust_of(store: Any) -> SqlTrustStore:
    return SqlTrustStore(store._database, store.desk)


async def waiting(store: Any, number: int = 1, **payload: Any) -> tuple[str, str]:
    """A run whose reply waits for a person; its id and its review's."""
    accepted = await store.accept(a_message(number), flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    told = {"reply": REPLY, "mode": "draft", "waits": "draft", "counts": True, **payload}
    review = NewReview(ReviewKind.REPLY, "draft mode", told, facts={"category": "inquiry"})
    await store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
    found = await store.find_reviews(ReviewFilter(run_id=accepted.run_id, state=ReviewState.OPEN))
    return str(accepted.run_id), str(found[0].id)


async def decided(store: Any, review: str, decision: str, by: str = "eve", **more: Any) -> None:
    await store.decide(review, Verdict(Decision(decision), by, 1, **more))


def told(judgements: list[Judgement]) -> list[tuple[str, str, float, bool]]:
    return [(str(one.judged), one.language, one.share, one.counts) for one in judgements]


async def test_every_decision_about_a_reply_is_a_judgement(stores: Stores) -> None:
    store = await stores()
    ways: list[tuple[str, dict[str, Any]]] = [
        ("approve", {}),
        ("edit", {"edit": {"text": "It left on Tuesday."}}),
        ("edit", {"edit": {"text": "It left on Monday. "}}),
        ("revise", {"note": "shorter"}),
        ("reject", {}),
        ("take_over", {}),
    ]
    for number, (decision, more) in enumerate(ways):
        _, review = await waiting(store, number)
        await decided(store, review, decision, **more)
    kinds = ["unchanged", "edited", "unchanged", "revised", "rejected", "taken_over"]
    found = await trust_of(store).judgements("inquiry")
    assert [kind for kind, *_ in told(found)] == kinds
    assert [(one.share > 0, one.facts) for one in found if one.judged is Judged.EDITED] == [
        (True, False)
    ]
    assert all(one.counts and one.mode == "draft" and one.language == "en" for one in found)


async def test_what_nobody_decided_is_no_judgement(stores: Stores) -> None:
    store = await stores()
    accepted = await store.accept(a_message(), flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    payload, facts = {"reply": REPLY, "waits": "undo", "mode": "auto"}, {"category": "inquiry"}
    review = NewReview(
        ReviewKind.REPLY, "leaves", payload, expires_at=1.0, fallback=Decision.APPROVE, facts=facts
    )
    await store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
    assert [one.decided_by for one in await store.expire_reviews(2.0)] == [EXPIRY]
    assert await trust_of(store).judgements("inquiry") == []


async def test_a_reply_that_was_stopped_and_changed_counts_as_the_worse(stores: Stores) -> None:
    store = await stores()
    run, review = await waiting(store)
    await decided(store, review, "approve")
    trust = trust_of(store)
    for judged in (Judged.EDITED, Judged.EDITED):
        await trust.judge(Judgement(run, "inquiry", "en", "draft", judged, share=0.4))
    figures = await trust.figures()
    assert [(one.category, one.language, dict(one.counts)) for one in figures] == [
        ("inquiry", "en", {"edited": 1})
    ]
    assert figures[0].edited_share == 0.4


async def test_an_answer_from_a_mail_program_says_what_the_draft_was_worth(stores: Stores) -> None:
    store = await stores()
    await waiting(store, 1)
    await waiting(store, 2)
    await waiting(store, 3)
    await store.answered_by_person("c1", "Eve", silence=False, text="It left on Monday.")
    await store.answered_by_person("c2", "Eve", silence=False, text="It left on Tuesday.")
    await store.answered_by_person("c3", "Eve", silence=True, text="I have called you.")
    assert [kind for kind, *_ in told(await trust_of(store).judgements("inquiry"))] == [
        "unchanged",
        "edited",
        "taken_over",
    ]


async def test_what_left_alone_is_counted_once_and_what_came_back_against_it(
    stores: Stores,
) -> None:
    store = await stores()
    trust = trust_of(store)
    looked_at, review = await waiting(store, 1)
    await decided(store, review, "approve")
    alone = (await store.accept(a_message(2, conversation="c2"), flow="flow")).run_id
    later = (await store.accept(a_message(3, conversation="c2"), flow="flow")).run_id

    def sent(run: str) -> Judgement:
        return Judgement(run, "inquiry", "en", "auto", Judged.SENT)

    assert [await trust.left_alone(sent(run)) for run in (looked_at, alone, alone)] == [
        False,
        True,
        False,
    ]
    assert await trust.complained("c1", later, 0.0) is None
    assert await trust.complained("c2", alone, 0.0) is None
    assert [await trust.complained("c2", later, 0.0) for _ in range(2)] == [alone, None]
    assert await store.note_bounce(alone, "no such user")
    assert await store.note_bounce(looked_at, "no such user")
    kinds = [kind for kind, *_ in told(await trust.judgements("inquiry"))]
    assert kinds == ["unchanged", "sent", "complained", "bounced"]
    assert [one.mode for one in await trust.judgements("inquiry", newest=2)] == ["auto", "auto"]
    events = [event.kind for event in await store.events(run_id=alone)]
    assert events == ["reply.complained", "reply.bounced"]


async def test_what_left_alone_is_looked_at_afterwards_once(stores: Stores) -> None:
    store = await stores()
    trust = trust_of(store)
    runs: list[str] = []
    for number in (1, 2, 3):
        run = (await store.accept(a_message(number, conversation=f"c{number}"), flow="flow")).run_id
        runs.append(run)
    for run in runs[:2]:
        assert await trust.left_alone(Judgement(run, "inquiry", "en", "auto", Judged.SENT))
    assert [one.run_id for one in await trust.not_looked_at()] == runs[:2]
    looked = [
        await trust.look_back(run, Judged.RIGHT, drawn=True, by="eve")
        for run in (runs[0], runs[0], runs[2])
    ]
    assert looked == [True, False, False]
    assert [one.run_id for one in await trust.not_looked_at("inquiry")] == [runs[1]]
    assert await trust.not_looked_at("other") == []
    newest = (await trust.judgements("inquiry"))[-1]
    assert (newest.judged, newest.counts) == (Judged.RIGHT, True)
    [event] = await store.events(run_id=runs[0])
    assert (event.kind, event.by) == ("reply.looked_at", "eve")


async def test_two_who_change_a_mode_at_once_do_not_both(stores: Stores) -> None:
    first, second = await stores(), await stores()

    def change(number: int, mode: str, by: str) -> ModeChange:
        return ModeChange(
            "inquiry", number, mode, "draft", "promoted", by, "good", {"judged": 45}, 0.0
        )

    done = await asyncio.gather(
        trust_of(first).change_mode(change(1, "auto", "eve")),
        trust_of(second).change_mode(change(1, "auto", "adam")),
    )
    assert sorted(done) == [False, True]
    assert await trust_of(second).change_mode(change(2, "draft", "deskhand"))
    changes = await trust_of(first).mode_changes("inquiry")
    assert [(one.number, one.mode, one.figures) for one in changes] == [
        (1, "auto", {"judged": 45}),
        (2, "draft", {"judged": 45}),
    ]
    assert await trust_of(first).mode_changes("other") == []
    assert [event.kind for event in await first.events()] == ["mode.changed"] * 2


async def test_desks_do_not_see_each_others_judgements(stores: Stores) -> None:
    store, other = await stores("one"), await stores("two")
    run, review = await waiting(store)
    await decided(store, review, "approve")
    assert await trust_of(other).figures() == []
    assert not await trust_of(other).judge(Judgement(run, "inquiry", "en", "draft", Judged.EDITED))
