"""Conversations: which there are, what the desk remembers of one, and who answers."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, ValidationError

from deskhand.engine.conversation_documents import list_conversations, show_conversation
from deskhand.engine.manual_reply import answer_chat
from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.chats import ChatLine
from deskhand.model.frozen import Frozen
from deskhand.model.ids import new_id
from deskhand.model.queue import TakenOver
from deskhand.model.remembered import RememberedTurn, SummaryLine
from deskhand.routing.intents_registry import IntentsRegistry
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
MAX_ANSWER = 100_000


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


class TakenOverNow(View):
    conversation: str
    taken_over_by: str


class GivenBack(View):
    conversation: str
    given_back: bool


class SaidInChat(View):
    conversation: str
    said: bool
    """False where this answer was said before, under the same id."""


class AnswerBody(ConversationBody):
    """What a colleague says in a chat."""

    text: str = Field(min_length=1, max_length=20_000)
    id: str | None = Field(default=None, min_length=1, max_length=200)
    """The caller's own id of this answer: sent again under it, it is said once."""
    name: str | None = Field(default=None, min_length=1, max_length=100)
    """Who says it, as the visitor is told; the key's name if absent."""


class ChatLineView(View):
    number: int
    author: str
    name: str | None
    text: str
    at: datetime
    files: list[str]
    thumb: str | None

    @classmethod
    def of(cls, line: ChatLine) -> "ChatLineView":
        return cls(
            number=line.number,
            author=line.author,
            name=line.name,
            text=line.text,
            at=moment(line.at),
            files=[file.name for file in line.files],
            thumb=line.thumb,
        )


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
    listed = await list_conversations(served.store, limit=limit, before=run_place(cursor))
    name = served.spec.name
    items = [ConversationView.model_validate({"desk": name, **fields}) for _, fields in listed]
    more = run_cursor(listed[-1][0]) if len(listed) == limit else None
    return Page(items=items, next_cursor=more)


@router.get("/memory")
async def show(
    caller: RunReader,
    conversation: Annotated[str, Query(min_length=1, max_length=1000)],
    desk: str | None = None,
) -> RememberedView:
    """What the desk remembers of a conversation; 404 where nobody wrote in such a one."""
    served = caller.desk(desk)
    hidden = IntentsRegistry(served.spec.intents).redacted
    document = await show_conversation(served.store, conversation, hidden=hidden)
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
    return [TakenOverView.of(served.spec.name, takeover) for takeover in taken]


@router.get("/chat")
async def show_chat(
    caller: Reader,
    conversation: Annotated[str, Query(min_length=1, max_length=1000)],
    desk: str | None = None,
    after: Annotated[int, Query(ge=0)] = 0,
) -> list[ChatLineView]:
    """The lines of a chat after a number; 404 where there is no such chat."""
    chats = caller.desk(desk).chats
    if await chats.chat(conversation) is None:
        raise NotFound("there is no such chat")
    return [ChatLineView.of(line) for line in await chats.lines(conversation, after=after)]


@router.post("/answer", openapi_extra=json_body(AnswerBody))
async def answer(request: Request, caller: Decider) -> SaidInChat:
    """Say something in a chat as a colleague, also first and again. The desk is silent there until
    somebody gives the chat back; 404 where there is no such chat."""
    try:
        raw = parse_json(await read_body(request, MAX_ANSWER))
        body = AnswerBody.model_validate(raw)
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    desk = caller.desk(body.desk)
    key = body.id or new_id("said")
    said = await answer_chat(
        desk.chats, body.conversation, key, caller.key.name, body.text, body.name
    )
    return SaidInChat(conversation=body.conversation, said=said)


@router.post("/take-over", openapi_extra=json_body(ConversationBody))
async def take_over(request: Request, caller: Decider) -> TakenOverNow:
    """Keep the desk silent in a conversation until somebody gives it back."""
    body = await _named(request)
    store = caller.desk(body.desk).store
    await store.take_over(body.conversation, caller.key.name)
    return TakenOverNow(conversation=body.conversation, taken_over_by=caller.key.name)


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
