"""Tickets: the list with its views, one ticket, and what people do with them."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from deskhand.errors import Conflict, NotFound
from deskhand.model.ticket import Ticket, TicketEvent, TicketEventKind, TicketMessage
from deskhand.model.ticket_state import AskStatus, TicketFilter, UrgencyLevel
from deskhand.tickets.asks import open_asks
from deskhand.tickets.choices import (
    NOBODY,
    TicketChoice,
    built_in_views,
    forgotten,
    read_choice,
    saved_choice,
    wanted_by,
)
from deskhand.tickets.handling import open_ticket
from deskhand.tickets.rules import last_undoable
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.cursors import review_place, ticket_cursor
from deskhand.web.api.problems import Refused
from deskhand.web.console.frame import Frame
from deskhand.web.console.notices import with_notice
from deskhand.web.console.runs_pages import STATUSES
from deskhand.web.console.session import Visit
from deskhand.web.console.thread import Entry, read_replies
from deskhand.web.console.ticket_actions import act_on, act_on_many
from deskhand.web.console.ticket_list import (
    COLUMNS,
    PAGE,
    PLACE,
    STATES,
    TARGETS,
    URGENCIES,
    VIEWS,
    deadline_of,
    hidden_columns,
    row_of,
    status_of,
)
from deskhand.web.console.translation import Phrase

_LONGEST_VIEW = 60
_NOTICED = {
    "merge": "joined",
    "split": "split",
    "undo": "undone",
    "solve": "solved",
    "close": "closed",
    "reopen": "reopened",
}
"""Actions that the next page says were done."""


class TicketPages:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def tickets(self, visit: Visit) -> Response:
        """One desk's tickets: those of a view, narrowed by filters."""
        params = visit.request.query_params
        choice = read_choice(params)
        desk = await _chosen_desk(visit, choice.desk)
        if desk is None:
            return self._frame.html(
                visit.request,
                "failed.html",
                404,
                detail="there is no desk that you may see",
            )
        now = time.time()
        store = desk.tickets.store
        wanted, order = wanted_by(choice, visit.name, now, quiet_seconds(desk))
        tickets = await store.find(
            wanted, limit=PAGE + 1, after=review_place(params.get("after")), order=order
        )
        shown = tickets[:PAGE]
        newest = await store.newest_messages([ticket.id for ticket in shown])
        more = ticket_cursor(shown[-1], order) if len(tickets) > PAGE else None
        problem = params.get("problem", "")[:300]
        return self._frame.html(
            visit.request,
            "tickets.html",
            **await self._frame.around(visit, "tickets"),
            **await _choices(visit, desk, choice, now),
            rows=[row_of(ticket, newest.get(ticket.id), now) for ticket in shown],
            total=await store.count(wanted),
            more=more,
            begun="after" in params,
            order=order,
            columns=COLUMNS,
            hidden=hidden_columns(visit.request.cookies),
            problem=problem,
        )

    async def ticket(self, visit: Visit) -> Response:
        desk, ticket = await _place(visit)
        if ticket.merged_into and "stay" not in visit.request.query_params:
            return RedirectResponse(f"{PLACE}{desk.spec.name}/{ticket.merged_into}", 303)
        now = time.time()
        store = desk.tickets.store
        events = await store.events(ticket.id)
        newest = await store.newest_messages([ticket.id])
        others = await store.find(TicketFilter(customer=ticket.customer), limit=20)
        messages = await store.timeline(ticket.id)
        replies = await read_replies(desk, [message.run for message in messages])
        rules = desk.tickets.deadlines
        running = [] if rules is None else rules.running(ticket)
        clocks = [
            deadline_of(ticket.changed(due_at=deadline.at, due_for=deadline.target), now)
            for deadline in running
        ]
        others = [other for other in others if other.id != ticket.id and not other.merged_into]
        return self._frame.html(
            visit.request,
            "ticket.html",
            **await self._frame.around(visit, "tickets"),
            desk=desk.spec.name,
            ticket=ticket,
            status=status_of(ticket, newest.get(ticket.id)),
            talk=_talk(messages, events, replies),
            reasons=_reasons(events),
            clocks=list(filter(None, clocks)),
            others=others,
            can_undo=last_undoable(events) is not None,
            urgencies=URGENCIES,
            targets=TARGETS,
            states=STATES,
            statuses=[status.value for status in AskStatus],
            run_statuses=STATUSES,
            open_asks=open_asks(ticket),
            macros=sorted(desk.spec.tickets.macros),
            problem=visit.request.query_params.get("problem", "")[:300],
        )

    async def act(self, visit: Visit) -> Response:
        """Do something with one ticket; its page says why where that cannot be."""
        desk, ticket = await _place(visit)
        place = f"{PLACE}{desk.spec.name}/{ticket.id}"
        try:
            changed = await act_on(desk, visit.request.path_params["action"], ticket.id, visit)
        except (Conflict, NotFound) as error:
            return RedirectResponse(f"{place}?problem={quote(str(error))}", 303)
        of = f"{desk.spec.name}/{changed.id}"
        said = _NOTICED.get(visit.request.path_params["action"])
        return RedirectResponse(with_notice(PLACE + of, said, of) if said else PLACE + of, 303)

    async def bulk(self, visit: Visit) -> Response:
        """Do something with all tickets that were chosen; the list says what could not be."""
        desk = visit.desk(visit.request.path_params["desk"])
        choice = read_choice(visit.request.query_params)
        back = f"{PLACE}{choice.query(desk=desk.spec.name)}"
        try:
            done = await act_on_many(desk, visit)
        except (Conflict, NotFound) as error:
            return RedirectResponse(_with_problem(back, str(error)), 303)
        failed = [f"{ticket}: {why}" for ticket, why in done.failed.items()]
        back = _with_problem(back, "; ".join(failed))
        of = [f"{desk.spec.name}/{ticket.id}" for ticket in done.changed]
        is_one_join = visit.form.get("do") == "merge" and len(of) == 1
        said = "joined" if is_one_join else "changed"
        return RedirectResponse(with_notice(back, said, ",".join(of)) if of else back, 303)

    async def open_new(self, visit: Visit) -> Response:
        """Open a ticket for a customer who said something elsewhere, and show it."""
        desk = visit.desk(visit.request.path_params["desk"])
        form = visit.form
        level = form.get("urgency", "")
        try:
            ticket = await open_ticket(
                desk.tickets,
                form.get("customer", ""),
                form.get("subject", ""),
                visit.name,
                urgency=UrgencyLevel(level) if level in list(UrgencyLevel) else None,
                note=form.get("note", ""),
            )
        except Conflict as error:
            back = f"{PLACE}?desk={desk.spec.name}"
            return RedirectResponse(_with_problem(back, str(error)), 303)
        return RedirectResponse(f"{PLACE}{desk.spec.name}/{ticket.id}", 303)

    async def views(self, visit: Visit) -> Response:
        """Keep the filters as a view, or remove one."""
        desk = visit.desk(visit.request.path_params["desk"])
        name = visit.form.get("name", "").strip()[:_LONGEST_VIEW]
        if not name:
            raise Refused(422, "give the view a name")
        if visit.form.get("do") == "remove":
            await desk.tickets.store.remove_view(name)
            return RedirectResponse(f"{PLACE}?desk={desk.spec.name}", 303)
        choice = read_choice(visit.request.query_params)
        kept = choice.query(desk="").removeprefix("?")
        view = await desk.tickets.store.save_view(name, kept, visit.name)
        return RedirectResponse(PLACE + saved_choice(view, desk.spec.name).query(), 303)


