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
from deskhand.web.approvals.session import SessionGate

PREFIX = "/approvals"


def create_approvals(
    desks: Mapping[str, ServedDesk], users: Users, *, public_url: str | None = None
) -> Starlette:
    """The page that shows these desks' queues to these people.

    Without a session only the login and our own static files are served. `public_url` is the
    address that browsers know it by, where a proxy stands in between.
    """
    pages = Pages(users)
    gate = SessionGate(users, desks)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return pages.failed(error.problem.status, error.problem.detail)

    async def missing(request: Request, error: Exception) -> Response:
        return pages.failed(
            404, str(error) if isinstance(error, NotFound) else "there is no such page"
        )

    review = "/{desk}/{review}"
    app = Starlette(
        routes=[
            Route("/static/{name}", pages.static),
            Route("/login", pages.login, methods=["GET", "POST"]),
            Route("/logout", gate.page(pages.logout), methods=["POST"]),
            Route("/", gate.page(pages.queue)),
            Route("/taken-over", gate.page(pages.taken_over), methods=["GET", "POST"]),
            Route("/screened", gate.page(pages.screened), methods=["GET", "POST"]),
            Route(review, gate.page(pages.review)),
            Route(f"{review}/now", gate.page(pages.now), methods=["GET"]),
            Route(f"{review}/files/{{file}}", gate.page(pages.file), methods=["GET"]),
            Route(f"{review}/{{action}}", gate.page(pages.action), methods=["POST"]),
        ],
        exception_handlers={Refused: refused, NotFound: missing, 404: missing, 405: missing},
    )
    app.state.public_url = public_url
    return app
