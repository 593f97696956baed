"""What a visitor does in a chat beside talking: asks for a person, and leaves an address."""

import time
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, ValidationError

from deskhand.mail.reply_to import is_whole
from deskhand.model.chats import VISITOR, WANTS_PERSON, chat_message
from deskhand.web.api.chat_access import HOUR, check_pace, held_chat, served_chat
from deskhand.web.api.problems import FieldProblem, invalid, invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.chat_hours import PeopleHours, people_hours

MAX_BODY = 10_000
DeskQuery = Annotated[str | None, Query(max_length=100)]
Body = TypeVar("Body", bound=BaseModel)

router = APIRouter(prefix="/api/chat", tags=["chat"])


class PersonBody(BaseModel):
    """A visitor asks for a person."""

    id: str = Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")
    """The sender's own id of this wish: sent again under it, it counts once."""
    text: str = Field(default="I would like to talk to a person.", min_length=1, max_length=200)
    """What the chat shows as the visitor's words."""


class AddressBody(BaseModel):
    address: str = Field(min_length=3, max_length=320)
    """Where what people answer is mailed, too."""


class AddressKept(BaseModel):
    kept: bool


@router.get("/people")
async def people(request: Request, desk: DeskQuery = None) -> PeopleHours:
    """Whether people are there now, and when they come."""
    served, settings = served_chat(request, desk)
    return people_hours(settings, served.spec.time_zone)


@router.post("/person", status_code=202, openapi_extra=json_body(PersonBody))
async def ask_for_person(request: Request, desk: DeskQuery = None) -> PeopleHours:
    """Hand the chat over to a person, whatever the desk makes of it; answers when one is there."""
    body = await _body(request, PersonBody)
    served, settings = served_chat(request, desk)
    chat = await held_chat(request, served)
    network = request.client.host if request.client is not None else "unknown"
    use = await served.chats.use(chat.id, network, time.time() - HOUR)
    check_pace(use, settings, is_new=False)
    message = chat_message(chat, body.id, body.text, "the token of the chat")
    message = message.changed(headers={WANTS_PERSON: "yes"})
    await served.chats.say(chat.id, message.id, VISITOR, body.text)
    await served.dispatcher.submit(message)
    return people_hours(settings, served.spec.time_zone)


@router.post("/address", openapi_extra=json_body(AddressBody))
async def leave_address(request: Request, desk: DeskQuery = None) -> AddressKept:
    """Leave an address to which people's answers are mailed. It proves nothing."""
    body = await _body(request, AddressBody)
    served, _ = served_chat(request, desk)
    chat = await held_chat(request, served)
    address = body.address.strip()
    if not is_whole(address):
        raise invalid(FieldProblem("address", "write one mail address"))
    await served.chats.leave_address(chat.id, address)
    return AddressKept(kept=True)


async def _body(request: Request, kind: type[Body]) -> Body:
    try:
        return kind.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