def quiet_seconds(desk: ServedDesk) -> float:
    """How long nobody may touch a ticket of the desk before it comes up again."""
    return desk.spec.tickets.forgotten_seconds


async def forgotten_tickets(visit: Visit) -> list[tuple[str, int]]:
    """How many tickets of each desk nobody has touched for long; desks without any are left
    out."""
    now = time.time()
    counts = await visit.of_each_desk(
        lambda desk: desk.tickets.store.count(forgotten(now, quiet_seconds(desk)))
    )
    return [(name, counts[name]) for name in sorted(counts) if counts[name]]


def _with_problem(back: str, problem: str) -> str:
    if not problem:
        return back
    mark = "&" if "?" in back else "?"
    return f"{back}{mark}problem={quote(problem[:300])}"


async def _chosen_desk(visit: Visit, named: str) -> ServedDesk | None:
    """The desk that was named, else the first that has tickets."""
    if named:
        return visit.desk(named)
    names = sorted(visit.desks)
    for name in names:
        if await visit.desks[name].tickets.store.find(TicketFilter(), limit=1):
            return visit.desks[name]
    return visit.desks[names[0]] if names else None


async def _choices(
    visit: Visit, desk: ServedDesk, choice: TicketChoice, now: float
) -> dict[str, Any]:
    """What can be chosen on the list: views with how many there are in each, and filters."""
    store = desk.tickets.store
    tabs: list[dict[str, Any]] = []
    own = TicketChoice(desk=desk.spec.name)
    quiet = quiet_seconds(desk)
    for name, (wanted, _) in built_in_views(visit.name, now, quiet).items():
        path = TicketChoice(view=name, desk=desk.spec.name).query()
        count = await store.count(wanted)
        tabs.append({"name": name, "words": VIEWS[name], "path": path, "n": count})
    for view in await store.views():
        kept = saved_choice(view, desk.spec.name)
        wanted, _ = wanted_by(kept, visit.name, now, quiet)
        tabs.append(
            {
                "name": kept.view,
                "words": view.name,
                "saved": view.name,
                "path": kept.query(),
                "n": await store.count(wanted),
            }
        )
    return {
        "tabs": tabs,
        "choice": choice,
        "desk": desk.spec.name,
        "own": own,
        "facets": await store.facets(),
        "people": await _people(visit, desk),
        "macros": sorted(desk.spec.tickets.macros),
        "urgencies": URGENCIES,
        "states": STATES,
        "targets": TARGETS,
        "nobody_name": NOBODY,
        "has_rules": bool(desk.spec.tickets.sla),
    }


