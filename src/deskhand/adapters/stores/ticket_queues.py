"""Tickets as people work them: by deadline, with their newest message, in saved views."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.rows import STEP_COLUMNS, step_of
from deskhand.adapters.stores.ticket_reviews import order_reviews
from deskhand.adapters.stores.ticket_rows import ticket_of, write_deadline
from deskhand.adapters.stores.ticket_take_up import waits_for_person
from deskhand.errors import Conflict, NotFound
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.model.ticket import NewestMessage, Ticket, TicketEventKind, TicketView
from deskhand.model.ticket_state import Rating, TicketFilter, TicketState
from deskhand.ports.tickets import TicketDeadline

NEVER = 1e18
"""Stands for the deadline of a ticket that has none, in the order of a list."""
_LEFT = (RunStatus.SENT, RunStatus.ANSWERED, RunStatus.WAITING_USER)
"""An answer of such a run is with the customer."""
_WAITED_FOR = tuple(state for state in TicketState if state.is_waited_for)
MOST_VIEWS = 50
_PORTION = 50
"""Runs that are read in one go."""
_OVER = (TicketState.SOLVED, TicketState.CLOSED)
_THUMBS = {"chat.thumb_up": "up", "chat.thumb_down": "down"}


def by_deadline(query: sa.Select[Any], after: tuple[float, str] | None) -> sa.Select[Any]:
    """What is due first stands first; `after` is the deadline and id of the last one before."""
    here = t.tickets.c
    due = sa.func.coalesce(here.due_at, NEVER)
    if after is not None:
        at, ticket_id = after
        same_time = sa.and_(due == at, here.id > ticket_id)
        query = query.where(sa.or_(due > at, same_time))
    return query.order_by(due, here.id)


def narrowed(query: sa.Select[Any], wanted: TicketFilter) -> sa.Select[Any]:
    """Only tickets this urgent, about this, due or opened in this time."""
    here = t.tickets.c
    for column, value in ((here.urgency, wanted.urgency), (here.category, wanted.category)):
        if value is not None:
            query = query.where(column == value if value else column.is_(None))
    if wanted.due_before is not None:
        query = query.where(here.due_at < wanted.due_before)
    if wanted.opened_after is not None:
        query = query.where(here.opened_at > wanted.opened_after)
    if wanted.changed_after is not None:
        query = query.where(here.changed_at > wanted.changed_after)
    if wanted.quiet_since is not None:
        is_due = sa.func.coalesce(here.due_at, 0.0) > wanted.quiet_since
        query = query.where(here.changed_at < wanted.quiet_since, ~is_due)
    return query


class TicketQueues:
    """What one desk's screens and clocks ask of its tickets."""

    def __init__(self, database: CoreDatabase, desk: str) -> None:
        self.desk = desk
        self._database = database

    async def newest_messages(self, ticket_ids: Sequence[str]) -> dict[str, NewestMessage]:
        """The newest message of each ticket; none for one whose messages are erased."""
        links = t.ticket_messages.c
        mine = (links.desk == self.desk, links.ticket.in_(ticket_ids))
        newest = (
            sa.select(links.ticket, sa.func.max(links.run).label("run"))
            .where(*mine)
            .group_by(links.ticket)
            .subquery()
        )
        query = (
            sa.select(newest.c.ticket, t.runs.c.id, t.runs.c.status, t.messages.c.body)
            .join(t.runs, t.runs.c.position == newest.c.run)
            .join(t.messages, t.messages.c.run == newest.c.run)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        newest_by_ticket: dict[str, NewestMessage] = {}
        for row in rows:
            message = None if row.body is None else Message.model_validate_json(row.body)
            newest_by_ticket[row.ticket] = NewestMessage(row.id, RunStatus(row.status), message)
        return newest_by_ticket

    async def facets(self) -> dict[str, list[str]]:
        """What tickets can be chosen by: the groups, assignees and categories there are."""
        here = t.tickets.c
        columns = {"groups": here.group, "assignees": here.assignee, "categories": here.category}

        def op(core: sa.Connection) -> dict[str, list[str]]:
            facets: dict[str, list[str]] = {}
            for name, column in columns.items():
                query = sa.select(column).where(here.desk == self.desk, column.is_not(None))
                facets[name] = list(core.execute(query.distinct().order_by(column)).scalars())
            return facets

        return await self._database.read_core(op)

    async def waits_for_person(self, runs: Sequence[str]) -> bool:
        return await self._database.read_core(lambda core: waits_for_person(core, self.desk, runs))

    # --- deadlines

    async def answers_left(
        self, runs: Sequence[str] | None = None, *, limit: int = 500
    ) -> list[tuple[str, str, RunStatus, float]]:
        """Ticket, run, status and time of answers that no event of their ticket tells yet."""
        links, events = t.ticket_messages.c, t.ticket_events.c
        is_told = sa.exists().where(
            events.run == links.run, events.kind == TicketEventKind.ANSWERED
        )
        query = (
            sa.select(links.ticket, t.runs.c.id, t.runs.c.status, t.runs.c.updated_at)
            .join(t.runs, t.runs.c.position == links.run)
            .where(links.desk == self.desk, t.runs.c.status.in_(_LEFT), ~is_told)
            .order_by(links.run)
            .limit(limit)
        )
        if runs is not None:
            query = query.where(t.runs.c.id.in_(runs))
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [(row.ticket, row.id, RunStatus(row.status), row.updated_at) for row in rows]

    async def last_answered(self, runs: Sequence[str]) -> tuple[str, float] | None:
        """Of these runs, the one whose answer left last by the tickets' events, and when."""
        events = t.ticket_events.c
        query = (
            sa.select(t.runs.c.id, events.at)
            .join(t.runs, t.runs.c.position == events.run)
            .where(events.desk == self.desk, events.kind == TicketEventKind.ANSWERED)
            .where(t.runs.c.id.in_(runs))
            .order_by(events.at.desc(), events.run.desc())
            .limit(1)
        )
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        return None if row is None else (row.id, row.at)

    async def reply_of(self, run_id: str) -> str:
        """The last text that left to the customer in a run; empty where there is none any more."""
        return (await self.replies_of([run_id])).get(run_id, "")

    async def replies_of(self, runs: Sequence[str]) -> dict[str, str]:
        """The last text that left to the customer in each of these runs, where one did."""
        from deskhand.engine.conversation_memory import last_reply_of

        about = (
            sa.select(t.runs.c.id, t.runs.c.status, t.runs.c.position, t.messages.c.body)
            .join(t.messages, t.messages.c.run == t.runs.c.position)
            .where(t.runs.c.desk == self.desk, t.messages.c.body.is_not(None))
        )

        def op(core: sa.Connection, some: Sequence[str]) -> dict[str, str]:
            portion: dict[str, str] = {}
            for run in core.execute(about.where(t.runs.c.id.in_(some))).all():
                steps = sa.select(*STEP_COLUMNS).where(t.steps.c.run == run.position)
                rows = core.execute(steps.order_by(t.steps.c.seq)).all()
                written = [step_of(run.id, row) for row in rows]
                message = Message.model_validate_json(run.body)
                portion[run.id] = last_reply_of(RunStatus(run.status), message, written)
            return portion

        replies: dict[str, str] = {}
        for begin in range(0, len(runs), _PORTION):
            some = runs[begin : begin + _PORTION]
            replies |= await self._database.read_core(partial(op, some=some))
        return {run: text for run, text in replies.items() if text}

    async def untimed(self, *, limit: int = 500) -> list[Ticket]:
        """Tickets that changed since their deadline was counted."""
        here = t.tickets.c
        stale = sa.or_(here.timed.is_(None), here.timed != here.number)
        mine = (here.desk == self.desk, here.state.in_(_WAITED_FOR))
        query = sa.select(t.tickets).where(*mine, stale).limit(limit)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [ticket_of(row) for row in rows]

    async def forget_deadlines(self) -> None:
        """Have all deadlines counted again: the rules may have changed."""
        here = t.tickets.c
        mine = (here.desk == self.desk, here.state.in_(_WAITED_FOR))
        statement = t.tickets.update().where(*mine, here.timed.is_not(None)).values(timed=None)
        await self._database.write_core(lambda core: core.execute(statement).close())

    async def keep_deadline(self, ticket: Ticket, deadline: TicketDeadline | None) -> bool:
        return await self._database.write_core(
            lambda core: write_deadline(core, self.desk, ticket, deadline)
        )

    async def near_deadlines(self, now: float, *, limit: int = 500) -> list[Ticket]:
        """Tickets that are late or soon will be, whatever was told of it."""
        here = t.tickets.c
        mine = (here.desk == self.desk, here.state.in_(_WAITED_FOR), here.warn_at <= now)
        query = sa.select(t.tickets).where(*mine).order_by(here.due_at).limit(limit)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [ticket_of(row) for row in rows]

    async def order_reviews(self, runs: Sequence[str] | None = None) -> int:
        return await self._database.write_core(lambda core: order_reviews(core, self.desk, runs))

    # --- how it was

    async def to_survey(
        self, solved_before: float, solved_after: float, *, limit: int = 50
    ) -> list[Ticket]:
        """Solved tickets whose customers were never asked how it was."""
        here = t.tickets.c
        mine = (here.desk == self.desk, here.state == TicketState.SOLVED)
        when = (here.changed_at > solved_after, here.solved_at.between(solved_after, solved_before))
        query = sa.select(t.tickets).where(*mine, *when, here.surveyed_at.is_(None)).limit(limit)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [ticket_of(row) for row in rows]

    async def thumbs(self, since: float, *, limit: int = 500) -> list[tuple[str, str, float]]:
        """Tickets that are over and were not rated, with what a visitor of a chat thought of an
        answer in them: `up` or `down`, and when."""
        said, links, here = t.events.c, t.ticket_messages.c, t.tickets.c
        query = (
            sa.select(links.ticket, said.kind, said.at)
            .join(t.runs, t.runs.c.id == said.run_id)
            .join(t.ticket_messages, links.run == t.runs.c.position)
            .join(t.tickets, sa.and_(here.desk == links.desk, here.id == links.ticket))
            .where(said.desk == self.desk, said.at > since, links.desk == self.desk)
            .where(said.kind.in_(_THUMBS), here.state.in_(_OVER), here.rating.is_(None))
            .order_by(said.at)
            .limit(limit)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [(row.ticket, _THUMBS[row.kind], row.at) for row in rows]

    async def satisfaction(self) -> dict[str, int]:
        """How many were asked, and how many said what."""
        here = t.tickets.c
        query = (
            sa.select(here.rating, sa.func.count())
            .where(here.desk == self.desk)
            .where(sa.or_(here.surveyed_at.is_not(None), here.rating.is_not(None)))
            .group_by(here.rating)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        counts = {rating or "none": count for rating, count in rows}
        return {
            "asked": sum(counts.values()),
            **{rating.value: counts.get(rating.value, 0) for rating in Rating},
        }

    # --- saved views

    async def views(self) -> list[TicketView]:
        here = t.ticket_views.c
        query = sa.select(t.ticket_views).where(here.desk == self.desk).order_by(here.made_at)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [TicketView(row.name, row.query, row.made_by, row.made_at) for row in rows]

    async def save_view(self, name: str, query: str, by: str) -> TicketView:
        """Keep a view under its name, in place of one that has it; Conflict where there are too
        many."""
        view = TicketView(name, query, by, time.time())
        values = {"query": query, "made_by": by, "made_at": view.made_at}

        def op(core: sa.Connection) -> TicketView:
            here = t.ticket_views.c
            mine = (here.desk == self.desk, here.name == name)
            if core.execute(t.ticket_views.update().where(*mine).values(**values)).rowcount:
                return view
            counted = sa.select(sa.func.count()).where(here.desk == self.desk)
            if core.execute(counted).scalar_one() >= MOST_VIEWS:
                raise Conflict(f"there are {MOST_VIEWS} views already; remove one first")
            core.execute(t.ticket_views.insert().values(desk=self.desk, name=name, **values))
            return view

        return await self._database.write_core(op)

    async def remove_view(self, name: str) -> None:
        here = t.ticket_views.c
        gone = t.ticket_views.delete().where(here.desk == self.desk, here.name == name)

        def op(core: sa.Connection) -> None:
            if core.execute(gone).rowcount == 0:
                raise NotFound(f"there is no view {name!r}")

        await self._database.write_core(op)
