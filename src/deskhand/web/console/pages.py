"""The approvals: the queue, one review, and what was done with it."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, RedirectResponse, Response

from deskhand.engine.descriptions import DECIDED
from deskhand.engine.review_search import ReviewHit
from deskhand.errors import Conflict, NotFound
from deskhand.model.access import Role
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState
from deskhand.web.api.access import ServedDesk
from deskhand.web.console import snoozed_many, taken_over_page
from deskhand.web.console.actions import act, bring_files, leaving_until, role_for
from deskhand.web.console.frame import HEADERS, Frame
from deskhand.web.console.labels import LANES, RISKS, age, expiry, expiry_with_outcome, visible
from deskhand.web.console.notices import with_notice
from deskhand.web.console.queue_counts import SOON, QueueCounts, count_queue
from deskhand.web.console.queue_page import (
    PAGE,
    Filter,
    following,
    listed_beside,
    neighbours,
    path_of,
    read_place,
    read_queue,
    written_place,
)
from deskhand.web.console.review_page import (
    decided_words,
    read_review_page,
    snoozes,
    typing_words,
)
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.screened_page import (
    PLACE,
    count_screened,
    read_before,
    read_screened,
    take_back,
)
from deskhand.web.console.session import HOME, Visit
from deskhand.web.console.taken_over_page import give_back, read_taken_over
from deskhand.web.console.ticket_pages import forgotten_tickets
from deskhand.web.console.translation import chosen_language, translator
from deskhand.web.file_response import file_response

_BEFORE = 10
"""Reviews shown above the one that is open, where it stands far down in the queue."""
_MOMENT, _AT_ONCE = 3.0, 0.03
"""Seconds to wait for a decided run: then the page can say when its reply leaves. A page with a
script asks again."""
_STAYS = ("note", "assign", "attach")
"""Actions after which one goes on looking at the same review."""


def decisions_of(possible: list[Decision], visit: Visit) -> list[Decision]:
    """What this person may decide."""
    return [decision for decision in possible if visit.role.covers(role_for(decision))]


class ApprovalPages:
    """The queue, one review, and what is done with it."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def queue(self, visit: Visit) -> Response:
        chosen = Filter.of(visit.request.query_params, visit.desks)
        if visit.part == "toast":
            return await self._toast(visit, chosen)
        beyond = read_place(visit.request.query_params.get("after", ""))
        items, counts = await asyncio.gather(
            read_queue(visit, chosen, beyond=beyond, limit=PAGE + 1),
            count_queue(visit, chosen, time.time()),
        )
        around, pane = await asyncio.gather(
            self._around(visit, chosen, counts),
            _queue_pane(visit, counts, items[:PAGE], is_more=len(items) > PAGE),
        )
        return self._frame.html(
            visit.request,
            "_waiting.html" if visit.part == "queue" else "approvals.html",
            **around,
            **pane,
            counts=counts,
            begun=beyond is not None,
            review=None,
        )

    async def _toast(self, visit: Visit, chosen: Filter) -> Response:
        """What was just done, by itself."""
        values = {"csrf": visit.session.csrf, "chosen": chosen}
        return self._frame.html(
            visit.request, "_toast.html", **values, done=await self._done(visit)
        )

    async def taken_over(self, visit: Visit) -> Response:
        """Conversations in which a person answers; a form gives one back to the desk."""
        if visit.request.method == "POST":
            await give_back(visit)
            of = f"{visit.form['desk']}/{visit.form.get('run', '')}"
            return RedirectResponse(with_notice(taken_over_page.PLACE, "given_back", of), 303)
        return self._frame.html(
            visit.request,
            "taken_over.html",
            **await self._around(visit, Filter()),
            place=taken_over_page.PLACE,
            rows=await read_taken_over(visit),
        )

    async def screened(self, visit: Visit) -> Response:
        """What was not answered because a program wrote it; a form takes one of them back."""
        if visit.request.method == "POST":
            taken = await take_back(visit)
            of = f"{taken.desk}/{taken.id}"
            return RedirectResponse(with_notice(PLACE, "worked", of), 303)
        before = read_before(visit.request.query_params)
        rows, more = await read_screened(visit, before)
        return self._frame.html(
            visit.request,
            "screened.html",
            **await self._around(visit, Filter()),
            place=PLACE,
            rows=rows,
            more=more,
            begun=before is not None,
            count=await count_screened(visit),
        )

    async def review(self, visit: Visit) -> Response:
        if visit.part == "queue":
            return await self._queue_beside(visit)
        return await self._review(visit, None)

    async def _queue_beside(self, visit: Visit) -> Response:
        """The queue as it now stands beside an open review."""
        desk, review_id = _place(visit)
        chosen = Filter.of(visit.request.query_params, visit.desks)
        review = await desk.store.review(review_id)
        (items, is_more, begun), counts = await asyncio.gather(
            _around_review(visit, chosen, review), count_queue(visit, chosen, time.time())
        )
        around, pane = await asyncio.gather(
            self._around(visit, chosen, counts),
            _queue_pane(visit, counts, items, is_more=is_more),
        )
        return self._frame.html(
            visit.request,
            "_queue.html",
            **around,
            **pane,
            counts=counts,
            begun=begun,
            review=review,
        )

    async def _review(self, visit: Visit, problem: str | None, status: int = 200) -> Response:
        chosen = Filter.of(visit.request.query_params, visit.desks)
        case = await self._case(visit, chosen, problem)
        if visit.part:
            beside = {"me": visit.name, "csrf": visit.session.csrf, "chosen": chosen}
            before, after = await neighbours(visit, chosen, case["review"])
            case |= {"before": before, "after": after}
            return self._frame.html(visit.request, "_case.html", status, **beside, **case)
        items, is_more, begun = await _around_review(visit, chosen, case["review"])
        listed_neighbours = listed_beside(items, case["review"], begun=begun, is_more=is_more)
        before, after = listed_neighbours or await neighbours(visit, chosen, case["review"])
        case |= {"before": before, "after": after}
        around, pane = await asyncio.gather(
            self._around(visit, chosen, case["counts"]),
            _queue_pane(visit, case["counts"], items, is_more=is_more),
        )
        return self._frame.html(
            visit.request,
            "approvals.html",
            status,
            **around,
            **pane,
            **case,
            begun=begun,
        )

    async def _case(self, visit: Visit, chosen: Filter, problem: str | None) -> dict[str, Any]:
        """One review, and where it stands in the queue."""
        desk, review_id = _place(visit)
        now = time.time()
        shown = await read_review_page(desk, review_id, visit.name, now)
        shown["decisions"] = decisions_of(shown["decisions"], visit)
        review: Review = shown["review"]
        return {
            **shown,
            "counts": await count_queue(visit, chosen, now, review.place),
            "problem": problem,
            "until": leaving_until(review),
            "expires": expiry_with_outcome(review, now),
            "statuses": STATUSES,
            "ends_soon": review.expires_at is not None and review.expires_at - now < SOON,
        }

    async def now(self, visit: Visit) -> Response:
        """Whether a review has changed, and who else is writing: open pages ask now and then."""
        desk, review_id = _place(visit)
        review = await desk.store.review(review_id)
        edits = await desk.store.begun_edits(review_id)
        say = translator(chosen_language(visit.request))
        current = {
            "open": review.state is ReviewState.OPEN,
            "version": review.version,
            "words": visible(say(decided_words(review, time.time()))),
            "typing": visible(say(typing_words(edits, visit.name))),
        }
        return JSONResponse(current, headers={**HEADERS, "Cache-Control": "no-store"})

    async def file(self, visit: Visit) -> Response:
        """A file of the review's run: an image shown in its place, all else as a download."""
        desk, review_id = _place(visit)
        review = await desk.store.review(review_id)
        name = visit.request.path_params["file"][:200]
        inline = visit.request.query_params.get("show") == "yes"
        return file_response(await desk.store.file(review.run_id, name), inline=inline)

    async def action(self, visit: Visit) -> Response:
        desk, review_id = _place(visit)
        action = visit.request.path_params["action"]
        try:
            form = await bring_files(desk, review_id, visit)
            patience = _AT_ONCE if visit.part else _MOMENT
            user = visit.session.user
            review = await act(desk, action, review_id, form, user, patience=patience)
        except Conflict as error:
            current = await desk.store.review(review_id)
            problem = str(error)
            if current.state is not ReviewState.OPEN and action in list(Decision):
                problem = translator(chosen_language(visit.request))(
                    decided_words(current, time.time())
                )
            return await self._review(visit, problem, 409)
        if action == "keep":
            return await self._kept(visit, desk, review_id)
        next_path = await self._after(visit, review, action)
        if not visit.part:
            return RedirectResponse(next_path, 303)
        chosen = Filter.of(visit.request.query_params, visit.desks)
        values = {"csrf": visit.session.csrf, "chosen": chosen}
        done = None if action in _STAYS else await self._done_with(visit, review, action)
        toast = self._frame.html(visit.request, "_toast.html", **values, done=done)
        toast.headers["X-Place"] = next_path
        return toast

    async def _kept(self, visit: Visit, desk: ServedDesk, review_id: str) -> Response:
        """Nothing; a page that asks for a part gets the draft as it now differs from the desk's."""
        if visit.request.headers.get("hx-request") != "true":
            return Response(status_code=204, headers=HEADERS)
        shown = await read_review_page(desk, review_id, visit.name, time.time())
        shown["decisions"] = decisions_of(shown["decisions"], visit)
        return self._frame.html(visit.request, "_changes.html", **shown)

    async def _after(self, visit: Visit, review: Review, action: str) -> str:
        """Where to go next: the following review, or the same one where nothing was decided."""
        chosen = Filter.of(visit.request.query_params, visit.desks)
        here = f"{HOME}{review.desk}/{review.id}"
        if action in _STAYS or (action == "undo" and review.state is ReviewState.OPEN):
            return here + chosen.query()
        done = {"done": f"{review.desk}/{review.id}", "how": action}
        after = await following(visit, chosen, review)
        return (HOME if after is None else path_of(after)) + chosen.query(**done)

    async def _around(
        self, visit: Visit, chosen: Filter, counts: QueueCounts | None = None
    ) -> dict[str, Any]:
        """What stands around the queue and its reviews, with what was just done."""
        waiting = None if counts is None else counts.waiting
        around = await self._frame.around(visit, "approvals", waiting)
        return around | {"chosen": chosen, "done": await self._done(visit)}

    async def _done(self, visit: Visit) -> dict[str, Any] | None:
        """What became of the review that was just decided, read from the store.

        The address only names it: anybody can write an address.
        """
        name, _, review_id = visit.request.query_params.get("done", "").partition("/")
        if name not in visit.desks:
            return None
        try:
            review = await visit.desks[name].store.review(review_id[:200])
        except NotFound:
            return None
        return await self._done_with(visit, review, visit.request.query_params.get("how", ""))

    async def _done_with(self, visit: Visit, review: Review, how: str) -> dict[str, Any]:
        store = visit.desk(review.desk).store
        run = await store.run(review.run_id)  # first: a run at rest has its last review already
        of_run = await store.find_reviews(ReviewFilter(run_id=review.run_id))
        leaving = [other for other in of_run if other.leaves_by_itself]
        until = leaving_until(leaving[-1]) if leaving else None
        message = await store.message(review.run_id)
        return {
            "review": review,
            "words": _done_words(review, how),
            "subject": "" if message is None else message.subject,
            "until": until,
            "how": how,
            "at_work": run.status.is_active,
        }


