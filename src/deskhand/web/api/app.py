"""The API as one ASGI application."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.ports import ApiKeys, ConsoleActions, Users
from deskhand.ports.webhooks import TriesWebhook, Webhooks
from deskhand.web.api import reference
from deskhand.web.api.access import Authenticate, ServedDesk
from deskhand.web.api.middleware import Guard
from deskhand.web.api.parts import CHAT, Api, LoadsParts
from deskhand.web.api.problems import problem_of
from deskhand.web.api.request_body import Turns
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


class LaterApp:
    """Stands for an application whose modules take long to import, as those of the console do.

    It is made in another thread: who asks for something else meanwhile does not wait for it.
    """

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._app: ASGIApp | None = None
        self._one_makes_it = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._made())(scope, receive, send)

    async def _made(self) -> ASGIApp:
        async with self._one_makes_it:
            if self._app is None:
                self._app = await asyncio.to_thread(self._make)
            return self._app


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
    apart = (*pages, CHAT)
    actions = None if hooks is None else hooks.actions
    app = Api(
        title="Deskhand",
        version=version,
        # The pages of FastAPI load scripts from elsewhere, so /docs is our own.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Guard),
            Middleware(ChatDoor, desks=dict(desks), behind=CHAT),
            Middleware(Authenticate, keys=keys, apart=apart, actions=actions),
            Middleware(LoadsParts),
        ],
        exception_handlers={HTTPException: _tell, RequestValidationError: _tell},
    )
    app.state.desks = dict(desks)
    app.state.users = users
    app.state.webhooks = None if hooks is None else hooks.webhooks
    app.state.webhook_trial = None if hooks is None else hooks.trial
    app.state.turns = Turns()
    app.state.stopping = asyncio.Event() if site is None else site.stopping
    app.state.chat_pulses = {}
    app.state.home = f"{pages[0]}/" if pages else reference.DOCS
    for path in pages:
        assert site is not None
        app.router.routes += [Route(path, site, include_in_schema=False), Mount(path, site)]
    return app


def answer_who_waits(app: FastAPI) -> None:
    """Answer requests that wait for a run at once: the server is about to stop."""
    app.state.stopping.set()


async def _tell(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    assert problem is not None
    return problem.response()
