"""The chat of a desk: a visitor says something, and follows what comes of it.

It needs no API key. Whoever opens a chat gets a token that nobody can guess; it opens this chat
again, and nothing else. A login token of the company's own site makes the visitor a known customer.
"""

import asyncio
import secrets
from typing import Annotated, cast

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, ValidationError

from deskhand.config.sections.channels import chat_of
from deskhand.config.sections.chat import ChatSection
from deskhand.model.chats import VISITOR, Chat, ChatFile, chat_message
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.chat_access import (
    check_pace,
    held_chat,
    network_of,
    sayable,
    served_chat,
)
from deskhand.web.api.parts import CHAT
from deskhand.web.api.problems import RETRY_AFTER, Refused, invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.chat_files import LARGEST_ENCODED, MOST_FILES, FileBody, attachments_of
from deskhand.web.chat_login import LONGEST_TOKEN, TokenRefused, customer_in, login_secret
from deskhand.web.chat_pulse import ChatPulse
from deskhand.web.chat_stream import ChatStream

EVENTS = "text/event-stream"
MAX_BODY = 120_000 + MOST_FILES * LARGEST_ENCODED
router = APIRouter(prefix=CHAT, tags=["chat"])

LastEvent = Annotated[str | None, Header(alias="Last-Event-ID", max_length=20)]


class TurnBody(BaseModel):
    """One message of a visitor."""

    id: str = Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")
    """The sender's own id of this message: sent again under it, it counts once."""
    text: str = Field(max_length=100_000)
    desk: str | None = Field(default=None, max_length=100)
    """May be left out where one desk is served."""
    chat: str | None = Field(default=None, min_length=20, max_length=200)
    """The token of a chat that goes on; a new one is opened without it."""
    opens: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{43}$")
    """The token for a chat that this message opens: 32 random bytes of the sender's own, in base64
    for URLs. A first message that is sent again under it opens no second chat; without it, a token
    is made for the sender."""
    login: str | None = Field(default=None, max_length=LONGEST_TOKEN)
    """A login token of the company's site: a JWT, HS256, with `sub`, `aud` and `exp`."""
    files: list[FileBody] = Field(default_factory=list[FileBody], max_length=MOST_FILES)


class TurnView(BaseModel):
    """What became of a message."""

    chat: str
    """The token that opens the chat again. Keep it secret."""
    run: str
    new_chat: bool
    duplicate: bool


@router.post("", status_code=202, openapi_extra=json_body(TurnBody), response_model=TurnView)
async def say(request: Request, response: Response) -> TurnView | Response:
    """Say something. The message is stored for good when this answers.

    With `Accept: text/event-stream` the answer is the stream of events until the desk rests.
    """
    try:
        turn = TurnBody.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    desk, settings = served_chat(request, turn.desk)
    text = sayable(turn.text, settings)
    files = await asyncio.to_thread(attachments_of, turn.files)
    customer = _customer(turn.login, settings, desk.spec.name)
    held, token = await _place(desk, turn, customer)
    await check_pace(request, desk, settings, held, turn.id)
    if desk.dispatcher.full:
        raise Refused(429, "too many messages wait to be worked", headers=RETRY_AFTER)
    chat = held or await desk.chats.open(token, customer, network_of(request))
    message = chat_message(chat, turn.id, text, "a login token of the chat", files)
    shown = [ChatFile(name=file.name, type=file.type, size=file.size) for file in files]
    is_first = await desk.chats.say(chat.id, message.id, VISITOR, text, shown)
    accepted = await desk.dispatcher.submit(message)
    _pulse(request, desk).wake(chat.id)
    if EVENTS in request.headers.get("accept", ""):
        stream = _stream(request, desk, chat, 0, ends_at_rest=True)
        stream.headers["X-Chat-Token"] = token
        return stream
    response.headers["Cache-Control"] = "no-store"
    return TurnView(
        chat=token,
        run=accepted.run_id,
        new_chat=token != turn.chat,
        duplicate=accepted.duplicate or not is_first,
    )


@router.get("/events")
async def follow(
    request: Request,
    desk: Annotated[str | None, Query(max_length=100)] = None,
    last_event_id: LastEvent = None,
) -> StreamingResponse:
    """The events of a chat, whose token stands in `Authorization: Bearer`.

    `Last-Event-ID` leaves out the lines up to this one.
    """
    served, _ = served_chat(request, desk)
    chat = await held_chat(request, served)
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() else 0
    return _stream(request, served, chat, after)


def _customer(login: str | None, settings: ChatSection, desk: str) -> str | None:
    """Who the login token says it is. A token that does not count is refused, not ignored."""
    if login is None:
        return None
    try:
        secret = login_secret(settings)
        if secret is None:
            raise TokenRefused("this chat takes no login tokens")
        return customer_in(login, secret, settings.audience or desk)
    except TokenRefused as error:
        raise Refused(401, str(error)) from None


async def _place(desk: ServedDesk, turn: TurnBody, customer: str | None) -> tuple[Chat | None, str]:
    """The chat that a turn belongs to, None where it is still to be opened; and its token."""
    held = await _held(desk, turn.chat, customer)
    if held is not None and turn.chat is not None:
        return held, turn.chat
    if turn.opens is None:
        return None, secrets.token_urlsafe(32)
    opened = await desk.chats.find(turn.opens)
    if opened is not None and opened.customer != customer:
        raise Refused(401, "this token has opened somebody else's chat; make another")
    return opened, turn.opens


async def _held(desk: ServedDesk, token: str | None, customer: str | None) -> Chat | None:
    """The chat that goes on; None where a new one is opened.

    Somebody who logs in gets a new chat: what was said before is nobody's word. A customer's chat
    goes on only with a token of the same customer.
    """
    if token is None:
        return None
    chat = await desk.chats.find(token)
    if chat is None:
        raise Refused(401, "there is no such chat; leave `chat` out to begin a new one")
    if chat.customer is None and customer is not None:
        return None
    if chat.customer != customer:
        raise Refused(401, "this chat belongs to somebody who is logged in; send `login`")
    return chat


def _pulse(request: Request, desk: ServedDesk) -> ChatPulse:
    """What tells the streams of this desk's chats that something happened."""
    pulses = cast(dict[str, ChatPulse], request.app.state.chat_pulses)
    name = desk.spec.name
    if name not in pulses:
        stopping = cast(asyncio.Event, request.app.state.stopping)
        pulses[name] = ChatPulse(desk.chats, stopping)
    return pulses[name]


def _stream(
    request: Request, desk: ServedDesk, chat: Chat, after: int, *, ends_at_rest: bool = False
) -> StreamingResponse:
    stopping = cast(asyncio.Event, request.app.state.stopping)
    settings = chat_of(desk.spec.channels)
    proves = None if settings is None else settings.proves
    stream = ChatStream(
        desk.chats,
        desk.store,
        chat.id,
        after,
        stopping,
        _pulse(request, desk),
        proves,
        ends_at_rest=ends_at_rest,
    )
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream.events(), media_type=EVENTS, headers=headers)
