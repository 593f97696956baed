"""Messages that were not answered because a program wrote them: to look at, and to take back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from deskhand.errors import NotFound
from deskhand.model.message import Message
from deskhand.model.run import Run
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.labels import age
from deskhand.web.console.session import HOME, Visit

PAGE = 50
PLACE = f"{HOME}screened"
WEEK = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class ScreenedRow:
    """One message as the page lists it."""

    run: Run
    message: Message | None
    """None once it was erased."""
    age: str


async def count_screened(visit: Visit) -> int:
    """How many came within a week, on all desks of this person."""
    since = time.time() - WEEK
    counts = await visit.of_each_desk(lambda desk: desk.store.count_screened(since))
    return sum(counts.values())


async def read_screened(visit: Visit, before: int | None) -> tuple[list[ScreenedRow], int | None]:
    """A page of them, newest first, and where the next page begins; None on the last."""
    runs: list[Run] = []
    messages: dict[str, Message] = {}
    for desk in visit.desks.values():
        of_desk = await desk.store.runs(screened=True, limit=PAGE + 1, before=before)
        messages |= await desk.store.messages([run.id for run in of_desk])
        runs += of_desk
    runs.sort(key=lambda run: run.position, reverse=True)
    now = time.time()
    shown = runs[:PAGE]
    rows = [ScreenedRow(run, messages.get(run.id), age(now - run.created_at)) for run in shown]
    return rows, shown[-1].position if len(runs) > PAGE else None


def read_before(params: Mapping[str, str]) -> int | None:
    """Where a page begins; None for the first, and for what no page of ours wrote."""
    written = params.get("before", "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 19 else None


async def take_back(visit: Visit) -> Run:
    """Have the desk work a message that was screened out; raises Conflict where it was not."""
    desk: ServedDesk = visit.desk(visit.form.get("desk", ""))
    run_id = visit.form.get("run", "")[:200]
    run = await desk.store.run(run_id)
    if not run.was_screened_out:
        raise NotFound(f"run {run_id} is not screened out any more: it is {run.status}")
    taken = await desk.store.requeue(run_id, visit.name)
    desk.dispatcher.wake()
    return taken
