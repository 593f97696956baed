"""Webhooks: which addresses are told of what, and what became of each delivery."""

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.access import ANY_DESK
from deskhand.model.webhook import CHOSEN, Attempt, Endpoint, WebhookEvent
from deskhand.ports.webhooks import TriesWebhook, Webhooks
from deskhand.web.api.problems import Refused
from deskhand.web.console.frame import Frame
from deskhand.web.console.session import Visit

PLACE = "/desk/webhooks"
_EVENT = "event:"
_SHOWN = 100
MEANINGS = {
    WebhookEvent.RUN_ENDED: "a message has been worked to its end",
    WebhookEvent.RUN_ANSWERED: "a reply has left",
    WebhookEvent.REVIEW_OPENED: "something began to wait for a person",
    WebhookEvent.REVIEW_CLOSED: "it was decided, or waits no more",
    WebhookEvent.HANDED_OVER: "a person must answer",
    WebhookEvent.SLA_WARNING: "a ticket's deadline is near",
    WebhookEvent.SLA_BREACHED: "a ticket's deadline has passed",
}
"""What each event says, in a line."""


class WebhookPages:
    def __init__(self, frame: Frame, webhooks: Webhooks | None, trial: TriesWebhook | None) -> None:
        self._frame = frame
        self._webhooks = webhooks
        self._trial = trial

    def _store(self) -> Webhooks:
        if self._webhooks is None:
            raise Refused(404, "this server keeps no webhooks")
        return self._webhooks

    async def webhooks(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def _page(
        self, visit: Visit, status: int = 200, *, problem: str = "", secret: str = ""
    ) -> Response:
        listed = [each for each in await self._store().list() if is_seen(visit, each)]
        return self._frame.html(
            visit.request,
            "webhooks.html",
            status,
            **await self._frame.around(visit, "desk"),
            tab="webhooks",
            desk=None,
            endpoints=listed,
            events=CHOSEN,
            meanings=MEANINGS,
            typed=visit.form,
            usual_desks=" ".join(visit.session.user.desks),
            problem=problem,
            secret=secret,
        )

    async def add(self, visit: Visit) -> Response:
        """A new address; its secret is on the answer and nowhere else."""
        form = visit.form
        events = [name.removeprefix(_EVENT) for name in form if name.startswith(_EVENT)]
        desks = form.get("desks", "").replace(",", " ").split()
        foreign = [desk for desk in desks if not visit.session.user.touches(desk)]
        if foreign:
            return await self._page(visit, 409, problem=f"you may not touch {foreign[0]}")
        try:
            _, secret = await self._store().add(
                form.get("url", ""), events, desks, visit.name, content="content" in form
            )
        except ConfigError as error:
            return await self._page(visit, 409, problem=str(error))
        return await self._page(visit, secret=secret)

    async def webhook(self, visit: Visit) -> Response:
        return await self._log(visit, await self._endpoint(visit))

    async def _log(
        self,
        visit: Visit,
        endpoint: Endpoint,
        *,
        secret: str = "",
        attempt: Attempt | None = None,
    ) -> Response:
        store = self._store()
        before = visit.request.query_params.get("before", "")
        since = float(before) if before.replace(".", "", 1).isdecimal() else None
        rows = list(await store.deliveries(endpoint.id, limit=_SHOWN + 1, before=since))
        more = rows[_SHOWN - 1].created_at if len(rows) > _SHOWN else None
        return self._frame.html(
            visit.request,
            "webhook.html",
            **await self._frame.around(visit, "desk"),
            tab="webhooks",
            desk=None,
            endpoint=endpoint,
            deliveries=rows[:_SHOWN],
            more=more,
            problem=visit.request.query_params.get("problem", "")[:300],
            secret=secret,
            attempt=attempt,
        )

    async def act(self, visit: Visit) -> Response:
        """Exchange the secret, switch it off or on, remove it, or send something."""
        endpoint = await self._endpoint(visit)
        action = visit.request.path_params["action"]
        here = f"{PLACE}/{quote(endpoint.id)}"
        try:
            if action == "rotate":
                endpoint, secret = await self._store().rotate(endpoint.id)
                return await self._log(visit, endpoint, secret=secret)
            if action == "test":
                attempt = await self._try(visit, endpoint)
                return await self._log(visit, endpoint, attempt=attempt)
            await self._change(visit, endpoint, action)
        except (ConfigError, Conflict) as error:
            return RedirectResponse(f"{here}?problem={quote(str(error))}", 303)
        return RedirectResponse(PLACE if action == "remove" else here, 303)

    async def _change(self, visit: Visit, endpoint: Endpoint, action: str) -> None:
        store = self._store()
        if action == "disable":
            await store.disable(endpoint.id)
        elif action == "enable":
            await store.enable(endpoint.id)
        elif action == "remove":
            await store.remove(endpoint.id)
        elif action == "retry":
            await store.retry(endpoint.id, visit.form.get("event", ""))
        else:
            raise Refused(404, f"there is no action {action!r}")

    async def _try(self, visit: Visit, endpoint: Endpoint) -> Attempt:
        desks = [name for name in sorted(visit.desks) if endpoint.touches(name)]
        if self._trial is None or not desks:
            raise Conflict("no desk is served here of which this address is told")
        return await self._trial(endpoint.id, desks[0])

    async def _endpoint(self, visit: Visit) -> Endpoint:
        endpoint = await self._store().find(visit.request.path_params["webhook"])
        if not is_seen(visit, endpoint):
            raise NotFound(f"there is no webhook {endpoint.id}")
        return endpoint


def is_seen(visit: Visit, endpoint: Endpoint) -> bool:
    """An admin of some desks sees only what is told of those."""
    user = visit.session.user
    return ANY_DESK in user.desks or all(user.touches(desk) for desk in endpoint.desks)