async def _people(visit: Visit, desk: ServedDesk) -> list[str]:
    """Whom a ticket can be given to: who has some, and whoever looks."""
    assignees = (await desk.tickets.store.facets())["assignees"]
    return sorted({visit.name, *assignees})


async def _place(visit: Visit) -> tuple[ServedDesk, Ticket]:
    params: Mapping[str, str] = visit.request.path_params
    desk = visit.desk(params["desk"])
    return desk, await desk.tickets.find(params["ticket"][:200])


def _talk(
    messages: list[TicketMessage], events: list[TicketEvent], replies: list[Entry]
) -> list[dict[str, Any]]:
    """Messages, replies, notes and changes of a ticket in the order in which they happened."""
    lines: list[dict[str, Any]] = [
        {"kind": "message", "at": message.at, "message": message} for message in messages
    ]
    lines += [{"kind": "reply", "at": reply.at, "entry": reply} for reply in replies]
    for event in events:
        if event.kind is TicketEventKind.NOTED:
            lines.append({"kind": "note", "at": event.at, "event": event})
        elif event.kind is not TicketEventKind.JOINED:
            lines.append(
                {"kind": "event", "at": event.at, "words": words_of(event), "by": event.by}
            )
    return sorted(lines, key=lambda line: line["at"])


def words_of(event: TicketEvent) -> Phrase:
    """What an event did, in words."""
    words = {
        TicketEventKind.OPENED: Phrase("opened it"),
        TicketEventKind.STATE: Phrase("made it {state}", state=_state_words(event)),
        TicketEventKind.ASSIGNED: _assigned(event),
        TicketEventKind.TAGGED: _tagged(event),
        TicketEventKind.MERGED: Phrase("made it part of {ticket}", ticket=event.merged_into),
        TicketEventKind.ABSORBED: Phrase(
            "joined {count} messages of another ticket to it", count=len(event.added)
        ),
        TicketEventKind.SPLIT: Phrase("split {count} messages off", count=len(event.removed)),
        TicketEventKind.UNDONE: Phrase("took the last merge or split back"),
        TicketEventKind.ERASED: Phrase("erased messages of it"),
        TicketEventKind.TRIAGED: Phrase("judged it: {words}", words=_judged(event)),
        TicketEventKind.ANSWERED: Phrase("answered"),
        TicketEventKind.WARNED: Phrase("{target} is due soon", target=_target(event)),
        TicketEventKind.BREACHED: Phrase("{target} is late", target=_target(event)),
        TicketEventKind.ASKED: Phrase("read {count} asks in a message", count=len(event.asks)),
        TicketEventKind.SETTLED: _settled(event),
        TicketEventKind.SURVEYED: Phrase("asked the customer how it was"),
        TicketEventKind.RATED: Phrase("said that it was {rating}", rating=_rating(event)),
    }
    return words.get(event.kind, Phrase(event.kind.value))


def _state_words(event: TicketEvent) -> Phrase:
    return Phrase("" if event.state is None else STATES[event.state][0])


def _assigned(event: TicketEvent) -> Phrase:
    who = event.assignee or Phrase("nobody")
    group = event.group or Phrase("no group")
    if event.group is None:
        return Phrase("gave it to {who}", who=who)
    if event.assignee is None:
        return Phrase("put it into {group}", group=group)
    return Phrase("gave it to {who} and put it into {group}", who=who, group=group)


def _tagged(event: TicketEvent) -> Phrase:
    added = [f"+{tag}" for tag in event.tags_added]
    tags = [*added, *(f"-{tag}" for tag in event.tags_removed)]
    return Phrase("tagged it {tags}", tags=" ".join(tags))


def _settled(event: TicketEvent) -> Phrase:
    asks = [f"“{' '.join(ask.text.split())[:60]}” {ask.status}" for ask in event.asks[:3]]
    return Phrase("marked {asks}", asks=", ".join(asks))


def _rating(event: TicketEvent) -> Phrase:
    return Phrase("" if event.rating is None else event.rating.value)


def _judged(event: TicketEvent) -> str:
    judged = (event.urgency, event.category, event.language, event.plan)
    return ", ".join(str(value) for value in judged if value)


def _target(event: TicketEvent) -> Phrase:
    return Phrase(TARGETS.get((event.deadline or "").partition(" ")[0], "a deadline"))


def _reasons(events: list[TicketEvent]) -> list[TicketEvent]:
    """Why it is as urgent and where it is: the newest judgement first."""
    kinds = (TicketEventKind.TRIAGED, TicketEventKind.ASSIGNED, TicketEventKind.JOINED)
    judgements = [
        event for event in events if event.kind in kinds and (event.why or event.matching)
    ]
    return list(reversed(judgements))[:6]
