"""Reviews: what waits for a person, and the person's decision."""

import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, ValidationError

from deskhand.engine.review_file import read_review_file
from deskhand.engine.review_search import search, terms_of
from deskhand.model.access import Scope
from deskhand.model.causes import Cause
from deskhand.model.frozen import Frozen, Moment
from deskhand.model.message import InvitationAnswer
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, Verdict
from deskhand.ports import Store
from deskhand.web.api.access import Caller, may
from deskhand.web.api.cursors import review_cursor, review_place
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.review_views import CannedView, ReviewDocument, ReviewView
from deskhand.web.api.views import Page
from deskhand.web.undo import undo

router = APIRouter(prefix="/api/reviews", tags=["reviews"])

Reader = Annotated[Caller, Depends(may(Scope.REVIEWS_READ))]
Decider = Annotated[Caller, Depends(may(Scope.REVIEWS_WRITE))]
ReviewId = Annotated[str, Path(max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
MAX_BODY = 1_000_000
Body = TypeVar("Body", bound=Frozen)


class ReplyEdit(Frozen):
    """What a reviewer may change in a reply: its words, whom it goes to, and its answer to an
    invitation. What is left out stays as it is.
    """

    text: str = Field(min_length=1, pattern=r"\S")
    subject: str | None = None
    invitation: InvitationAnswer | None = None
    """Only where the reply answers an invitation: what the organizer's calendar is told."""
    to: str | None = None
    """One address."""
    cc: list[str] | None = None
    """Who gets a copy; an empty list for nobody."""
    attachments: list[str] | None = None
    """The files that leave with it, by the ids under which they were attached."""


class DecisionBody(Frozen):
    """A decision; who made it is known from the key."""

    decision: Decision
    version: int
    """The version of the review that was looked at."""
    payload_hash: str
    """The hash of what was shown, from `GET /api/reviews/{id}`: nobody decides what they did not
    see."""
    note: str | None = None
    """The reason for a rejection, or the instruction for a revision."""
    edit: ReplyEdit | None = None
    """With `edit` and `answer`, and if you like with `acknowledge`: the text that is to leave."""
    due_at: Moment | None = None
    """With `acknowledge`: until when somebody answers; without it, the desk's `answer_within`."""
    final: bool = False
    """With `approve` and `edit`: the reply is the answer, even if it says that one will follow."""

    def verdict(self, by: str) -> Verdict:
        edit = None if self.edit is None else self.edit.model_dump(exclude_none=True)
        due_at = None if self.due_at is None else self.due_at.timestamp()
        return Verdict(
            self.decision,
            by,
            self.version,
            self.payload_hash,
            self.note,
            edit,
            due_at=due_at,
            final=self.final,
        )


class SnoozeBody(Frozen):
    """How long a review stays out of sight."""

    until: Moment | None
    """When it comes back, with its time zone; null for at once."""


class AssignBody(Frozen):
    """Whose it is to look at."""

    to: Name | None
    """Null gives it back to all."""


class NoteBody(Frozen):
    """A note for colleagues; customers never see it."""

    text: str = Field(min_length=1, max_length=10_000, pattern=r"\S")


@router.get("")
async def list_reviews(
    caller: Reader,
    desk: str | None = None,
    state: ReviewState | Literal["all"] = ReviewState.OPEN,
    run: str | None = None,
    cause: Cause | None = None,
    category: str | None = None,
    language: str | None = None,
    assignee: str | None = None,
    snoozed: Literal["hide", "only", "show"] = "show",
    words: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Page[ReviewView]:
    """Oldest first; open ones unless `state` says otherwise. `cause` is one of the typed reasons.

    An empty `assignee` stands for nobody; `words` are searched for in sender, subject, text, draft
    and reason.
    """
    wanted = ReviewFilter(
        state=None if state == "all" else state,
        run_id=run,
        cause=cause,
        category=category,
        language=language,
        assignee=assignee,
        snoozed={"hide": False, "only": True, "show": None}[snoozed],
        terms=terms_of(words),
    )
    store = caller.desk(desk).store
    after = review_place(cursor)
    items = await search(store, wanted, after=after, limit=limit + 1)
    reviews = [item.review for item in items]
    shown = reviews[:limit]
    following = review_cursor(shown[-1].created_at, shown[-1].id) if len(reviews) > limit else None
    return Page[ReviewView](
        items=[ReviewView.of(review) for review in shown], next_cursor=following
    )


@router.get("/{review_id}")
async def show_review(caller: Reader, review_id: ReviewId) -> ReviewDocument:
    """All that is needed to decide, with the version and the hash that the decision names."""
    _, review_file = await caller.look(
        f"review {review_id}", lambda store: read_review_file(store, review_id)
    )
    return ReviewDocument.of_file(review_file, time.time())


@router.post("/{review_id}/decision", openapi_extra=json_body(DecisionBody))
async def decide_review(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Decide once. A holding reply that you approve is acknowledged: it leaves, and the matter
    stays open as a review of the kind `follow_up`.

    409 when somebody was faster or the draft has changed, 422 when a note or a text is missing.
    """
    body = await _read(request, DecisionBody)
    verdict = body.verdict(caller.key.name)
    desk, review = await caller.look(
        f"review {review_id}", lambda store: store.decide(review_id, verdict)
    )
    desk.dispatcher.wake()
    return ReviewView.of(review)


@router.post("/{review_id}/undo")
async def undo_review(caller: Decider, review_id: ReviewId) -> ReviewView:
    """Stop a reply that would leave by itself; 409 when it has left.

    Name its own review, or the one whose approval let it go.
    """
    desk, _ = await caller.look(f"review {review_id}", lambda store: store.review(review_id))
    return ReviewView.of(await undo(desk, review_id, caller.key.name))


@router.post("/{review_id}/snooze", openapi_extra=json_body(SnoozeBody))
async def snooze_review(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Hide it until then; 409 when it is decided, leaves by itself, or expires earlier."""
    body = await _read(request, SnoozeBody)
    until = None if body.until is None else body.until.timestamp()
    return await _changed(
        caller, review_id, lambda store: store.snooze(review_id, caller.key.name, until)
    )


@router.post("/{review_id}/assign", openapi_extra=json_body(AssignBody))
async def assign_review(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Assign it to somebody; everybody with the right may still decide it."""
    body = await _read(request, AssignBody)
    return await _changed(
        caller, review_id, lambda store: store.assign(review_id, caller.key.name, body.to)
    )


@router.post("/{review_id}/notes", openapi_extra=json_body(NoteBody))
async def note_review(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Leave a note for colleagues in the review's history."""
    body = await _read(request, NoteBody)
    return await _changed(
        caller, review_id, lambda store: store.note_review(review_id, caller.key.name, body.text)
    )


@router.put("/{review_id}/edit", openapi_extra=json_body(ReplyEdit))
async def keep_edit(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Keep what is being typed; nothing is decided by it."""
    body = await _read(request, ReplyEdit)
    edit = body.model_dump(exclude_none=True)

    async def keep(store: Store) -> Review:
        await store.keep_edit(review_id, caller.key.name, edit)
        return await store.review(review_id)

    return await _changed(caller, review_id, keep)


@router.get("/{review_id}/canned")
async def canned_replies(caller: Reader, review_id: ReviewId) -> list[CannedView]:
    """The desk's canned replies, filled with what is known about the message, in its language."""
    desk, review_file = await caller.look(
        f"review {review_id}", lambda store: read_review_file(store, review_id)
    )
    replies = review_file.canned(desk.spec.reviews.canned, caller.key.name)
    return list(map(CannedView.of, replies))


async def _changed(
    caller: Caller, review_id: str, change: Callable[[Store], Awaitable[Review]]
) -> ReviewView:
    _, review = await caller.look(f"review {review_id}", change)
    return ReviewView.of(review)


async def _read(request: Request, body: type[Body]) -> Body:
    try:
        return body.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