async def _queue_pane(
    visit: Visit, counts: QueueCounts, shown: Sequence[ReviewHit], *, is_more: bool
) -> dict[str, Any]:
    """The list of reviews with all that it can be narrowed by."""
    now = time.time()
    chosen = counts.chosen
    more = chosen.query(after=written_place(shown[-1].review.place)) if is_more else None
    rows = [(item, age(now - item.review.created_at), expiry(item.review, now)) for item in shown]
    screened, taken_over, forgotten = await asyncio.gather(
        count_screened(visit), read_taken_over(visit), forgotten_tickets(visit)
    )
    return {
        "rows": rows,
        "more": more,
        "now": now,
        "soon": now + SOON,
        "screened": screened,
        "screened_place": PLACE,
        "taken_over": len(taken_over),
        "taken_over_place": taken_over_page.PLACE,
        "forgotten": forgotten,
        "all_causes": list(Cause),
        "can_choose": visit.role.covers(Role.AGENT) and chosen.tab != "leaving",
        "choices_until": snoozes(now, _zone(visit)),
        "snooze_place": snoozed_many.PLACE,
        "lanes": LANES,
        "risks": RISKS,
    }


def _zone(visit: Visit) -> str:
    """The zone of the first desk: people of one company have the same morning."""
    return next((desk.spec.time_zone for desk in visit.desks.values()), "UTC")


