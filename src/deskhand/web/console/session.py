"""Sessions of the console: cookies, forms that prove their origin, what a page may load."""

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deskhand.errors import NotFound
from deskhand.model.access import DEVICE_SECONDS, Role, Session
from deskhand.model.attached_files import AttachedFile
from deskhand.ports import ConsoleActions, Users
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.forms import Submission, read_submission

T = TypeVar("T")
log = logging.getLogger("deskhand.web")

COOKIE = "deskhand_session"
DEVICE_COOKIE = "deskhand_device"
"""Says that its owner has logged in with this browser. It opens nothing."""
HOME = "/approvals/"
LOGIN = "/login"
SCREENS = ("/approvals", "/messages", "/tickets", "/runs", "/metrics", "/desk", "/search")
"""Where the screens of the console are; the first is where one arrives."""
PATHS = (*SCREENS, LOGIN, "/logout", "/preferences", "/setup", "/static", "/events", "/rate")
"""All that the console answers."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""No script, style or image but our own files: what a customer wrote can load and run nothing."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is logged in."""

    request: Request
    session: Session
    desks: Mapping[str, ServedDesk]
    """Those the user may touch; the others do not exist."""
    form: Mapping[str, str]
    files: tuple[AttachedFile, ...] = ()
    """Files that were chosen in the form."""
    mark: int | None = None
    """The newest change when the page began to be read; None where nobody follows it."""

    @property
    def name(self) -> str:
        return self.session.user.name

    @property
    def part(self) -> str:
        """The part of a page that a script asks for; empty where a whole page is wanted."""
        return self.request.headers.get("x-part", "")

    @property
    def role(self) -> Role:
        return self.session.user.role

    def desk(self, name: str) -> ServedDesk:
        if name not in self.desks:
            raise NotFound(f"there is no desk {name!r}")
        return self.desks[name]

    async def of_each_desk(self, read: Callable[[ServedDesk], Awaitable[T]]) -> dict[str, T]:
        """What is read of each desk, at once: a screen waits for the slowest, not for the sum."""
        answers = await asyncio.gather(*map(read, self.desks.values()))
        return dict(zip(self.desks, answers, strict=True))


Page = Callable[[Visit], Awaitable[Response]]
Needed = Role | Callable[[Request], Role]
"""The role that a page asks for, or what tells it from the request."""
NEEDS = "needs"
"""The attribute of a page's endpoint that says which role it asks for."""


