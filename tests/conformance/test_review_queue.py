"""What every Store promises about the review queue: found by why it is there, put aside, given
to somebody."""

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.engine.review_search import terms_of, walk
from deskhand.errors import Conflict, NotFound
from deskhand.model.causes import Cause, Rank
from deskhand.model.queue import AlikeReviews, ReviewFilter
from deskhand.model.run import (
    Decision,
    NewReview,
    Review,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
)
from tests.accounts import add_accounts
from tests.conformance.adapters import Stores
from tests.kit import a_message
from tests.many_reviews import add_like

NOW = 1_800_000_000.0


def ids_of(reviews: Iterable[Review]) -> list[str]:
    return [review.id for review in reviews]


def counted(alike: Iterable[AlikeReviews], name: str) -> Counter[Any]:
    """How many open reviews there are of each value of a field."""
    counts = Counter[Any]()
    for one in alike:
        counts[getattr(one, name)] += one.count
    return counts


async def parked(store: Any, number: int, *causes: Cause, **fields: Any) -> Review:
    body = fields.pop("body", "Where is my parcel?")
    accepted = await store.accept(a_message(number, body=body), flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    known = fields.pop("known", {})
    facts = {
        "category": "complaint",
        "confidence": 0.4,
        "threshold": 0.8,
        "language": "cs",
        **known,
    }
    reply = {"text": "draft", "to": "ann@example.com"}
    payload = {"reply": reply, "waits": fields.pop("waits", "draft")}
    kind = fields.pop("kind", ReviewKind.REPLY)
    review = NewReview(kind, "unsure", payload, 0, causes=causes, facts=facts, **fields)
    await store.finish(accepted.run_id, RunStatus.WAITING_REVIEW, review=review)
    [opened] = await store.find_reviews(ReviewFilter(run_id=accepted.run_id))
    return opened  # type: ignore[no-any-return]


async def listed(store: Any, **filters: Any) -> list[str]:
    return [review.id for review in await store.find_reviews(ReviewFilter(**filters))]


async def test_a_review_says_why_it_is_there_and_what_was_known(stores: Stores) -> None:
    store = await stores()
    review = await parked(store, 1, Cause.ALWAYS_ASK, Cause.BELOW_THRESHOLD)
    assert review.causes == (Cause.ALWAYS_ASK, Cause.BELOW_THRESHOLD)
    assert review.facts == {
        "category": "complaint",
        "confidence": 0.4,
        "threshold": 0.8,
        "language": "cs",
    }
    assert (review.assignee, review.snoozed_until) == (None, None)


async def test_reviews_are_found_by_each_of_their_causes_exactly(stores: Stores) -> None:
    store = await stores()
    one = await parked(store, 1, Cause.ALWAYS_ASK, Cause.BELOW_THRESHOLD)
    two = await parked(store, 2, Cause.BELOW_THRESHOLD)
    three = await parked(store, 3)
    assert await listed(store, cause=Cause.BELOW_THRESHOLD) == [one.id, two.id]
    assert await listed(store, cause=Cause.ALWAYS_ASK) == [one.id]
    assert await listed(store, cause=Cause.ERROR) == []
    assert await listed(store) == [one.id, two.id, three.id]


async def test_reviews_are_chosen_and_counted_by_all_that_is_known_of_them(stores: Stores) -> None:
    ticks = count()
    store = await stores(now=lambda: NOW + next(ticks) / 1000)
    one = await parked(store, 1, known={"category": 'odd "quoted" ü', "language": "de"})
    two = await parked(store, 2, Cause.EMERGENCY)
    three = await parked(store, 3, expires_at=NOW + 30, fallback=Decision.APPROVE)
    await add_accounts(store, "otto")
    await store.assign(two.id, "ida", "otto")
    for wanted, expected in (
        (ReviewFilter(), [one, two, three]),
        (ReviewFilter(category='odd "quoted" ü'), [one]),
        (ReviewFilter(category="complaint", language="cs"), [two, three]),
        (ReviewFilter(category="odd"), []),
        (ReviewFilter(assignee="otto"), [two]),
        (ReviewFilter(assignee=""), [one, three]),
        (ReviewFilter(rank=Rank.EMERGENCY), [two]),
        (ReviewFilter(rank=Rank.DOUBT, leaving=False), [one]),
        (ReviewFilter(leaving=True), [three]),
        (ReviewFilter(cause=Cause.EMERGENCY, state=ReviewState.OPEN), [two]),
    ):
        assert ids_of(await store.find_reviews(wanted)) == ids_of(expected), wanted
        assert await store.count_reviews(wanted) == len(expected)
    newest = await store.find_reviews(ReviewFilter(), backwards=True, limit=2)
    assert [found.id for found in newest] == [three.id, two.id]
    before = await store.find_reviews(
        ReviewFilter(), backwards=True, after=(two.created_at, two.id)
    )
    assert [found.id for found in before] == [one.id]
    alike = await store.count_queue()
    assert counted(alike, "category") == {"complaint": 2, 'odd "quoted" ü': 1}
    assert counted(alike, "language") == {"cs": 2, "de": 1}
    assert counted(alike, "assignee") == {None: 2, "otto": 1}
    urgent = await store.count_queue(ReviewFilter(cause=Cause.EMERGENCY))
    assert counted(urgent, "rank") == {Rank.EMERGENCY: 1}
    await store.decide(one.id, Verdict(Decision.REJECT, "ida", one.version))
    assert counted(await store.count_queue(), "language") == {"cs": 2}


async def test_the_most_dangerous_stand_first_whatever_came_when(stores: Stores) -> None:
    store = await stores()
    routine = await parked(store, 1, Cause.MODE, Cause.SPOT_CHECK)
    doubt = await parked(store, 2, Cause.MODE, Cause.BELOW_THRESHOLD)
    action = await parked(store, 3, Cause.GATE_HOLD, kind=ReviewKind.TOOL_CALL)
    similar = await parked(store, 4, Cause.MODEL_AWAY)
    danger = await parked(store, 5, Cause.MODE, Cause.UNBACKED_PROMISE)
    emergency = await parked(store, 6, Cause.EMERGENCY)
    items = await walk(store, ReviewFilter(state=ReviewState.OPEN), limit=9)
    order = [emergency, danger, doubt, similar, action, routine]
    assert [item.review.id for item in items] == ids_of(order)
    assert [review.rank for review in order] == [0, 1, 2, 2, 3, 4]


async def kept_place(store: Any, review: Review) -> tuple[Any, ...]:
    """What the columns of its row say of its place, and what the queue is chosen by."""
    here = t.reviews.c
    query = sa.select(here.rank, here.deadline, here.category, here.language).where(
        here.id == review.id
    )
    rows = await store._database.read_core(lambda core: core.execute(query).all())
    return tuple(rows[0])


async def test_the_columns_a_queue_goes_by_follow_every_change(stores: Stores) -> None:
    now = NOW
    store = await stores(now=lambda: now)
    await add_accounts(store, "otto")
    leaving = await parked(
        store, 1, Cause.UNDO_WINDOW, waits="undo", expires_at=NOW + 30, fallback=Decision.APPROVE
    )
    passed_on = await parked(
        store,
        2,
        Cause.UNBACKED_PROMISE,
        known={"due_at": NOW + 90, "reassign_to": "otto"},
        expires_at=NOW + 40,
        fallback=Decision.REASSIGN,
    )
    assert await kept_place(store, leaving) == (Rank.ROUTINE, NOW + 30, "complaint", "cs")
    assert await kept_place(store, passed_on) == (Rank.DANGER, NOW + 40, "complaint", "cs")
    await store.hold_back(leaving.id, "ida")
    now = NOW + 50
    await store.expire_reviews(now)
    for review in (leaving, passed_on):
        current = await store.review(review.id)
        expected = (current.rank, current.deadline, "complaint", "cs")
        assert await kept_place(store, review) == expected
    assert (await store.review(passed_on.id)).deadline == NOW + 90


async def agree(store: Any) -> None:
    """The columns of every review say what the review says, and what is counted by them is what a
    count of the reviews themselves finds."""
    reviews = await store.find_reviews(ReviewFilter(), limit=1000)
    for review in reviews:
        facts = review.facts
        said = (review.rank, review.deadline, facts.get("category"), facts.get("language"))
        assert await kept_place(store, review) == said, review
    opened = [review for review in reviews if review.state is ReviewState.OPEN]
    in_order = await store.next_due(
        ReviewFilter(state=ReviewState.OPEN), limit=1000, after=None, backwards=False
    )
    assert ids_of(in_order) == ids_of(sorted(opened, key=lambda review: review.place))
    for rank in Rank:
        wanted = ReviewFilter(state=ReviewState.OPEN, rank=rank)
        of_rank = [review for review in opened if review.rank == rank]
        assert await store.count_reviews(wanted) == len(of_rank), rank
    leaving = ReviewFilter(state=ReviewState.OPEN, leaving=True)
    assert await store.count_reviews(leaving) == sum(one.leaves_by_itself for one in opened)
    place = (int(Rank.DOUBT), NOW, NOW, "rev")
    now = store._now()
    soon = now + 3600
    alike = await store.count_queue(soon=soon, place=place)
    assert counted(alike, "category") == Counter(one.facts.get("category") for one in opened)
    assert counted(alike, "language") == Counter(one.facts.get("language") for one in opened)
    assert counted(alike, "assignee") == Counter(one.assignee for one in opened)
    assert counted(alike, "rank") == Counter(one.rank for one in opened)
    assert counted(alike, "leaving") == Counter(one.leaves_by_itself for one in opened)
    before = [one for one in opened if one.place < place]
    late = [one for one in opened if one.deadline < now]
    due = [one for one in opened if now <= one.deadline <= soon]
    assert sum(one.before for one in alike) == len(before)
    assert sum(one.late for one in alike) == len(late)
    assert sum(one.soon for one in alike) == len(due)


async def test_columns_and_counts_agree_with_the_reviews_after_every_change(
    stores: Stores,
) -> None:
    now = NOW
    store = await stores(now=lambda: now)
    await add_accounts(store, "otto")
    await agree(store)
    plain = await parked(store, 1)
    danger = await parked(store, 2, Cause.UNBACKED_PROMISE, known={"language": None})
    action = await parked(store, 3, Cause.GATE_HOLD, kind=ReviewKind.TOOL_CALL)
    leaving = await parked(
        store, 4, Cause.UNDO_WINDOW, waits="undo", expires_at=NOW + 30, fallback=Decision.APPROVE
    )
    passed_on = await parked(
        store,
        5,
        known={"due_at": NOW + 90, "reassign_to": "otto"},
        expires_at=NOW + 40,
        fallback=Decision.REASSIGN,
    )
    falls = await parked(store, 6, expires_at=NOW + 45, fallback=Decision.REJECT)
    await agree(store)
    await store.assign(plain.id, "ida", "otto")
    await agree(store)
    await store.snooze(danger.id, "ida", NOW + 20)
    await store.keep_edit(danger.id, "ida", {"text": "other words"})
    await store.note_review(danger.id, "ida", "she called")
    await agree(store)
    await store.hold_back(leaving.id, "ida")
    await agree(store)
    now = NOW + 60
    await store.expire_reviews(now)
    assert (await store.review(falls.id)).state is not ReviewState.OPEN
    assert (await store.review(passed_on.id)).assignee == "otto"
    await agree(store)
    await store.decide(action.id, Verdict(Decision.REJECT, "ida", action.version))
    await agree(store)
    await store.accept(a_message(7, conversation=plain.conversation), flow="flow")
    assert (await store.review(plain.id)).state is ReviewState.STALE
    await agree(store)
    await store.cancel(danger.run_id, "ida")
    await agree(store)


async def test_columns_and_counts_agree_after_somebody_was_erased(stores: Stores) -> None:
    store = await stores(now=lambda: NOW)
    await parked(store, 1, Cause.UNBACKED_PROMISE, expires_at=NOW + 30)
    await parked(store, 2)
    await store.erase("ann@example.com", "ida")
    reviews = await store.find_reviews(ReviewFilter())
    assert [review.facts for review in reviews] == [{}, {}]
    await agree(store)


async def test_of_the_same_risk_the_nearest_deadline_stands_first(stores: Stores) -> None:
    store = await stores()
    whenever = await parked(store, 1)
    later = await parked(store, 2, expires_at=NOW + 7200)
    owed = await parked(store, 3, known={"due_at": NOW + 3600.123456789})
    sooner = await parked(store, 4, expires_at=NOW + 1800, known={"due_at": NOW + 9000})
    danger = await parked(store, 5, Cause.UNBACKED_PROMISE)
    order = [danger, sooner, owed, later, whenever]
    assert ids_of(sorted(order, key=lambda review: review.place)) == ids_of(order)
    walked: list[str] = []
    place = None
    while page := await walk(store, ReviewFilter(state=ReviewState.OPEN), beyond=place, limit=1):
        walked.append(page[0].review.id)
        place = page[0].review.place
    assert walked == ids_of(order)
    back = await walk(store, ReviewFilter(), beyond=whenever.place, limit=9, backwards=True)
    assert [item.review.id for item in back] == ids_of(order[3::-1])


async def test_a_walk_through_the_queue_shows_everything_once_whatever_happens_meanwhile(
    stores: Stores,
) -> None:
    store = await stores()
    urgent = {3, 7}
    reviews = []
    for number in range(10):
        causes = [Cause.EMERGENCY] if number in urgent else []
        reviews.append(await parked(store, number, *causes))
    order = sorted(reviews, key=lambda review: review.place)
    assert [review.id for review in order[:2]] == [reviews[3].id, reviews[7].id]
    seen: list[str] = []
    late: list[Review] = []
    place = None
    for step in range(10):
        page = await walk(store, ReviewFilter(state=ReviewState.OPEN), beyond=place, limit=3)
        if not page:
            break
        seen += [item.review.id for item in page]
        place = page[-1].review.place
        await store.decide(page[0].review.id, Verdict(Decision.REJECT, "ida", 1))
        if step < 3:
            late.append(await parked(store, 100 + step, *([Cause.EMERGENCY] if step == 1 else [])))
    assert seen == [
        review.id for review in (*order, late[0], late[2])
    ]  # the emergency stands before what was seen
    back = await walk(store, ReviewFilter(), beyond=order[4].place, limit=9, backwards=True)
    expected = [*order[3:1:-1], late[1], *order[1::-1]]
    assert [item.review.id for item in back] == ids_of(expected)
    assert await walk(store, ReviewFilter(), beyond=order[0].place, limit=9, backwards=True) == []


async def test_words_are_searched_for_in_all_that_a_reviewer_sees(stores: Stores) -> None:
    store = await stores()
    one, two = await parked(store, 1), await parked(store, 2, Cause.EMERGENCY)
    for words, expected in (
        ("PARCEL ann", [two, one]),
        ("PÁRCEL", [two, one]),
        ("ann@EXAMPLE.com", [two, one]),
        ("draft", [two, one]),
        (one.run_id, [one]),
        ("parcel otherwise", []),
        ("", [two, one]),
    ):
        wanted = ReviewFilter(state=ReviewState.OPEN, terms=terms_of(words))
        found = await walk(store, wanted, limit=10)
        assert [item.review.id for item in found] == ids_of(expected), words
        assert await store.count_reviews(wanted) == len(expected)
    assert len(await walk(store, ReviewFilter(terms=terms_of("parcel")), limit=1)) == 1


async def found_by(store: Any, words: str) -> list[str]:
    wanted = ReviewFilter(state=ReviewState.OPEN, terms=terms_of(words))
    return [item.review.id for item in await walk(store, wanted, limit=10)]


async def test_words_are_found_in_the_newest_of_thousands_of_reviews(stores: Stores) -> None:
    store = await stores(now=lambda: NOW)
    old = await parked(store, 1)
    await add_like(store, old, 5200)
    new = await parked(store, 2, body="Where is the žluťoučký kůň?")
    assert await found_by(store, "zlutoucky KŮŇ") == [new.id]


async def test_a_review_is_found_by_what_it_says_now(stores: Stores) -> None:
    store = await stores()
    one = await parked(store, 1, body="50% of\0 it_em ſtraße", expires_at=NOW + 1e9)
    for words in ("50%", "it_em", "STRASSE", "of it_em"):
        assert await found_by(store, words) == [one.id], words
    for words in ("5%0", "it-em", "%", "_m"):
        assert await found_by(store, words) == ([one.id] if words == "%" else []), words
    assert await found_by(store, "otto") == []
    await add_accounts(store, "otto")
    await store.assign(one.id, "ida", "otto")
    assert await found_by(store, "otto") == [one.id]
    await store.assign(one.id, "ida", None)
    assert await found_by(store, "otto") == []


async def test_what_was_erased_is_not_found_any_more(stores: Stores) -> None:
    store = await stores()
    one = await parked(store, 1)
    await store.erase("ann@example.com", "ida")
    everything = ReviewFilter(terms=terms_of("parcel"))
    assert await store.find_reviews(everything) == []
    assert ids_of(await store.find_reviews(ReviewFilter(terms=terms_of(one.id)))) == [one.id]


async def test_what_is_snoozed_is_out_of_sight_until_its_time(stores: Stores) -> None:
    now = NOW
    store = await stores(now=lambda: now)
    one, two = await parked(store, 1), await parked(store, 2)
    snoozed = await store.snooze(one.id, "ida", NOW + 60)
    assert (snoozed.snoozed_until, snoozed.version) == (NOW + 60, one.version)
    assert await listed(store, snoozed=False) == [two.id]
    assert await listed(store, snoozed=True) == [one.id]
    assert sorted(await listed(store)) == sorted([one.id, two.id])
    now = NOW + 61
    assert sorted(await listed(store, snoozed=False)) == sorted([one.id, two.id])
    await store.snooze(two.id, "ida", NOW + 600)
    await store.snooze(two.id, "ida", None)
    assert await listed(store, snoozed=True) == []
    assert [(event.kind, event.by) for event in await store.events()] == [
        ("review.snoozed", "ida")
    ] * 3


async def test_what_is_over_sooner_or_leaves_by_itself_cannot_be_snoozed(stores: Stores) -> None:
    store = await stores(now=lambda: NOW)
    soon = await parked(store, 1, expires_at=NOW + 50, fallback=Decision.REJECT)
    with pytest.raises(Conflict, match="expires before that"):
        await store.snooze(soon.id, "ida", NOW + 60)
    leaving = await parked(store, 2, expires_at=NOW + 500, fallback=Decision.APPROVE)
    with pytest.raises(Conflict, match="leaves by itself"):
        await store.snooze(leaving.id, "ida", NOW + 60)
    with pytest.raises(Conflict, match="has passed"):
        await store.snooze(soon.id, "ida", NOW - 1)
    assert (await store.snooze(soon.id, "ida", NOW + 40)).snoozed_until == NOW + 40


async def test_a_review_is_somebodys_and_anybody_may_decide_it(stores: Stores) -> None:
    store = await stores()
    one, two = await parked(store, 1), await parked(store, 2)
    await add_accounts(store, "otto", "eve")
    with pytest.raises(Conflict, match="there is no user 'nobody'"):
        await store.assign(one.id, "ida", "nobody")
    assert await store.reviewers() == ["eve", "otto"]
    await store.assign(one.id, "ida", "otto")
    assert await listed(store, assignee="otto") == [one.id]
    decided = await store.decide(one.id, Verdict(Decision.APPROVE, "ida", one.version))
    assert (decided.decided_by, decided.assignee) == ("ida", "otto")
    await store.assign(two.id, "ida", "otto")
    assert (await store.assign(two.id, "ida", None)).assignee is None
    for change in (store.assign(one.id, "otto", "eve"), store.snooze(one.id, "otto", None)):
        with pytest.raises(Conflict, match="already decided: approved by ida"):
            await change


async def test_what_a_reviewer_has_typed_is_kept_apart_from_what_others_have(
    stores: Stores,
) -> None:
    store = await stores()
    review = await parked(store, 1)
    await store.keep_edit(review.id, "ida", {"text": "Dear A"})
    await store.keep_edit(review.id, "ida", {"text": "Dear Ann"})
    await store.keep_edit(review.id, "otto", {"text": "Hi Ann"})
    again = await stores()
    assert {one.by: one.edit for one in await again.begun_edits(review.id)} == {
        "ida": {"text": "Dear Ann"},
        "otto": {"text": "Hi Ann"},
    }
    assert (await store.review(review.id)).version == review.version
    with pytest.raises(NotFound):
        await (await stores("other")).keep_edit(review.id, "eve", {"text": "x"})
    assert await (await stores("other")).begun_edits(review.id) == []


async def test_notes_are_told_in_order_also_after_the_decision(stores: Stores) -> None:
    store = await stores()
    review = await parked(store, 1)
    await store.note_review(review.id, "ida", "She called, too.")
    await store.decide(review.id, Verdict(Decision.REJECT, "otto", review.version))
    await store.note_review(review.id, "ida", "I will call back.")
    told = [
        (event.kind, event.payload.get("text"))
        for event in await store.events(run_id=review.run_id)
    ]
    assert told == [
        ("review.note", "She called, too."),
        ("review.reject", None),
        ("review.note", "I will call back."),
    ]


async def test_an_approved_reply_is_held_back_by_the_review_that_let_it_go(stores: Stores) -> None:
    store = await stores(now=lambda: NOW)
    review = await parked(store, 1)
    await store.decide(review.id, Verdict(Decision.APPROVE, "ida", review.version))
    with pytest.raises(Conflict, match="already decided: approved by ida"):
        await store.hold_back(review.id, "ida")
    await store.claim(review.run_id, {"flow": "v1"})
    leaving = NewReview(
        ReviewKind.REPLY,
        "leaves",
        {"reply": {"text": "x", "to": "ann@example.com"}, "waits": "undo"},
        1,
        NOW + 30,
        Decision.APPROVE,
    )
    await store.finish(review.run_id, RunStatus.WAITING_REVIEW, review=leaving)
    held = await store.hold_back(review.id, "ida")
    assert (held.id != review.id, held.state, held.fallback) == (True, ReviewState.OPEN, None)
    assert (held.causes, held.payload["waits"]) == ((Cause.HELD_BACK,), "hold")
    assert (
        await store.decide(
            held.id, Verdict(Decision.APPROVE, "ida", held.version, held.payload_hash)
        )
    ).decided_by


async def test_erasing_a_person_takes_what_was_known_and_typed(stores: Stores) -> None:
    store = await stores()
    review = await parked(store, 1, Cause.ALWAYS_ASK)
    await store.keep_edit(review.id, "ida", {"text": "Dear Ann"})
    await store.note_review(review.id, "ida", "Ann called.")
    await store.erase("ann@example.com", "ida")
    assert await store.begun_edits(review.id) == []
    erased = await store.review(review.id)
    assert (erased.facts, erased.payload, erased.reason) == ({}, {}, "erased")
    assert "Ann" not in str(await store.events())
