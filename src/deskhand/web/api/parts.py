"""The parts of the API. Each is imported when the first request asks for something in it.

Importing all of them takes half a second, mostly for reading the parameters and answers of every
route, and most programs that call a desk use two or three.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from deskhand.web.api.problems import DOCUMENTED

CHAT = "/api/chat"
MESSAGES = "/api/messages"
_WITHOUT_KEY = ("chat", "chat_visits", "chat_proofs")
_PARTS: Mapping[str, tuple[str, ...]] = {
    CHAT: _WITHOUT_KEY,
    MESSAGES: ("messages",),
    "/api/triage": ("triage",),
    "/api/customers": ("triage",),
    "/api/conversations": ("conversations",),
    "/api/runs": ("attachments", "runs"),
    "/api/reviews": ("attachments", "reviews"),
    "/api/tickets": ("ticket_work", "tickets"),
    "/api/desks": ("desks", "modes"),
    "/api/kb": ("kb",),
    "/api/users": ("users",),
    "/api/webhooks": ("webhooks",),
}
"""The modules that answer paths with this beginning, in the order in which their routes count."""
_BEGINNING = 3
"""How many parts of a path tell what it is about: `/api/runs/run_1` is about `/api/runs`."""


class Api(FastAPI):
    """An application that has the routes of a part once they are asked for."""

    def __init__(self, **settings: Any) -> None:
        self._loaded: set[str] = set()
        super().__init__(**settings)
        self.router.routes += _routes_of("reference") + _routes_of("health")

    @property
    def routes(self) -> list[BaseRoute]:
        """All routes there are, those of parts that nobody asked for yet as well."""
        for beginning in _PARTS:
            self.load(beginning)
        return super().routes

    def load(self, path: str) -> None:
        """Have the routes of the part that a path belongs to; does nothing for any other path."""
        beginning = "/".join(path.split("/", _BEGINNING)[:_BEGINNING])
        for module in _PARTS.get(beginning, ()):
            if module not in self._loaded:
                self._loaded.add(module)
                self.router.routes += _routes_of(module)


class LoadsParts:
    """Lets no request through before the part that it asks for is there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["app"].load(scope["path"])
        short_cut = _short_cut(scope)
        await (short_cut or self._app)(scope, receive, send)


def _short_cut(scope: Scope) -> ASGIApp | None:
    """What answers a request without FastAPI; None for most."""
    if scope["path"] != MESSAGES:
        return None
    # with the part that it belongs to
    from deskhand.web.api.messages import hand_in_directly, is_plain

    return hand_in_directly if is_plain(scope) else None


@cache
def _routes_of(module: str) -> list[BaseRoute]:
    """The routes of a part, which are the same in every app: what differs lies in `app.state`.

    FastAPI reads each handler's parameters once more when a route is first asked for. Shared routes
    are read once in a process.
    """
    part = import_module(f"deskhand.web.api.{module}")
    key = Depends(HTTPBearer(auto_error=False, description="An API key: `dh_...`"))
    open_parts = ("reference", "health", *_WITHOUT_KEY)
    api = APIRouter(responses=DOCUMENTED, redirect_slashes=False)
    api.include_router(part.router, dependencies=[] if module in open_parts else [key])
    return api.routes
