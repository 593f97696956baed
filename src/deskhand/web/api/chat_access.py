"""Which chat a visitor means, whether it is his, and whether he goes on too fast."""

import ipaddress
import re
import time
from typing import TypeVar, cast

from fastapi import Request
from pydantic import BaseModel, ValidationError

from deskhand.config.sections.channels import chat_of
from deskhand.config.sections.chat import ChatSection
from deskhand.errors import NotFound
from deskhand.model.chats import Chat
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import FieldProblem, Refused, invalid, invalid_fields
from deskhand.web.api.request_body import parse_json, read_body

HOUR = 3600.0
MAX_BODY = 10_000
Body = TypeVar("Body", bound=BaseModel)
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, and what turns the direction of reading."""


def served_chat(request: Request, name: str | None) -> tuple[ServedDesk, ChatSection]:
    """The desk with its chat; NotFound for a desk without one."""
    name = getattr(request.state, "chat_desk", name)
    desks = cast(dict[str, ServedDesk], request.app.state.desks)
    chats = {key: chat_of(desk.spec.channels) for key, desk in desks.items()}
    names = [key for key, chat in chats.items() if chat is not None and name in (None, key)]
    if not names:
        raise NotFound("there is no such chat")
    if len(names) > 1:
        raise invalid(FieldProblem("desk", "say which desk"))
    settings = chats[names[0]]
    assert settings is not None
    return desks[names[0]], settings


async def held_chat(request: Request, desk: ServedDesk) -> Chat:
    """The chat whose token stands in `Authorization: Bearer`; Refused where there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    chat = await desk.chats.find(token.strip()) if scheme.lower() == "bearer" else None
    if chat is None:
        raise Refused(401, "there is no such chat; send its token as `Authorization: Bearer ...`")
    return chat


async def check_pace(
    request: Request, desk: ServedDesk, settings: ChatSection, chat: Chat | None, message_id: str
) -> None:
    """Refused where a visitor, his network or all together go on too fast, or where models have
    cost too much for one of them. What was taken in before may always be sent again."""
    network, since = network_of(request), time.time() - HOUR
    of_chat = None if chat is None else chat.id
    use = await desk.chats.use(of_chat, network, since)
    limits: list[tuple[float, float | None]] = [
        (use.turns_of_chat, settings.turns_per_hour),
        (use.turns_of_network, settings.turns_per_network),
        (use.turns_of_desk, settings.turns_per_desk),
    ]
    if chat is None:
        limits += [
            (use.chats_of_network, settings.chats_per_network),
            (use.chats_of_desk, settings.chats_per_desk),
        ]
    if settings.limits_spending:
        spent = await desk.chats.spent(of_chat, network, since)
        limits += [
            (spent.of_chat, settings.spend_per_chat),
            (spent.of_network, settings.spend_per_network),
            (spent.of_desk, settings.spend_per_desk),
        ]
    if not any(most is not None and count >= most for count, most in limits):
        return
    if chat is not None and await desk.chats.said(f"{chat.id}/{message_id}"):
        return
    raise Refused(429, "too many messages; try again later", headers={"Retry-After": "60"})


def network_of(request: Request) -> str:
    """The network address that a visitor's limits count for: of IPv6 the /64, which one household
    has to itself."""
    host = request.client.host if request.client is not None else "unknown"
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def sayable(text: str, settings: ChatSection) -> str:
    """What a visitor wrote without control characters; Refused where nothing is left, or much."""
    words = _UNFIT.sub(" ", text).strip()
    if not words:
        raise invalid(FieldProblem("text", "write something"))
    if len(words) > settings.longest_message:
        limit = f"write at most {settings.longest_message} characters"
        raise invalid(FieldProblem("text", limit))
    return words


async def read_model(request: Request, kind: type[Body]) -> Body:
    """A small body, checked."""
    try:
        return kind.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