async def _around_review(
    visit: Visit, chosen: Filter, review: Review
) -> tuple[list[ReviewHit], bool, bool]:
    """A page of the queue with this review in it; whether there is more, and something before.

    It is the first page, if the review is on it or no longer in the queue.
    """
    first = await read_queue(visit, chosen, limit=PAGE + 1)
    is_far = len(first) > PAGE and first[PAGE - 1].review.place < review.place
    if not is_far or review.state is not ReviewState.OPEN:
        return first[:PAGE], len(first) > PAGE, False
    above = await read_queue(visit, chosen, beyond=review.place, limit=_BEFORE, backwards=True)
    beyond = above[-1].review.place
    rest = await read_queue(visit, chosen, beyond=beyond, limit=PAGE)
    items = [above[-1], *rest]
    return items[:PAGE], len(items) > PAGE, True


def _done_words(review: Review, how: str) -> str:
    if review.decision is not None:
        return "snoozed" if how == "snooze" else DECIDED[review.decision]
    if review.signed_by is not None and how == Decision.APPROVE:
        return "approved, and waits for a second person"
    return "snoozed" if review.snoozed_until is not None else "back in the queue"


def _place(visit: Visit) -> tuple[ServedDesk, str]:
    params: Mapping[str, str] = visit.request.path_params
    return visit.desk(params["desk"]), params["review"][:200]
