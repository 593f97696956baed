"""Conversations that people took over: which, by whom, and giving one back to the desk."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field, ValidationError

from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.model.queue import TakenOver
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.views import View, moment

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

Reader = Annotated[Caller, Depends(may(Scope.REVIEWS_READ))]
Decider = Annotated[Caller, Depends(may(Scope.REVIEWS_WRITE))]
MAX_BODY = 10_000


class GiveBackBody(Frozen):
    """Which conversation the desk answers again."""

    conversation: str = Field(min_length=1, max_length=1000)
    desk: str | None = None
    """May be left out by a key that touches one desk only."""


class TakenOverView(View):
    """A conversation in which the desk is silent, because a person answers."""

    conversation: str
    desk: str
    taken_over_by: str
    taken_over_at: datetime
    run: str | None
    """The run of its newest message."""
    sender: str | None
    subject: str | None

    @classmethod
    def of(cls, desk: str, taken: TakenOver) -> "TakenOverView":
        return cls(
            conversation=taken.conversation,
            desk=desk,
            taken_over_by=taken.by,
            taken_over_at=moment(taken.at),
            run=taken.run_id,
            sender=taken.sender,
            subject=taken.subject,
        )


class GivenBack(View):
    conversation: str
    given_back: bool


@router.get("/taken-over")
async def list_taken_over(caller: Reader, desk: str | None = None) -> list[TakenOverView]:
    """Every conversation that a person has, the latest first."""
    served = caller.desk(desk)
    taken = await served.store.taken_over()
    return [TakenOverView.of(served.spec.name, one) for one in taken]


@router.post("/give-back", openapi_extra=json_body(GiveBackBody))
async def give_back(request: Request, caller: Decider) -> GivenBack:
    """Let the desk answer again in a conversation; 404 where nobody has taken it over."""
    try:
        body = GiveBackBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    store = caller.desk(body.desk).store
    if not await store.give_back(body.conversation, caller.key.name):
        raise NotFound("nobody has taken this conversation over")
    return GivenBack(conversation=body.conversation, given_back=True)
