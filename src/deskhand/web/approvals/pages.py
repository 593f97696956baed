"""The pages: log in, the queue, one review, and what was done with it."""

import time
from collections.abc import Mapping
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from deskhand.engine.descriptions import DECIDED, describe_confidence
from deskhand.errors import Conflict, NotFound, TooManyLogins
from deskhand.knowledge.prose import unwrapped
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState
from deskhand.ports import Users
from deskhand.web.api.access import ServedDesk
from deskhand.web.approvals import taken_over_page
from deskhand.web.approvals.actions import act, bring_files, leaving_until
from deskhand.web.approvals.forms import read_form
from deskhand.web.approvals.labels import (
    CAUSES,
    KINDS,
    age,
    clock,
    due,
    expiry,
    expiry_with_outcome,
    file_size,
    iso,
    quotes_as_prose,
    visible,
)
from deskhand.web.approvals.queue_page import (
    NOBODY,
    PAGE,
    TABS,
    Filter,
    count,
    facets,
    neighbours,
    path_of,
    read_place,
    read_queue,
    written_place,
)
from deskhand.web.approvals.review_page import decided_words, read_review_page, typing_words
from deskhand.web.approvals.screened_page import (
    PLACE,
    count_screened,
    read_before,
    read_screened,
    take_back,
)
from deskhand.web.approvals.session import (
    COOKIE,
    DEVICE_COOKIE,
    HOME,
    POLICY,
    Visit,
    check_origin,
    keep_cookie,
    keep_device,
    own_path,
)
from deskhand.web.approvals.taken_over_page import give_back, read_taken_over
from deskhand.web.file_response import file_response, is_shown

HERE = Path(__file__).parent
STATIC = {"style.css": "text/css", "approvals.js": "text/javascript", "icon.svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": (
        "same-origin"
    ),  # with none at all, a browser would not say where our own forms come from
}
_SOON = 3600.0
"""Seconds before its end in which it is marked."""
_STAYS = ("note", "assign", "attach")
"""Actions after which one goes on looking at the same review."""


