"""Several reviews put off, or brought back, at once: nothing else is done with many unseen."""

import time
from collections.abc import Mapping

from starlette.responses import RedirectResponse, Response

from deskhand.errors import Conflict, NotFound
from deskhand.web.api.problems import Refused
from deskhand.web.console.notices import CHOSEN, with_notice
from deskhand.web.console.queue_page import PAGE, Filter
from deskhand.web.console.session import HOME, Visit

PLACE = f"{HOME}snooze"


async def snooze_many(visit: Visit) -> Response:
    """Put off what was chosen; whatever somebody decided meanwhile is left as it is."""
    chosen = Filter.of(visit.request.query_params, visit.desks)
    until = _moment(visit.form)
    done: list[str] = []
    for name in _chosen(visit.form):
        desk, _, review_id = name.partition("/")
        try:
            await visit.desk(desk).store.snooze(review_id[:200], visit.name, until)
        except Conflict:
            continue
        done.append(name)
    said = "snoozed" if until else "back"
    return RedirectResponse(with_notice(HOME + chosen.query(), said, ",".join(done)), 303)


def _chosen(form: Mapping[str, str]) -> list[str]:
    """The reviews that were ticked, each as DESK/ID."""
    chosen = [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]
    if not chosen:
        raise NotFound("no review was chosen")
    return chosen[:PAGE]


def _moment(form: Mapping[str, str]) -> float | None:
    written = form.get("until", "")
    if not written:
        return None
    if not (written.isascii() and written.isdigit() and len(written) < 12):
        raise Refused(422, "say until when")
    until = float(written)
    return until if until > time.time() else None
