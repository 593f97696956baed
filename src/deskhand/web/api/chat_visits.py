"""What a visitor does in a chat beside talking: asks for a person, leaves an address, says what he
thinks of an answer, and has the chat mailed."""

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from deskhand.config.sections.chat import WidgetWord
from deskhand.engine.chat_mailer import SUBJECTS, transcript_of
from deskhand.errors import NotFound
from deskhand.language.identify import identify
from deskhand.mail.reply_to import is_whole
from deskhand.model.chats import (
    VISITOR,
    WANTS_PERSON,
    ChatMail,
    ChatMailKind,
    chat_message,
)
from deskhand.model.ids import new_id
from deskhand.web.api.chat_access import (
    HOUR,
    check_pace,
    held_chat,
    read_model,
    sayable,
    served_chat,
)
from deskhand.web.api.problems import (
    RETRY_AFTER,
    FieldProblem,
    Refused,
    invalid,
)
from deskhand.web.api.request_body import json_body
from deskhand.web.chat_hours import PeopleHours, people_hours

TRANSCRIPTS_PER_HOUR = 2
MAIL_WITHIN = 2 * 86400.0
"""Seconds within which a transcript is worth mailing."""
DeskQuery = Annotated[str | None, Query(max_length=100)]

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


class ThumbBody(BaseModel):
    line: int = Field(ge=1)
    """The number of a line that the desk said."""
    thumb: Literal["up", "down"]


class Done(BaseModel):
    done: bool = True


class AddressKept(BaseModel):
    kept: bool


class ChatSettings(BaseModel):
    """What the widget needs to know before anything is said."""

    desk: str
    title: str
    colour: str
    languages: list[str]
    words: dict[str, dict[WidgetWord, str]]
    time_zone: str
    longest_message: int
    people: PeopleHours


@router.get("/settings")
async def settings(request: Request, desk: DeskQuery = None) -> ChatSettings:
    """How the widget looks and what it says."""
    served, chat = served_chat(request, desk)
    spec = served.spec
    return ChatSettings(
        desk=spec.name,
        title=spec.name.replace("-", " ").replace("_", " ").capitalize(),
        colour=chat.colour,
        languages=list(spec.languages) or ["en"],
        words=chat.words,
        time_zone=spec.time_zone,
        longest_message=chat.longest_message,
        people=people_hours(chat, spec.time_zone),
    )


@router.get("/people")
async def people(request: Request, desk: DeskQuery = None) -> PeopleHours:
    """Whether people are there now, and when they come."""
    served, settings = served_chat(request, desk)
    return people_hours(settings, served.spec.time_zone)


@router.post("/person", status_code=202, openapi_extra=json_body(PersonBody))
async def ask_for_person(request: Request, desk: DeskQuery = None) -> PeopleHours:
    """Hand the chat over to a person, whatever the desk makes of it; answers when one is there."""
    body = await read_model(request, PersonBody)
    served, settings = served_chat(request, desk)
    chat = await held_chat(request, served)
    await check_pace(request, served, settings, chat, body.id)
    text = sayable(body.text, settings)
    message = chat_message(chat, body.id, text, "the token of the chat")
    message = message.changed(headers={WANTS_PERSON: "yes"})
    await served.chats.say(chat.id, message.id, VISITOR, text)
    await served.dispatcher.submit(message)
    return people_hours(settings, served.spec.time_zone)


@router.post("/address", openapi_extra=json_body(AddressBody))
async def leave_address(request: Request, desk: DeskQuery = None) -> AddressKept:
    """Leave an address to which people's answers are mailed. It proves nothing."""
    body = await read_model(request, AddressBody)
    served, _ = served_chat(request, desk)
    chat = await held_chat(request, served)
    await served.chats.leave_address(chat.id, _address_in(body))
    return AddressKept(kept=True)


@router.post("/thumb", openapi_extra=json_body(ThumbBody))
async def rate(request: Request, desk: DeskQuery = None) -> Done:
    """Say whether a line of the desk helped. A thumb down counts as a complaint in earned modes."""
    body = await read_model(request, ThumbBody)
    served, _ = served_chat(request, desk)
    chat = await held_chat(request, served)
    if not await served.chats.rate(chat.id, body.line, body.thumb):
        raise NotFound("the desk said no such line")
    return Done()


@router.post("/transcript", status_code=202, openapi_extra=json_body(AddressBody))
async def mail_transcript(request: Request, desk: DeskQuery = None) -> Done:
    """Have the chat mailed. What an unproven visitor wrote himself is left out of it."""
    body = await read_model(request, AddressBody)
    served, _ = served_chat(request, desk)
    chat = await held_chat(request, served)
    address, now = _address_in(body), time.time()
    sent = await served.chats.mails_since(chat.id, ChatMailKind.TRANSCRIPT, now - HOUR)
    if sent >= TRANSCRIPTS_PER_HOUR:
        raise Refused(429, "this chat was mailed just now; try again later", headers=RETRY_AFTER)
    lines = await served.chats.lines(chat.id, limit=1000)
    said = "\n".join(line.text for line in lines)
    language = identify(said).code or "en"
    subject = SUBJECTS.get(language, SUBJECTS["en"]).format(title=served.spec.name)
    mail = ChatMail(
        key=new_id("chatmail"),
        chat=chat.id,
        kind=ChatMailKind.TRANSCRIPT,
        address=address,
        subject=subject,
        text=transcript_of(chat, lines, served.spec.time_zone, language),
        until=now + MAIL_WITHIN,
    )
    await served.chats.queue_mail(mail)
    return Done()


def _address_in(body: AddressBody) -> str:
    address = body.address.strip()
    if not is_whole(address):
        raise invalid(FieldProblem("address", "write one mail address"))
    return address