class Pages:
    def __init__(self, users: Users) -> None:
        self._users = users
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {
            "visible": visible,
            "iso": iso,
            "clock": clock,
            "prose": unwrapped,
            "quotes_as_prose": quotes_as_prose,
            "size": file_size,
            "is_shown": is_shown,
        }
        self._templates.globals |= {
            "home": HOME,
            "causes": CAUSES,
            "kinds": KINDS,
            "fresh": _fresh(),
        }
        self._templates.globals |= {
            "due_words": due,
            "sure": describe_confidence,
            "path_of": path_of,
            "nobody": NOBODY,
        }

    # --- without a session

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise NotFound("there is no such file")
        body = (HERE / "static" / name).read_bytes()
        return Response(
            body, media_type=STATIC[name], headers={**_HEADERS, "Cache-Control": "max-age=86400"}
        )

    async def login(self, request: Request) -> Response:
        to = own_path(request.query_params.get("to", HOME))
        if request.method != "POST":
            return self._html("login.html", to=to, problem=None)
        check_origin(request)
        form = await read_form(request)
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
            response = self._html("login.html", 429, to=to, problem=str(error))
            response.headers["Retry-After"] = str(ceil(error.retry_after))
            return response
        if secret is None:
            return self._html("login.html", 403, to=to, problem="the name or the password is wrong")
        response = RedirectResponse(to, 303)
        keep_cookie(request, response, secret)
        if (device := await self._users.device(secret)) is not None:
            keep_device(request, response, device)
        return response

    def failed(self, status: int, detail: str) -> Response:
        return self._html("failed.html", status, detail=detail)

    # --- with one

    async def logout(self, visit: Visit) -> Response:
        await self._users.log_out(visit.request.cookies.get(COOKIE, ""))
        response = RedirectResponse(f"{HOME}login", 303)
        response.delete_cookie(COOKIE, path="/approvals")
        return response

    async def queue(self, visit: Visit) -> Response:
        chosen = Filter.of(visit.request.query_params, visit.desks)
        beyond = read_place(visit.request.query_params.get("after", ""))
        items = await read_queue(visit, chosen, beyond=beyond, limit=PAGE + 1)
        shown = items[:PAGE]
        now = time.time()
        tabs = [(tab, await count(visit, chosen.with_tab(tab))) for tab in TABS]
        rows = [
            (item, age(now - item.review.created_at), expiry(item.review, now)) for item in shown
        ]
        more = None
        if len(items) > PAGE:
            more = chosen.query(after=written_place(shown[-1].review.place))

        return self._html(
            "queue.html",
            **await self._frame(visit, chosen),
            tabs=tabs,
            rows=rows,
            more=more,
            begun=beyond is not None,
            now=now,
            soon=now + _SOON,
            facets=await facets(visit),
            screened=await count_screened(visit),
            screened_place=PLACE,
            taken_over=len(await read_taken_over(visit)),
            taken_over_place=taken_over_page.PLACE,
            all_causes=list(Cause),
        )

    async def taken_over(self, visit: Visit) -> Response:
        """Conversations in which a person answers; a form gives one back to the desk."""
        if visit.request.method == "POST":
            await give_back(visit)
            return RedirectResponse(f"{taken_over_page.PLACE}?given=yes", 303)
        return self._html(
            "taken_over.html",
            **await self._frame(visit, Filter()),
            place=taken_over_page.PLACE,
            rows=await read_taken_over(visit),
            given=visit.request.query_params.get("given") == "yes",
        )

    async def screened(self, visit: Visit) -> Response:
        """What was not answered because a program wrote it; a form takes one of them back."""
        if visit.request.method == "POST":
            taken = await take_back(visit)
            return RedirectResponse(f"{PLACE}?taken={taken.id}", 303)
        before = read_before(visit.request.query_params)
        rows, more = await read_screened(visit, before)
        return self._html(
            "screened.html",
            **await self._frame(visit, Filter()),
            place=PLACE,
            rows=rows,
            more=more,
            begun=before is not None,
            count=await count_screened(visit),
            taken=visit.request.query_params.get("taken", "")[:200],
        )

    async def review(self, visit: Visit) -> Response:
        return await self._review(visit, None)

    async def _review(self, visit: Visit, problem: str | None, status: int = 200) -> Response:
        desk, review_id = _place(visit)
        chosen = Filter.of(visit.request.query_params, visit.desks)
        shown = await read_review_page(desk, review_id, visit.name, time.time())
        before, after = await neighbours(visit, chosen, shown["review"])
        frame = await self._frame(visit, chosen)
        review: Review = shown["review"]
        now = time.time()
        return self._html(
            "review.html",
            status,
            **frame,
            **shown,
            problem=problem,
            before=before,
            after=after,
            until=leaving_until(review),
            expires=expiry_with_outcome(review, now),
            soon=review.expires_at is not None and review.expires_at - now < _SOON,
        )

    async def now(self, visit: Visit) -> Response:
        """Whether a review has changed, and who else is writing: open pages ask now and then."""
        desk, review_id = _place(visit)
        review = await desk.store.review(review_id)
        current = {
            "open": review.state is ReviewState.OPEN,
            "version": review.version,
            "words": visible(decided_words(review, time.time())),
            "typing": visible(typing_words(await desk.store.begun_edits(review_id), visit.name)),
        }
        return JSONResponse(current, headers={**_HEADERS, "Cache-Control": "no-store"})

    async def file(self, visit: Visit) -> Response:
        """A file of the review's run: an image shown in its place, all else as a download."""
        desk, review_id = _place(visit)
        review = await desk.store.review(review_id)
        name = visit.request.path_params["file"][:200]
        inline = visit.request.query_params.get("show") == "yes"
        return file_response(await desk.store.file(review.run_id, name), inline=inline)

    async def action(self, visit: Visit) -> Response:
        desk, review_id = _place(visit)
        action = visit.request.path_params["action"]
        try:
            form = await bring_files(desk, review_id, visit)
            review = await act(desk, action, review_id, form, visit.name)
        except Conflict as error:
            current = await desk.store.review(review_id)
            problem = str(error)
            if current.state is not ReviewState.OPEN and action in list(Decision):
                problem = decided_words(current, time.time())
            return await self._review(visit, problem, 409)
        if action == "keep":
            return Response(status_code=204, headers=_HEADERS)
        return RedirectResponse(await self._after(visit, review, action), 303)

    async def _after(self, visit: Visit, review: Review, action: str) -> str:
        """Where to go next: the following review, or the same one where nothing was decided."""
        chosen = Filter.of(visit.request.query_params, visit.desks)
        here = f"{HOME}{review.desk}/{review.id}"
        if action in _STAYS or (action == "undo" and review.state is ReviewState.OPEN):
            return here + chosen.query()
        done = {"done": f"{review.desk}/{review.id}", "how": action}
        _, after = await neighbours(visit, chosen, review)
        return (HOME if after is None else path_of(after.review)) + chosen.query(**done)

    async def _frame(self, visit: Visit, chosen: Filter) -> dict[str, Any]:
        """What every page shows: who looks at which part of the queue, what was just done, and
        what keeps a desk from working."""
        stops = {name: await desk.store.stopped() for name, desk in sorted(visit.desks.items())}
        away = {name: await desk.store.models_away() for name, desk in visit.desks.items()}
        return {
            "me": visit.name,
            "csrf": visit.session.csrf,
            "chosen": chosen,
            "desks": sorted(visit.desks),
            "stops": {name: stop for name, stop in stops.items() if stop is not None},
            "away": away,
            "done": await self._done(visit),
        }

    async def _done(self, visit: Visit) -> dict[str, Any] | None:
        """What became of the review that was just decided, read from the store.

        The address only names it: anybody can write an address.
        """
        name, _, review_id = visit.request.query_params.get("done", "").partition("/")
        if name not in visit.desks:
            return None
        store = visit.desks[name].store
        try:
            review = await store.review(review_id[:200])
        except NotFound:
            return None
        of_run = await store.find_reviews(ReviewFilter(run_id=review.run_id))
        leaving = [other for other in of_run if other.leaves_by_itself]
        until = leaving_until(leaving[-1]) if leaving else None
        message = await store.message(review.run_id)
        return {
            "review": review,
            "words": _done_words(review, visit.request.query_params.get("how", "")),
            "subject": "" if message is None else message.subject,
            "until": until,
        }

    def _html(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(values), status, _HEADERS)


def _done_words(review: Review, how: str) -> str:
    if review.decision is not None:
        return "snoozed" if how == "snooze" else DECIDED[review.decision]
    if review.signed_by is not None and how == Decision.APPROVE:
        return "approved, and waits for a second person"
    return "snoozed" if review.snoozed_until is not None else "back in the queue"


def _place(visit: Visit) -> tuple[ServedDesk, str]:
    params: Mapping[str, str] = visit.request.path_params
    return visit.desk(params["desk"]), params["review"][:200]


def _fresh() -> str:
    """A digest of our static files, part of their addresses: browsers load changed files anew."""
    files = [(HERE / "static" / name).read_bytes() for name in sorted(STATIC)]
    return sha256(b"".join(files)).hexdigest()[:12]
