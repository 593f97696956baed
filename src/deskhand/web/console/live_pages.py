"""The stream of live events that every open page of the console follows."""

from starlette.responses import JSONResponse, Response, StreamingResponse

from deskhand.errors import NotFound
from deskhand.model.ids import new_id
from deskhand.ports.console import Place
from deskhand.web.console.frame import HEADERS, count_waiting
from deskhand.web.console.live import LiveHub, OpenPage
from deskhand.web.console.session import Visit

_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class LivePages:
    def __init__(self, hub: LiveHub) -> None:
        self._hub = hub

    async def stream(self, visit: Visit) -> Response:
        """Events for one window, which may look at something: `?at=review/shop/rev_1`.

        `after` is the newest change that its page knows: what has happened since is told first.
        """
        asked = visit.request.query_params
        place = await read_place(visit, asked.get("at", ""))
        after = visit.request.headers.get("last-event-id") or asked.get("after", "")
        last_change = int(after[:18]) if after.isascii() and after.isdecimal() else None
        window = OpenPage(new_id("win"), visit.name, frozenset(visit.desks), place, last_change)
        return StreamingResponse(
            self._hub.events(window),
            media_type="text/event-stream",
            headers={**HEADERS, **_UNBUFFERED},
        )

    async def waiting(self, visit: Visit) -> Response:
        """How many reviews wait on all desks of this person."""
        waiting = sum((await count_waiting(visit)).values())
        return JSONResponse({"waiting": waiting}, headers={**HEADERS, **_UNBUFFERED})


async def read_place(visit: Visit, written: str) -> Place | None:
    """What a window looks at, as its page names it; NotFound where there is no such thing.

    A conversation is named by one of its runs: its own name may be anything.
    """
    if not written:
        return None
    kind, _, rest = written.partition("/")
    name, _, reference = rest.partition("/")
    store = visit.desk(name).store
    if kind == "review":
        return Place(name, "review", (await store.review(reference[:200])).id)
    run = await store.run(reference[:200])
    if kind == "run":
        return Place(name, "run", run.id)
    if kind == "conversation":
        return Place(name, "conversation", run.conversation)
    raise NotFound("there is nothing of this kind to look at")
