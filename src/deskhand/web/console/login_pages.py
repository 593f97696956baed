"""Logging in and out, and how somebody wants the console to look."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deskhand.errors import TooManyLogins
from deskhand.ports import ConsoleActions, Users
from deskhand.ports.login import SingleSignOn
from deskhand.web.console.forms import read_form
from deskhand.web.console.frame import THEMES, Frame
from deskhand.web.console.session import (
    COOKIE,
    DEVICE_COOKIE,
    HOME,
    LOGIN,
    Visit,
    check_origin,
    keep_cookie,
    keep_device,
    own_path,
)
from deskhand.web.console.ticket_list import SHOWN, chosen_columns
from deskhand.web.console.translation import LANGUAGES

NO_PASSWORDS = "nobody logs in with a password here"
_YEAR = 365 * 86400
_CHOICES = {
    "theme": (*THEMES, "system"),
    "language": tuple(LANGUAGES),
    "keys": ("on", "off"),
}
"""What may be chosen, by the name of the field; each is kept in a cookie of its own."""


class LoginPages:
    def __init__(
        self,
        users: Users,
        frame: Frame,
        actions: ConsoleActions | None = None,
        single: SingleSignOn | None = None,
    ) -> None:
        self._users = users
        self._frame = frame
        self._actions = actions
        self._single = single

    async def login(self, request: Request) -> Response:
        to = own_path(request.query_params.get("to", HOME))
        if request.method != "POST":
            logout = await self._logout_url() if "out" in request.query_params else None
            return self._page(request, to=to, name="", problem=None, logout=logout)
        check_origin(request)
        form = await read_form(request)
        if self._single is not None and not self._single.passwords:
            return self._refusal(request, 403, form, NO_PASSWORDS)
        client = request.client.host if request.client else "unknown"
        to = own_path(form.get("to", HOME))
        try:
            secret = await self._users.log_in(
                form.get("name", ""),
                form.get("password", ""),
                client,
                request.cookies.get(DEVICE_COOKIE),
            )
        except TooManyLogins as error:
            response = self._refusal(request, 429, form, str(error))
            response.headers["Retry-After"] = str(ceil(error.retry_after))
            return response
        if self._actions is not None:
            status = 403 if secret is None else 303
            name = form.get("name", "").strip()[:100]
            await self._actions.record(name, client, "POST", LOGIN, status)
        if secret is None:
            return self._refusal(request, 403, form, "the name or the password is wrong")
        response = RedirectResponse(to, 303)
        keep_cookie(request, response, secret)
        if (device := await self._users.device(secret)) is not None:
            keep_device(request, response, device)
        return response

    def _refusal(
        self, request: Request, status: int, form: Mapping[str, str], problem: str
    ) -> Response:
        """The form again with the name that was typed, never with the password."""
        to, name = own_path(form.get("to", HOME)), form.get("name", "")[:100]
        return self._page(request, status, to=to, name=name, problem=problem)

    def _page(self, request: Request, status: int = 200, **values: Any) -> Response:
        single = self._single
        provider = None if single is None else single.provider.name
        passwords = single is None or single.passwords
        shown = {"provider": provider, "passwords": passwords, "logout": None, **values}
        return self._frame.html(request, "login.html", status, **shown)

    async def _logout_url(self) -> str | None:
        """Where somebody who logged out here logs out of the provider too."""
        return None if self._single is None else await self._single.provider.logout_url()

    async def logout(self, visit: Visit) -> Response:
        await self._users.log_out(visit.request.cookies.get(COOKIE, ""))
        response = RedirectResponse(LOGIN if self._single is None else f"{LOGIN}?out=yes", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    async def preferences(self, visit: Visit) -> Response:
        """Keep a choice of colours, language, keys or columns in this browser, and go back."""
        response = RedirectResponse(own_path(visit.form.get("to", HOME)), 303)
        chosen = {name: visit.form.get(name) for name in _CHOICES}
        kept = {name: value for name, value in chosen.items() if value in _CHOICES[name]}
        for name, value in (kept | {SHOWN: chosen_columns(visit.form)}).items():
            if value is not None:
                response.set_cookie(
                    f"deskhand_{name}",
                    value,
                    max_age=_YEAR,
                    path="/",
                    httponly=True,
                    samesite="strict",
                )
        return response
