"""The first start: one person makes an account, and a list says what works and what comes next."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.ids import new_id
from deskhand.model.message import Address, Message
from deskhand.ports import ConsoleActions, Users
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.forms import read_form
from deskhand.web.console.frame import Frame
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.session import Visit, check_origin, keep_cookie
from deskhand.web.console.translation import Phrase

PLACE = "/setup"
_CHANNELS = "{support: {imap: {...}, smtp: {...}}}"
_LOOK_AGAIN = 10
"""Seconds after which the list looks again by itself."""
_WORDS = "Hello, when are you open, and how long does a delivery take? Kind regards, Anna"


class SetupPages:
    def __init__(self, users: Users, frame: Frame, actions: ConsoleActions | None) -> None:
        self._users = users
        self._frame = frame
        self._actions = actions

    async def begin(self, request: Request) -> Response:
        """Make the first account with the link that `serve` printed; it works once."""
        if request.method != "POST":
            token = request.query_params.get("token", "")
            return await self._form(request, token, 200)
        check_origin(request)
        form = await read_form(request)
        token, name = form.get("token", ""), form.get("name", "").strip()
        password = form.get("password", "")
        if password != form.get("again", ""):
            return await self._form(request, token, 422, "the two passwords differ", name)
        try:
            await self._users.set_up(token, name, password)
        except (ConfigError, Conflict) as error:
            return await self._form(request, token, 422, str(error), name)
        client = request.client.host if request.client else "unknown"
        if self._actions is not None:
            await self._actions.record(name, client, "POST", PLACE, 303)
        secret = await self._users.log_in(name, password, client)
        response = RedirectResponse(f"{PLACE}/steps", 303)
        if secret is not None:
            keep_cookie(request, response, secret)
        return response

    async def _form(
        self, request: Request, token: str, status: int, problem: str = "", name: str = ""
    ) -> Response:
        if not await self._users.is_setup_link(token):
            raise NotFound("the link was used already or is too old; start the server again")
        return self._frame.html(
            request, "setup.html", status, token=token, problem=problem, name=name
        )

    async def steps(self, visit: Visit) -> Response:
        """What works by now; the page looks again by itself until everything does."""
        desk = _first(visit)
        steps = [] if desk is None else await steps_of(desk)
        name = None if desk is None else desk.spec.name
        is_done = bool(steps) and all(step["done"] for step in steps)
        response = self._frame.html(
            visit.request,
            "setup_steps.html",
            **await self._frame.around(visit, "desk"),
            steps=steps,
            desk=name,
            is_done=is_done,
        )
        if not is_done:
            response.headers["Refresh"] = str(_LOOK_AGAIN)
        return response

    async def try_it(self, visit: Visit) -> Response:
        """Hand a sample message in, as if a customer had written it."""
        desk = _first(visit)
        if desk is None:
            raise Refused(409, "no desk is served")
        moment = datetime.fromtimestamp(time.time(), UTC)
        message = Message(
            id=new_id("try"),
            channel="console",
            conversation=new_id("try"),
            sender=Address(address="anna@example.com", name="Anna Example"),
            subject="Opening hours",
            body=_WORDS,
            received_at=moment,
        )
        await desk.dispatcher.submit(message)
        return RedirectResponse(f"{PLACE}/steps", 303)


def _first(visit: Visit) -> ServedDesk | None:
    named = visit.request.query_params.get("desk")
    names = sorted(visit.desks)
    chosen = named if named in visit.desks else next(iter(names), None)
    return None if chosen is None else visit.desks[chosen]


async def steps_of(desk: ServedDesk) -> list[dict[str, Any]]:
    """You, the mailbox, the model, the first message: what is done, and what to do next."""
    return [
        {
            "name": "You",
            "done": True,
            "words": Phrase("You have an account and may do everything."),
        },
        _mailbox(desk),
        await _model(desk),
        await _first_message(desk),
    ]


def _mailbox(desk: ServedDesk) -> dict[str, Any]:
    channels: Sequence[Any] = desk.channels
    ill = [channel for channel in channels if not channel.is_well]
    if not channels:
        missing = Phrase(
            "No mailbox yet: write `channels: {example}` in desk.yaml of {desk}, then"
            " `deskhand mail check` and start again.",
            example=_CHANNELS,
            desk=desk.spec.name,
        )
        return {"name": "Mailbox", "done": False, "words": missing}
    if ill:
        trouble = "; ".join(f"{channel.name}: {channel.trouble}" for channel in ill)
        return {"name": "Mailbox", "done": False, "words": trouble}
    names = ", ".join(channel.name for channel in channels)
    return {"name": "Mailbox", "done": True, "words": Phrase("Connected: {names}.", names=names)}


async def _model(desk: ServedDesk) -> dict[str, Any]:
    away = await desk.store.models_away()
    if away:
        names = ", ".join(model.model for model in away)
        words = Phrase("{names} cannot be reached.", names=names)
        return {"name": "Model", "done": False, "words": words}
    models = sorted(set(desk.spec.models.values()))
    words = Phrase("None: the desk answers without one.")
    if models:
        words = Phrase("In use: {names}.", names=", ".join(models))
    return {"name": "Model", "done": True, "words": words}


async def _first_message(desk: ServedDesk) -> dict[str, Any]:
    runs = await desk.store.runs(limit=1)
    if not runs:
        words = Phrase("Nothing came in yet. Write to the mailbox, or hand a sample in.")
        return {"name": "Try it", "done": False, "words": words, "try": True}
    run = runs[0]
    words = Phrase("The newest message: {status}.", status=Phrase(STATUSES[run.status][0]))
    path = f"/runs/{desk.spec.name}/{run.id}"
    return {"name": "Try it", "done": True, "words": words, "path": path}
