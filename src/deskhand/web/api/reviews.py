"""Reviews: what waits for a person, and the person's decision."""

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, ValidationError, model_validator

from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.web.api.access import Caller, may
from deskhand.web.api.bodies import parse_json, read_body
from deskhand.web.api.cursors import review_cursor, review_place
from deskhand.web.api.documents import json_body
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.views import Page, ReviewView

router = APIRouter(prefix="/api/reviews", tags=["reviews"])

Reader = Annotated[Caller, Depends(may(Scope.REVIEWS_READ))]
Decider = Annotated[Caller, Depends(may(Scope.REVIEWS_WRITE))]
ReviewId = Annotated[str, Path(max_length=200)]
MAX_BODY = 1_000_000


class ReplyEdit(Frozen):
    """What a reviewer may change of a reply: its words, not whom it goes to."""

    text: str = Field(min_length=1, pattern=r"\S")
    subject: str | None = None


class DecisionBody(Frozen):
    """A decision; who made it is known from the key."""

    decision: Decision
    version: int
    """The version of the review that was looked at."""
    payload_hash: str | None = None
    """Binds the decision to exactly what was shown."""
    note: str | None = None
    """The reason for a rejection, or the instruction for a revision."""
    edit: ReplyEdit | None = None
    """With `edit`: the new text."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.decision is Decision.EDIT) != (self.edit is not None):
            raise ValueError('the decision `edit` and the field `edit` go together: {"text": "..."}')
        if self.decision is Decision.REVISE and not (self.note or "").strip():
            raise ValueError("to revise, say in `note` what to do differently")
        return self

    def verdict(self, by: str) -> Verdict:
        edit = None if self.edit is None else self.edit.model_dump(exclude_none=True)
        return Verdict(self.decision, by, self.version, self.payload_hash, self.note, edit)


@router.get("")
async def list_reviews(
    caller: Reader,
    desk: str | None = None,
    state: ReviewState | Literal["all"] = ReviewState.OPEN,
    run: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Page[ReviewView]:
    """Oldest first; open ones unless `state` says otherwise."""
    wanted = None if state == "all" else state
    reviews = await caller.desk(desk).store.reviews(
        state=wanted, run_id=run, limit=limit + 1, after=review_place(cursor)
    )
    shown = reviews[:limit]
    following = review_cursor(shown[-1].created_at, shown[-1].id) if len(reviews) > limit else None
    return Page[ReviewView](items=[ReviewView.of(review) for review in shown], next_cursor=following)


@router.get("/{review_id}")
async def show_review(caller: Reader, review_id: ReviewId) -> ReviewView:
    """What waits for a decision, with the version and the hash that the decision names."""
    _, review = await caller.look(f"review {review_id}", lambda store: store.review(review_id))
    return ReviewView.of(review)


@router.post("/{review_id}/decision", openapi_extra=json_body(DecisionBody))
async def decide_review(request: Request, caller: Decider, review_id: ReviewId) -> ReviewView:
    """Decide once; 409 when somebody was faster, the draft is stale, or it is not what was looked at."""
    try:
        body = DecisionBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    verdict = body.verdict(caller.key.name)
    desk, review = await caller.look(f"review {review_id}", lambda store: store.decide(review_id, verdict))
    desk.dispatcher.wake()
    return ReviewView.of(review)


@router.post("/{review_id}/undo")
async def undo_review(caller: Decider, review_id: ReviewId) -> ReviewView:
    """Stop a reply that would leave by itself; 409 when it has left, or never would."""
    _, review = await caller.look(f"review {review_id}", lambda store: store.hold_back(review_id, caller.key.name))
    return ReviewView.of(review)
