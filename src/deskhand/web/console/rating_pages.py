"""The one page that customers see: whether they are content with how a ticket was handled.

A link in a mail leads here. Looking changes nothing, since programs follow links in mails too;
pressing a button does, once.
"""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from deskhand.errors import Conflict, NotFound
from deskhand.model.ticket_state import Rating
from deskhand.tickets.satisfaction import rate, words_for
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.forms import read_form
from deskhand.web.console.frame import Frame
from deskhand.web.console.session import check_origin

RATE = "/rate/{desk}/{ticket}/{secret}"
_LONGEST = 200


class RatingPages:
    def __init__(self, frame: Frame, desks: Mapping[str, ServedDesk]) -> None:
        self._frame, self._desks = frame, desks

    async def rate(self, request: Request) -> Response:
        given = {name: value[:_LONGEST] for name, value in request.path_params.items()}
        desk = self._desks.get(given["desk"])
        rating = await _rating_in(request)
        try:
            if desk is None:
                raise NotFound("there is no such desk")
            ticket = await rate(desk.tickets, given["ticket"], given["secret"], rating)
        except (Conflict, NotFound):
            raise NotFound("this link leads nowhere") from None
        return self._frame.html(
            request, "rate.html", words=words_for(ticket.language), is_rated=ticket.rating
        )


async def _rating_in(request: Request) -> Rating | None:
    if request.method != "POST":
        return None
    check_origin(request)
    said = (await read_form(request)).get("rating", "")
    return Rating(said) if said in list(Rating) else None
