"""The API as one ASGI application."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.ports import ApiKeys, ConsoleActions, Users
from deskhand.ports.webhooks import TriesWebhook, Webhooks
from deskhand.web.api import (
    attachments,
    chat,
    chat_proofs,
    chat_visits,
    conversations,
    health,
    kb,
    messages,
    modes,
    reference,
    reviews,
    runs,
    ticket_work,
    tickets,
    triage,
)
from deskhand.web.api import desks as desk_routes
from deskhand.web.api import users as user_routes
from deskhand.web.api import webhooks as webhook_routes
from deskhand.web.api.access import Authenticate, ServedDesk
from deskhand.web.api.middleware import Guard
from deskhand.web.api.problems import DOCUMENTED, problem_of
from deskhand.web.chat_widget import ChatDoor


@dataclass(frozen=True, slots=True)
class Site:
    """Pages for people beside the API: an application that logs them in itself."""

    app: ASGIApp
    paths: Sequence[str]
    """The paths that it answers, each with all below it; the first is where `/` leads."""
    stopping: asyncio.Event
    """Set when the server is about to stop: its streams end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application sees whole paths, wherever the request was sorted out."""
        outside = scope.get("app_root_path", scope.get("root_path", ""))
        await self.app({**scope, "root_path": outside}, receive, send)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What keeps webhooks: their addresses, a way to try one, and the log of what was done."""

    webhooks: Webhooks
    trial: TriesWebhook
    actions: ConsoleActions


def create_app(
    desks: Mapping[str, ServedDesk],
    keys: ApiKeys,
    *,
    version: str,
    site: Site | None = None,
    users: Users | None = None,
    hooks: Hooks | None = None,
) -> FastAPI:
    """The app that serves these open desks, by name, to the holders of these keys."""
    pages = () if site is None else tuple(site.paths)
    apart = (*pages, chat.PREFIX)
    actions = None if hooks is None else hooks.actions
    app = FastAPI(
        title="Deskhand",
        version=version,
        # The pages of FastAPI load scripts from elsewhere, so /docs is our own.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Guard),
            Middleware(ChatDoor, desks=dict(desks), behind=chat.PREFIX),
            Middleware(Authenticate, keys=keys, apart=apart, actions=actions),
        ],
        exception_handlers={HTTPException: _tell, RequestValidationError: _tell},
    )
    app.state.desks = dict(desks)
    app.state.users = users
    app.state.webhooks = None if hooks is None else hooks.webhooks
    app.state.webhook_trial = None if hooks is None else hooks.trial
    app.state.turns = messages.Turns()
    app.state.stopping = asyncio.Event() if site is None else site.stopping
    app.state.chat_pulses = {}
    app.state.home = f"{pages[0]}/" if pages else reference.DOCS
    app.router.routes += _routes()
    for path in pages:
        assert site is not None
        app.router.routes += [Route(path, site, include_in_schema=False), Mount(path, site)]
    return app


@cache
def _routes() -> list[BaseRoute]:
    """The routes of the API, which are the same in every app: what differs lies in `app.state`.

    FastAPI reads each handler's parameters when a route is first asked for, 80 ms for all of them.
    Shared routes are read once in a process.
    """
    api = APIRouter(responses=DOCUMENTED, redirect_slashes=False)
    for open_part in (reference, health, chat, chat_visits, chat_proofs):
        api.include_router(open_part.router)
    documented = [Depends(HTTPBearer(auto_error=False, description="An API key: `dh_...`"))]
    parts_with_key = (
        messages,
        triage,
        attachments,
        conversations,
        runs,
        reviews,
        ticket_work,
        tickets,
        desk_routes,
        modes,
        kb,
        user_routes,
        webhook_routes,
    )
    for part in parts_with_key:
        api.include_router(part.router, dependencies=documented)
    return api.routes


def answer_who_waits(app: FastAPI) -> None:
    """Answer requests that wait for a run at once: the server is about to stop."""
    app.state.stopping.set()


async def _tell(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    assert problem is not None
    return problem.response()
