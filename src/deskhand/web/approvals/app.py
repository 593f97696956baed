"""The approvals page as an ASGI application, to be mounted at /approvals."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deskhand.errors import NotFound
from deskhand.ports import Users
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.approvals.pages import Pages
from deskhand.web.approvals.session import Door

PREFIX = "/approvals"


def create_approvals(desks: Mapping[str, ServedDesk], users: Users) -> Starlette:
    """Serve the queue of these desks to these people; nothing but the login and our own files is
    open to others."""
    pages, door = Pages(users), Door(users, desks)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return pages.failed(error.problem.status, error.problem.detail)

    async def missing(request: Request, error: Exception) -> Response:
        return pages.failed(
            404, str(error) if isinstance(error, NotFound) else "there is no such page"
        )

    review = "/{desk}/{review}"
    return Starlette(
        routes=[
            Route("/static/{name}", pages.static),
            Route("/login", pages.login, methods=["GET", "POST"]),
            Route("/logout", door.page(pages.logout), methods=["POST"]),
            Route("/", door.page(pages.queue)),
            Route(review, door.page(pages.sheet)),
            Route(f"{review}/now", door.page(pages.now), methods=["GET"]),
            Route(f"{review}/{{action}}", door.page(pages.action), methods=["POST"]),
        ],
        exception_handlers={Refused: refused, NotFound: missing, 404: missing, 405: missing},
    )
