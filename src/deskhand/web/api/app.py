"""The API as one ASGI application."""

import asyncio
from collections.abc import Mapping

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp

from deskhand.ports import ApiKeys
from deskhand.web.api import (
    attachments,
    conversations,
    health,
    kb,
    messages,
    modes,
    reference,
    reviews,
    runs,
    tickets,
    triage,
)
from deskhand.web.api import desks as desk_routes
from deskhand.web.api.access import Authenticate, ServedDesk
from deskhand.web.api.middleware import Guard
from deskhand.web.api.problems import problem_of


def create_app(
    desks: Mapping[str, ServedDesk],
    keys: ApiKeys,
    *,
    version: str,
    pages: Mapping[str, ASGIApp] | None = None,
) -> FastAPI:
    """The app that serves these open desks, by name, to the holders of these keys.

    `pages` are further parts of the site, by the path they begin with; each logs its people in
    itself.
    """
    pages = pages or {}
    app = FastAPI(
        title="Deskhand",
        version=version,
        # The pages of FastAPI load scripts from elsewhere, so /docs is our own.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[Middleware(Guard), Middleware(Authenticate, keys=keys, apart=tuple(pages))],
        exception_handlers={HTTPException: _tell, RequestValidationError: _tell},
    )
    app.state.desks = dict(desks)
    app.state.turns = messages.Turns()
    app.state.stopping = asyncio.Event()
    app.state.home = f"{next(iter(pages))}/" if pages else reference.DOCS
    app.include_router(reference.router)
    app.include_router(health.router)
    documented = [Depends(HTTPBearer(auto_error=False, description="An API key: `dh_...`"))]
    shown = (
        messages,
        triage,
        attachments,
        conversations,
        runs,
        reviews,
        tickets,
        desk_routes,
        modes,
        kb,
    )
    for part in shown:
        app.include_router(part.router, dependencies=documented)
    for path, page in pages.items():
        app.add_route(path, _inside, include_in_schema=False)
        app.mount(path, page)
    return app


def answer_who_waits(app: FastAPI) -> None:
    """Answer requests that wait for a run at once: the server is about to stop."""
    app.state.stopping.set()


async def _inside(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/", 307)


async def _tell(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    assert problem is not None
    return problem.response()
