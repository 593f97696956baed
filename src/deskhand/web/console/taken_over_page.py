"""Conversations that people took over: to look at, and to give back to the desk."""

import time
from dataclasses import dataclass

from deskhand.errors import NotFound
from deskhand.model.queue import TakenOver
from deskhand.web.console.labels import age
from deskhand.web.console.session import HOME, Visit

PLACE = f"{HOME}taken-over"


@dataclass(frozen=True, slots=True)
class TakenOverRow:
    """One conversation as the page lists it."""

    desk: str
    taken: TakenOver
    age: str


async def read_taken_over(visit: Visit) -> list[TakenOverRow]:
    """All of them on the desks of this person, the latest first."""
    now = time.time()
    rows: list[TakenOverRow] = []
    of_desks = await visit.of_each_desk(lambda desk: desk.store.taken_over())
    for name, all_taken in of_desks.items():
        rows += [TakenOverRow(name, taken, age(now - taken.at)) for taken in all_taken]
    return sorted(rows, key=lambda row: row.taken.at, reverse=True)


async def give_back(visit: Visit) -> None:
    """Let the desk answer again; NotFound where nobody has the conversation."""
    desk = visit.desk(visit.form.get("desk", ""))
    conversation = visit.form.get("conversation", "")[:1000]
    if not await desk.store.give_back(conversation, visit.name):
        raise NotFound("nobody has this conversation any more; the desk answers in it")