class SessionGate:
    """Lets only logged-in people with the role that is needed through to the pages wrapped by
    `page`, and writes down what they do."""

    def __init__(
        self,
        users: Users,
        desks: Mapping[str, ServedDesk],
        after_change: Callable[[], None],
        actions: ConsoleActions | None = None,
        newest: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        """`newest` tells the number of the newest change of what consoles show."""
        self._users = users
        self._desks = desks
        self._newest = newest
        self._after_change = after_change
        """Called when somebody has done something."""
        self._actions = actions

    def page(
        self, show: Page, needs: Needed = Role.VIEWER
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session = await self.session(request)
            if session is None:
                return _to_login(request)
            if request.method in ("GET", "HEAD"):
                return await self._show(request, session, show, needs)
            try:
                response = await self._show(request, session, show, needs)
            except Refused as error:
                await self._note(request, session, error.problem.status)
                raise
            except NotFound:
                await self._note(request, session, 404)
                raise
            await self._note(request, session, response.status_code)
            self._after_change()
            return response

        setattr(answer, NEEDS, needs)
        return answer

    async def _show(
        self, request: Request, session: Session, show: Page, needs: Needed
    ) -> Response:
        sent = Submission({})
        if request.method not in ("GET", "HEAD"):
            sent = await self._submission(request, session)
        needed = needs if isinstance(needs, Role) else needs(request)
        if not session.user.role.covers(needed):
            role = session.user.role
            raise Refused(403, f"this needs the role {needed}; yours is {role}")
        mine = {name: desk for name, desk in self._desks.items() if session.user.touches(name)}
        visit = Visit(request, session, mine, sent.fields, sent.files)
        if request.method == "GET" and self._newest is not None and not visit.part:
            visit = replace(visit, mark=await self._newest())
        return await show(visit)

    async def _note(self, request: Request, session: Session, status: int) -> None:
        if self._actions is None:
            return
        client = request.client.host if request.client else "unknown"
        path = request.url.path
        await self._actions.record(session.user.name, client, request.method, path, status)

    async def session(self, request: Request) -> Session | None:
        secret = request.cookies.get(COOKIE)
        session = None if secret is None else await self._users.session(secret)
        if session is not None:
            request.state.caller = session.user.name
        return session

    async def _submission(self, request: Request, session: Session) -> Submission:
        check_origin(request)
        sent = await read_submission(request)
        given = sent.fields.pop("csrf", "") or request.headers.get("x-csrf", "")
        if not hmac.compare_digest(given.encode(), session.csrf.encode()):
            raise Refused(403, "this form is not from a page of yours; load the page again")
        return sent


def check_origin(request: Request) -> None:
    """Raise Refused unless the browser says that the form comes from our own pages.

    Those are at the address that the request names, or at the public one of `serve --public-url`.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    host = request.headers.get("host")
    ours = origin is None or _host_in(origin) == host or _is_public(request)
    if site not in (None, "same-origin") or not ours or (site is None and origin is None):
        log.warning(
            "refused a form from %r: this server was asked as %r; if a proxy in front of it changes"
            " the host, start it with --public-url",
            origin,
            host,
        )
        raise Refused(
            403,
            "this form comes from another site; behind a proxy, the server needs --public-url",
        )


def _host_in(url: str) -> str | None:
    """The host and port of an address; None for what is none."""
    try:
        return urlsplit(url).netloc
    except ValueError:  # `http://[`
        return None


def _is_public(request: Request) -> bool:
    """Whether the browser is at the public address."""
    public = getattr(request.app.state, "public_url", None)
    return public is not None and request.headers.get("origin") == public


def keep_cookie(
    request: Request, response: Response, secret: str, *, encrypted: bool = False
) -> None:
    """`encrypted` says that browsers come here by https, whatever the request looks like."""
    response.set_cookie(
        COOKIE,
        secret,
        path="/",
        httponly=True,
        samesite="strict",
        secure=encrypted or _is_encrypted(request),
    )


def keep_device(request: Request, response: Response, device: str) -> None:
    response.set_cookie(
        DEVICE_COOKIE,
        device,
        max_age=int(DEVICE_SECONDS),
        path=LOGIN,
        httponly=True,
        samesite="strict",
        secure=_is_encrypted(request),
    )


def _is_encrypted(request: Request) -> bool:
    encrypted_outside = _is_public(request) and request.app.state.public_url.startswith("https:")
    return request.url.scheme == "https" or encrypted_outside


def chat_path(desk: str, conversation: str) -> str:
    """Where a chat is shown."""
    return f"{HOME}chat?{urlencode({'desk': desk, 'conversation': conversation})}"


def own_path(wanted: str) -> str:
    """Where to go after logging in: the wanted page if it is one of ours, else the queue."""
    inside = (
        wanted.startswith(tuple(f"{screen}/" for screen in SCREENS))
        and _host_in(wanted) == ""
        and "\\" not in wanted
        and wanted.isprintable()
    )
    return wanted if inside else HOME


def _to_login(request: Request) -> Response:
    if request.method not in ("GET", "HEAD"):
        raise Refused(401, "you are not logged in any more; log in again, what you typed is kept")
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if request.headers.get("sec-fetch-site") == "cross-site":
        # Browsers send no strict cookie along with a link from another site, such as a mail:
        # loading the page once more from here brings it.
        return Response(_AGAIN, media_type="text/html")
    return RedirectResponse(f"{LOGIN}?to={quote(here, safe='')}", 303)


_AGAIN = (
    '<!doctype html><title>Deskhand</title><meta http-equiv="refresh" content="0"><p>One moment …'
)
