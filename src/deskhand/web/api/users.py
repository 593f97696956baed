"""Users: who may log in to the console, and what each may do there."""

import secrets
from datetime import datetime
from typing import Annotated, Any, Self, cast

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field

from deskhand.errors import NotFound
from deskhand.model.access import ANY_DESK, Role, Scope, User
from deskhand.model.frozen import Frozen
from deskhand.ports import Users
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import Refused, refusing_what_cannot_be
from deskhand.web.api.request_body import json_body
from deskhand.web.api.tickets import read_ticket_body
from deskhand.web.api.views import Page, View, moment

router = APIRouter(prefix="/api/users", tags=["users"])

Keeper = Annotated[Caller, Depends(may(Scope.USERS_WRITE))]
Name = Annotated[str, Path(max_length=200)]


class UserView(View):
    name: str
    role: Role
    desks: list[str]
    limit: str | None
    """The largest amount that the person may let move, as `500 EUR`; null for any."""
    mail: str | None
    """The person's own address: nobody decides about what it asked for."""
    created_at: datetime
    removed_at: datetime | None

    @classmethod
    def of(cls, user: User) -> Self:
        return cls(**_fields(user))


class NewUserView(UserView):
    password: str
    """Shown only now."""


class NewUserBody(Frozen):
    name: str = Field(min_length=1, max_length=100)
    desks: list[str] = Field(min_length=1, max_length=100)
    role: Annotated[Role, Field(strict=False)] = Role.AGENT
    limit: str | None = Field(default=None, max_length=30)
    mail: str | None = Field(default=None, max_length=300)


class RightsBody(Frozen):
    """What is left out stays as it is; null clears it."""

    role: Annotated[Role | None, Field(strict=False)] = None
    limit: str | None = Field(default=None, max_length=30)
    mail: str | None = Field(default=None, max_length=300)
    desks: list[str] | None = Field(default=None, max_length=100)


@router.get("")
async def list_users(request: Request, caller: Keeper) -> Page[UserView]:
    """Everybody, removed ones too."""
    users = [user for user in await _users(request).list() if _is_seen(caller, user)]
    return Page[UserView](items=[UserView.of(user) for user in users], next_cursor=None)


@router.post("", status_code=201, openapi_extra=json_body(NewUserBody))
async def add_user(request: Request, caller: Keeper) -> NewUserView:
    """Let somebody log in. The password is made up and answered once."""
    body = await read_ticket_body(request, NewUserBody)
    _check_desks(caller, body.desks)
    password = secrets.token_urlsafe(12)
    with refusing_what_cannot_be():
        user = await _users(request).add(
            body.name, password, body.desks, role=body.role, limit=body.limit, mail=body.mail
        )
    return NewUserView(**_fields(user), password=password)


@router.patch("/{name}", openapi_extra=json_body(RightsBody))
async def change_user(request: Request, caller: Keeper, name: Name) -> UserView:
    """Change what somebody may do; the person's sessions end."""
    body = await read_ticket_body(request, RightsBody)
    await _seen(request, caller, name)
    said: dict[str, str | None] = {}
    for field in body.model_fields_set:
        value = getattr(body, field)
        said[field] = " ".join(value) if isinstance(value, list) else value
    if body.desks is not None:
        _check_desks(caller, body.desks)
    with refusing_what_cannot_be():
        changed = await _users(request).set_rights(name, **said)
    return UserView.of(changed)


@router.delete("/{name}")
async def remove_user(request: Request, caller: Keeper, name: Name) -> UserView:
    """Shut somebody out at once; the name stays taken."""
    await _seen(request, caller, name)
    return UserView.of(await _users(request).remove(name))


def _users(request: Request) -> Users:
    users = request.app.state.users
    if users is None:
        raise NotFound("this server has no console, so nobody logs in")
    return cast(Users, users)


def _is_seen(caller: Caller, user: User) -> bool:
    """A key for some desks sees only people whose desks are all among them."""
    return all(caller.key.touches(desk) for desk in user.desks)


async def _seen(request: Request, caller: Caller, name: str) -> None:
    people = [user for user in await _users(request).list() if user.name == name]
    if not any(_is_seen(caller, user) for user in people):
        raise NotFound(f"there is no user {name!r}")


def _check_desks(caller: Caller, desks: list[str]) -> None:
    if ANY_DESK in caller.key.desks:
        return
    foreign = [desk for desk in desks if not caller.key.touches(desk) or desk == ANY_DESK]
    if foreign:
        raise Refused(403, f"the key {caller.key.name!r} may not touch {foreign[0]}")


def _fields(user: User) -> dict[str, Any]:
    limit = None if user.limit is None else str(user.limit)
    removed_at = None if user.removed_at is None else moment(user.removed_at)
    return {
        "name": user.name,
        "role": user.role,
        "desks": list(user.desks),
        "limit": limit,
        "mail": user.mail,
        "created_at": moment(user.created_at),
        "removed_at": removed_at,
    }
