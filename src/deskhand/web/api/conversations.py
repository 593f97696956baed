"""Conversations: which there are, what the desk remembers of one, and who answers."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, ValidationError

from deskhand.engine.conversation_documents import list_conversations, show_conversation
from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.model.queue import TakenOver
from deskhand.model.remembered import RememberedTurn, SummaryLine
from deskhand.web.api.access import Caller, may
from deskhand.web.api.cursors import run_cursor, run_place
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.views import Page, View, moment

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

Reader = Annotated[Caller, Depends(may(Scope.REVIEWS_READ))]
Decider = Annotated[Caller, Depends(may(Scope.REVIEWS_WRITE))]
RunReader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
RunWriter = Annotated[Caller, Depends(may(Scope.RUNS_WRITE))]
MAX_BODY = 10_000


class ConversationBody(Frozen):
    """Which conversation is meant."""

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


class ConversationView(View):
    """A conversation by its newest message."""

    conversation: str
    desk: str
    run: str
    status: str
    sender: str
    subject: str
    received_at: datetime
    taken_over_by: str | None
    taken_over_at: datetime | None


class RememberedView(View):
    """What the desk remembers of a conversation with the person who wrote last."""

    conversation: str
    desk: str
    author: str
    messages: int
    """How many messages of theirs there were, remembered or not."""
    waits_for: str | None
    """What the desk asked for last."""
    values: dict[str, list[Any]]
    """What was found, by slot, the newest value first."""
    summary: list[SummaryLine]
    turns: list[RememberedTurn]


class Cleared(View):
    conversation: str
    forgotten: int
    """How many messages the desk does not remember any more; what is recorded of them stays."""


@router.get("")
async def list_all(
    caller: RunReader,
    desk: str | None = None,
    cursor: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Page[ConversationView]:
    """The conversations of a desk, the latest first."""
    served = caller.desk(desk)
    found = await list_conversations(served.store, limit=limit, before=run_place(cursor))
    name = served.spec.name
    items = [ConversationView.model_validate({"desk": name, **fields}) for _, fields in found]
    more = run_cursor(found[-1][0]) if len(found) == limit else None
    return Page(items=items, next_cursor=more)


@router.get("/memory")
async def show(
    caller: RunReader,
    conversation: Annotated[str, Query(min_length=1, max_length=1000)],
    desk: str | None = None,
) -> RememberedView:
    """What the desk remembers of a conversation; 404 where nobody wrote in such a one."""
    served = caller.desk(desk)
    document = await show_conversation(served.store, conversation)
    return RememberedView.model_validate({"desk": served.spec.name, **document})


@router.post("/clear", openapi_extra=json_body(ConversationBody))
async def clear(request: Request, caller: RunWriter) -> Cleared:
    """Make the desk forget what was said so far; 404 where there is nothing to forget, 409 while
    a message of it is worked on."""
    body = await _named(request)
    store = caller.desk(body.desk).store
    forgotten = await store.forget(body.conversation, caller.key.name)
    if not forgotten:
        raise NotFound("there is nothing to forget in this conversation")
    return Cleared(conversation=body.conversation, forgotten=forgotten)


@router.get("/taken-over")
async def list_taken_over(caller: Reader, desk: str | None = None) -> list[TakenOverView]:
    """Every conversation that a person has, the latest first."""
    served = caller.desk(desk)
    taken = await served.store.taken_over()
    return [TakenOverView.of(served.spec.name, one) for one in taken]


@router.post("/give-back", openapi_extra=json_body(ConversationBody))
async def give_back(request: Request, caller: Decider) -> GivenBack:
    """Let the desk answer again in a conversation; 404 where nobody has taken it over."""
    body = await _named(request)
    store = caller.desk(body.desk).store
    if not await store.give_back(body.conversation, caller.key.name):
        raise NotFound("nobody has taken this conversation over")
    return GivenBack(conversation=body.conversation, given_back=True)


async def _named(request: Request) -> ConversationBody:
    try:
        return ConversationBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
