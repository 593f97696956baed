"""How a visitor of a chat proves that an order is his: a code is mailed to its address on file."""

from typing import Annotated, NoReturn

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from deskhand.config.sections.chat import ChatSection
from deskhand.engine.chat_codes import VALID_FOR, CodeOver, CodeWrong, MailAway, TooManyCodes
from deskhand.errors import DeskhandError, NotFound
from deskhand.model.chats import Chat
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.chat_access import held_chat, read_model, served_chat
from deskhand.web.api.problems import RETRY_AFTER, Refused
from deskhand.web.api.request_body import json_body

router = APIRouter(prefix="/api/chat", tags=["chat"])
DeskQuery = Annotated[str | None, Query(max_length=100)]


class CodeBody(BaseModel):
    order: str = Field(min_length=1, max_length=100)
    """What is to be proven, as the visitor calls it."""


class ProofBody(CodeBody):
    code: str = Field(min_length=1, max_length=20)


class CodeAsked(BaseModel):
    """The same whether there is such a thing or not."""

    valid_seconds: float = VALID_FOR


class Proven(BaseModel):
    proven: bool = True


@router.post("/code", status_code=202, openapi_extra=json_body(CodeBody))
async def ask_for_code(request: Request, desk: DeskQuery = None) -> CodeAsked:
    """Mail a code to the address on file. The answer does not tell whether there is one."""
    body = await read_model(request, CodeBody)
    served, chat = await _chat(request, desk)
    try:
        await served.codes.request(chat.id, body.order)
    except DeskhandError as error:
        _refuse(error)
    return CodeAsked()


@router.post("/proof", openapi_extra=json_body(ProofBody))
async def prove(request: Request, desk: DeskQuery = None) -> Proven:
    """Show a code. What was said before does not count; the visitor says again what he wants."""
    body = await read_model(request, ProofBody)
    served, chat = await _chat(request, desk)
    try:
        await served.codes.prove(chat.id, body.order, body.code.strip())
    except DeskhandError as error:
        _refuse(error)
    return Proven()


async def _chat(request: Request, desk: str | None) -> tuple[ServedDesk, Chat]:
    """The chat of a desk whose visitors may prove something."""
    settings: ChatSection
    served, settings = served_chat(request, desk)
    if settings.proves is None:
        raise NotFound("nothing can be proven in this chat")
    return served, await held_chat(request, served)


def _refuse(error: DeskhandError) -> NoReturn:
    match error:
        case TooManyCodes():
            raise Refused(429, str(error), headers=RETRY_AFTER) from None
        case MailAway():
            raise Refused(503, str(error), headers=RETRY_AFTER) from None
        case CodeOver():
            raise Refused(410, str(error)) from None
        case CodeWrong():
            raise Refused(403, str(error)) from None
        case _:
            raise error
