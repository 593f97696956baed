"""Global search: messages, people, orders, runs and tickets of all desks of a person."""

from typing import Any

from starlette.responses import Response

from deskhand.model.ticket_state import TicketFilter
from deskhand.ports.console import ConsoleFeed, SearchHit
from deskhand.web.console.frame import Frame
from deskhand.web.console.session import Visit

PLACE = "/search/"
GROUPS = (
    ("message", "Messages", "mail"),
    ("person", "People", "user"),
    ("order", "Orders and other numbers that tools used", "box"),
    ("ticket", "Tickets", "tickets"),
    ("run", "Runs", "runs"),
)
"""What is found: its kind, as a heading, and its sign."""
FEW, MANY = 5, 30
"""Hits of a kind in the panel, and on the page."""
_LONGEST = 200
_MOST_WORDS = 8
_MOST_LEFT_OUT = 10_000
"""Changes that are not indexed yet are counted so far."""


class SearchPages:
    def __init__(self, frame: Frame, feed: ConsoleFeed) -> None:
        self._frame = frame
        self._feed = feed

    async def search(self, visit: Visit) -> Response:
        """A page of hits; a script asks for the part that it shows below the field."""
        asked = " ".join(visit.request.query_params.get("q", "").split())[:_LONGEST]
        words = asked.split()[:_MOST_WORDS]
        limit = FEW if visit.part else MANY
        hits = await self._hits(visit, words, limit) if words else []
        by_kind: dict[str, list[SearchHit]] = {kind: [] for kind, _, _ in GROUPS}
        for hit in hits:
            by_kind[hit.kind].append(hit)
        groups = [(heading, sign, by_kind[kind]) for kind, heading, sign in GROUPS]
        values: dict[str, Any] = {
            "groups": groups,
            "asked": asked,
            "count": len(hits),
            "limit": limit,
            "left_out": await self._feed.not_searchable(sorted(visit.desks), _MOST_LEFT_OUT),
        }
        values["paths"] = {hit: _path(hit) for hit in hits}
        if visit.part:
            return self._frame.html(visit.request, "_found.html", **values)
        around = await self._frame.around(visit, "search")
        return self._frame.html(visit.request, "search.html", **around, **values)

    async def _hits(self, visit: Visit, words: list[str], limit: int) -> list[SearchHit]:
        hits = list(await self._feed.search(sorted(visit.desks), words, limit))
        for name, desk in visit.desks.items():
            wanted = TicketFilter(search=" ".join(words))
            for ticket in await desk.tickets.store.find(wanted, limit=limit):
                detail = f"{ticket.id} · {ticket.state}"
                hits.append(
                    SearchHit("ticket", name, ticket.id, ticket.subject, detail, ticket.changed_at)
                )
        return hits


def _path(hit: SearchHit) -> str:
    """Where a hit leads: messages to their thread, tickets to their page, numbers to the run."""
    if hit.kind == "person":
        return f"{PLACE}?q={hit.reference}"
    screen = {"message": "messages", "ticket": "tickets"}.get(hit.kind, "runs")
    return f"/{screen}/{hit.desk}/{hit.reference}"
