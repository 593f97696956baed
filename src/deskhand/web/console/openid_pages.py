"""Logging in with a provider: the browser goes there, comes back with a code, and gets a session
like everybody's."""

import logging
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from deskhand.errors import DeskhandError, LoginRefused, ProviderAway
from deskhand.ports import ConsoleActions
from deskhand.ports.login import SingleSignOn
from deskhand.web.console.frame import HEADERS, Frame
from deskhand.web.console.session import HOME, LOGIN, keep_cookie, own_path

log = logging.getLogger("deskhand.web")

BEGIN = f"{LOGIN}/oidc"
BACK = f"{BEGIN}/callback"
COOKIE = "deskhand_login"
"""Holds the secret of a login that was begun. Unlike the session's it comes along when another
site sends the browser here, and it opens nothing by itself."""
_MINUTES = 600
_LONGEST = 4000
_NOBODY = "somebody unknown"
_AWAY = "your provider does not answer; try again in a moment"
REFUSED = {
    "access_denied": "you did not agree, or your provider does not let you in",
    "login_required": "your provider wants you to log in there first",
    "temporarily_unavailable": "your provider is busy; try again in a moment",
}
"""What a provider may say instead of a code."""
_UNKNOWN = "your provider could not log you in"
_NOT_BEGUN = "this login was not begun in this browser, or too long ago"
_FINISHED = "this login was finished already, or begun too long ago"
_UNREADABLE = "the answer cannot be read; begin again"
WORDS = (_AWAY, _UNKNOWN, _NOT_BEGUN, _FINISHED, _UNREADABLE, *REFUSED.values())
"""What the login page may say about an answer."""
_GO_ON = (
    '<!doctype html><html lang="en"><title>Deskhand</title>'
    '<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0;url={to}">'
    '<p><a href="{to}">Deskhand</a>'
)
"""Sends the browser on from a page of ours: a strict cookie does not come along where another site
has sent it, however many redirects ago."""


class OpenIdPages:
    def __init__(
        self, frame: Frame, single: SingleSignOn, actions: ConsoleActions | None, public_url: str
    ) -> None:
        self._frame = frame
        self._single = single
        self._actions = actions
        self._is_encrypted = public_url.startswith("https:")

    async def begin(self, request: Request) -> Response:
        """Send the browser to the provider."""
        to = own_path(request.query_params.get("to", HOME))
        try:
            secret = await self._single.logins.begin(to)
            place = await self._single.provider.begin(secret)
        except ProviderAway as error:
            return self._failed(request, error)
        response = RedirectResponse(place, 303, {"Cache-Control": "no-store"})
        response.set_cookie(
            COOKIE,
            secret,
            max_age=_MINUTES,
            path=BEGIN,
            httponly=True,
            samesite="lax",
            secure=self._is_encrypted,
        )
        return response

    async def back(self, request: Request) -> Response:
        """The browser is back: find out who it is, and let them in."""
        who = _NOBODY
        try:
            to, who, session = await self._log_in(request)
        except DeskhandError as error:
            response = self._failed(request, error)
            await self._note(request, who, response.status_code)
        else:
            response = HTMLResponse(_GO_ON.format(to=escape(to)), 200, HEADERS)
            keep_cookie(request, response, session, encrypted=self._is_encrypted)
            await self._note(request, who, 303)
        response.delete_cookie(COOKIE, path=BEGIN)
        return response

    async def _log_in(self, request: Request) -> tuple[str, str, str]:
        """Where it leads, who it is and the secret of the session."""
        said = request.query_params
        secret = request.cookies.get(COOKIE, "")
        if any(len(value) > _LONGEST for value in said.values()) or len(said.multi_items()) > 20:
            raise LoginRefused(_UNREADABLE)
        if not secret or not self._single.provider.is_answer_to(secret, said.get("state", "")):
            raise LoginRefused(_NOT_BEGUN)
        to = await self._single.logins.take(secret)
        if to is None:
            raise LoginRefused(_FINISHED)
        if "error" in said:
            raise LoginRefused(REFUSED.get(said["error"], _UNKNOWN))
        if not said.get("code"):
            raise LoginRefused(_UNREADABLE)
        identity = await self._single.provider.finish(secret, said["code"], said.get("iss"))
        name, session = await self._single.logins.log_in(identity, self._single.admission)
        return own_path(to), name, session

    def _failed(self, request: Request, error: DeskhandError) -> Response:
        """The login page again, which says why; passwords may still do."""
        status, words = 403, str(error)
        if isinstance(error, ProviderAway):
            log.warning("nobody can log in with %s: %s", self._single.provider.name, error)
            status, words = 503, _AWAY
        elif not isinstance(error, LoginRefused):
            raise error
        log.info("refused a login with %s: %s", self._single.provider.name, error)
        return self._frame.html(
            request,
            "login.html",
            status,
            to=HOME,
            name="",
            problem=words,
            provider=self._single.provider.name,
            passwords=self._single.passwords,
            logout=None,
        )

    async def _note(self, request: Request, who: str, status: int) -> None:
        if self._actions is not None:
            client = request.client.host if request.client else "unknown"
            await self._actions.record(who, client, "GET", BACK, status)
