"""What the records of runs say about what became of their messages."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import sqlalchemy as sa
from pydantic_core import from_json

from deskhand.adapters.stores import tables as t
from deskhand.model.chats import PERSON
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import changed_by
from deskhand.model.figures import Became, Looked
from deskhand.model.judgement import RETURNED, Judged
from deskhand.model.message import DELIVER, HANDED_BACK, USUAL_CHANNEL
from deskhand.model.run import Decision, EffectState, ReviewState, RunStatus
from deskhand.model.ticket import TicketEvent, TicketEventKind
from deskhand.model.understanding import Understanding

Row = dict[str, Any]
Outputs = tuple[dict[str, Any], dict[str, Any]]
"""The outputs and the metadata of a run."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).toordinal()
_RESPONSES = ("first_response", "next_response")
_THESE: Any = sa.bindparam("these", expanding=True)
_DESK: Any = sa.bindparam("desk")
_FIRST = (
    sa.select(sa.func.min(t.runs.c.position))
    .where(
        t.runs.c.desk == _DESK,
        t.runs.c.conversation.in_(
            sa.select(t.runs.c.conversation).where(t.runs.c.position.in_(_THESE))
        ),
    )
    .group_by(t.runs.c.conversation)
)
"""Asked for every batch, so these queries are put together once."""
_RUNS = (
    sa.select(t.runs, t.messages.c.body)
    .join(t.messages, t.messages.c.run == t.runs.c.position)
    .where(t.runs.c.position.in_(_THESE), t.messages.c.body.is_not(None))
)
_JUDGEMENTS = sa.select(t.judgements.c.run, t.judgements.c.judged).where(
    t.judgements.c.run.in_(_THESE)
)
_OF_REVIEWS = ("run", "state", "decision", "category", "language")
_REVIEWS = (
    sa.select(*(t.reviews.c[name] for name in _OF_REVIEWS))
    .where(t.reviews.c.run.in_(_THESE))
    .order_by(t.reviews.c.created_at)
)
_COSTS = (
    sa.select(t.llm_calls.c.run_id, sa.func.sum(t.llm_calls.c.cost))
    .where(t.llm_calls.c.run_id.in_(_THESE))
    .group_by(t.llm_calls.c.run_id)
)
_IN_CONVERSATIONS = (t.runs.c.desk == _DESK, t.runs.c.conversation.in_(_THESE))
_LEFT = (
    sa.select(t.runs.c.conversation, sa.func.min(t.effects.c.updated_at))
    .join(t.effects, t.effects.c.run == t.runs.c.position)
    .where(*_IN_CONVERSATIONS)
    .where(t.effects.c.tool == DELIVER, t.effects.c.state == EffectState.DONE)
    .group_by(t.runs.c.conversation)
)
_ANSWERED = (
    sa.select(t.runs.c.conversation, sa.func.min(t.runs.c.updated_at))
    .where(*_IN_CONVERSATIONS, t.runs.c.status == RunStatus.ANSWERED)
    .group_by(t.runs.c.conversation)
)
_SAID_IN_CHATS = (
    sa.select(t.chat_lines.c.chat, sa.func.min(t.chat_lines.c.at))
    .where(t.chat_lines.c.desk == _DESK, t.chat_lines.c.chat.in_(_THESE))
    .where(t.chat_lines.c.author == PERSON)
    .group_by(t.chat_lines.c.chat)
)
_BODIES = (
    sa.select(t.steps.c.run, t.steps.c.body)
    .where(t.steps.c.run.in_(_THESE), t.steps.c.body.is_not(None))
    .order_by(t.steps.c.run, t.steps.c.seq)
)
_JUDGED = (
    (Judged.TAKEN_OVER, Became.PERSON),
    (Judged.EDITED, Became.EDITED),
    (Judged.REVISED, Became.EDITED),
    (Judged.UNCHANGED, Became.UNCHANGED),
    (Judged.REJECTED, Became.REJECTED),
    (Judged.SENT, Became.SENT),
)
"""What a judgement says about a reply; the first that was made counts."""
_ENDED = {
    RunStatus.SENT: Became.SENT,
    RunStatus.WAITING_USER: Became.SENT,
    RunStatus.ANSWERED: Became.PERSON,
    RunStatus.REJECTED: Became.REJECTED,
    RunStatus.DONE: Became.NOTHING,
    RunStatus.CANCELLED: Became.NOTHING,
}
"""What became of a message whose reply nobody judged; with all other states it is open."""
_WITH_REPLY = (RunStatus.SENT, RunStatus.WAITING_USER, RunStatus.REJECTED, RunStatus.DONE)


def day_of(at: float, zone: tzinfo) -> int:
    """The number of a day since 1970, as the zone has it."""
    return datetime.fromtimestamp(at, zone).toordinal() - _EPOCH


class RunRecord:
    """A run with where its message came from."""

    def __init__(self, row: sa.Row[Any]) -> None:
        self.position: int = row.position
        self.id: str = row.id
        self.desk: str = row.desk
        self.conversation: str = row.conversation
        self.status = RunStatus(row.status)
        self.created_at: float = row.created_at
        self.updated_at: float = row.updated_at
        ended_unread = row.error_code == ErrorCode.AUTOMATIC_MAIL
        self.is_screened = self.status is RunStatus.DONE and ended_unread
        self.channel = _channel_of(row.body)


def _channel_of(body: bytes) -> str:
    """Where a stored message came from. Nothing else of it is wanted, so it is not checked as a
    whole; one that somebody changed may say nothing: `audit verify` tells of it."""
    try:
        message = from_json(body)
    except ValueError:
        return ""
    channel = message.get("channel", USUAL_CHANNEL) if isinstance(message, dict) else ""
    return channel if isinstance(channel, str) else ""


def first_of_same(core: sa.Connection, desk: str, positions: Collection[int]) -> set[int]:
    """The first runs of the conversations of these."""
    return set(core.execute(_FIRST, {"desk": desk, "these": list(positions)}).scalars())


def read_runs(core: sa.Connection, desk: str, positions: Collection[int]) -> list[RunRecord]:
    """Those whose message is still there.

    The desk is compared here: asked for it, SQLite reads all runs of the desk rather than these.
    """
    rows = core.execute(_RUNS, {"these": list(positions)}).all()
    return [RunRecord(row) for row in rows if row.desk == desk]


class KnownRecords:
    """What else is recorded of some runs, read for all of them at once."""

    def __init__(self, core: sa.Connection, desk: str, runs: Sequence[RunRecord]) -> None:
        self._core, self._desk = core, desk
        self._positions = [run.position for run in runs]
        ids = [run.id for run in runs]
        conversations = {run.conversation for run in runs}
        self.judged = self._judgements()
        self.reviews = self._reviews()
        self.costs = self._costs(ids)
        self.first = first_of_same(core, desk, self._positions)
        self.replied = self._replies(conversations)
        self.tickets, self.first_of_ticket = self._tickets()
        self.events = self._ticket_events()
        self.understood = self._understandings(runs)

    def _judgements(self) -> dict[int, set[str]]:
        judged_by_run: dict[int, set[str]] = defaultdict(set)
        for run, judged in self._core.execute(_JUDGEMENTS, {"these": self._positions}):
            judged_by_run[run].add(judged)
        return judged_by_run

    def _reviews(self) -> dict[int, list[Any]]:
        reviews_by_run: dict[int, list[Any]] = defaultdict(list)
        for row in self._core.execute(_REVIEWS, {"these": self._positions}):
            reviews_by_run[row.run].append(row)
        return reviews_by_run

    def _costs(self, ids: Sequence[str]) -> dict[str, float]:
        costs = self._core.execute(_COSTS, {"these": ids})
        return {run_id: float(cost) for run_id, cost in costs}

    def _replies(self, conversations: set[str]) -> dict[str, float]:
        """When the first reply of each conversation left: by mail, or a colleague's in a chat."""
        these = {"desk": self._desk, "these": list(conversations)}
        first_replies: dict[str, float] = {}
        for query in (_LEFT, _ANSWERED, _SAID_IN_CHATS):
            for conversation, at in self._core.execute(query, these):
                first_replies[conversation] = min(at, first_replies.get(conversation, at))
        return first_replies

    def _tickets(self) -> tuple[dict[int, Any], set[int]]:
        """The ticket of each run, and the runs that came first to theirs."""
        links, tickets = t.ticket_messages.c, t.tickets.c
        same = sa.and_(tickets.desk == links.desk, tickets.id == links.ticket)
        query = (
            sa.select(links.run, links.ticket, tickets.category, tickets.language)
            .join(t.tickets, same)
            .where(links.desk == self._desk, links.run.in_(self._positions))
        )
        ticket_by_run = {row.run: row for row in self._core.execute(query)}
        if not ticket_by_run:
            return {}, set()
        first = (
            sa.select(sa.func.min(links.run))
            .where(links.desk == self._desk)
            .where(links.ticket.in_({row.ticket for row in ticket_by_run.values()}))
            .group_by(links.ticket)
        )
        return ticket_by_run, set(self._core.execute(first).scalars())

    def _ticket_events(self) -> dict[str, list[TicketEvent]]:
        here = t.ticket_events.c
        kinds = (TicketEventKind.ANSWERED, TicketEventKind.BREACHED)
        names = {row.ticket for row in self.tickets.values()}
        if not names:
            return {}
        query = (
            sa.select(here.ticket, here.body)
            .where(here.desk == self._desk, here.ticket.in_(names), here.kind.in_(kinds))
            .order_by(here.number)
        )
        events_by_ticket: dict[str, list[TicketEvent]] = defaultdict(list)
        for ticket, body in self._core.execute(query):
            events_by_ticket[ticket].append(TicketEvent.model_validate_json(bytes(body)))
        return events_by_ticket

    def _understandings(self, runs: Sequence[RunRecord]) -> dict[int, Understanding]:
        """What the stages found out, of runs of which no review and no ticket says it.

        Read as it was written: to check every row again takes four times as long.
        """
        unsaid = [run.position for run in runs if not self._said(run.position)]
        state_by_run: dict[int, Outputs] = {}
        for run, body in self._core.execute(_BODIES, {"these": unsaid}).all():
            outputs, metadata = state_by_run.get(run, ({}, {}))
            state_by_run[run] = changed_by(from_json(body).get("delta") or {}, outputs, metadata)
        return {run: Understanding(outputs) for run, (outputs, _) in state_by_run.items()}

    def _said(self, position: int) -> bool:
        listed = [*self.reviews.get(position, ())]
        if position in self.tickets:
            listed.append(self.tickets[position])
        has_category = any(row.category for row in listed)
        return has_category and any(row.language for row in listed)

    def said_of(self, run: RunRecord, name: str) -> str:
        """The run's category or language; empty where nobody said it."""
        for review in reversed(self.reviews.get(run.position, [])):
            if getattr(review, name):
                return str(getattr(review, name))
        understood = self.understood.get(run.position)
        if understood is not None:
            value = understood.topic if name == "category" else understood.language
            if value:
                return value
        ticket = self.tickets.get(run.position)
        return "" if ticket is None else str(getattr(ticket, name) or "")


def figures_of(run: RunRecord, records: KnownRecords, zone: tzinfo) -> Row:
    """The figures of a run, as its row has them."""
    became = _became(run, records)
    is_over = became is not Became.OPEN
    return {
        "run": run.position,
        "desk": run.desk,
        "at": run.created_at,
        "day": day_of(run.created_at, zone),
        "category": records.said_of(run, "category"),
        "language": records.said_of(run, "language"),
        "channel": run.channel,
        "became": became.value,
        "looked_at": _looked_at(records.judged.get(run.position, set())),
        "reply_seconds": _reply_seconds(run, records),
        "in_time": _in_time(run, records),
        "cost": records.costs.get(run.id, 0.0),
        "ended_day": day_of(run.updated_at, zone) if is_over else None,
    }


def _became(run: RunRecord, records: KnownRecords) -> Became:
    by_status = _ENDED.get(run.status, Became.OPEN)
    is_handed_back = run.status is RunStatus.ANSWERED and run.channel == HANDED_BACK
    if is_handed_back:
        by_status = Became.SENT
    if run.status not in _WITH_REPLY and not is_handed_back:
        return by_status
    decisions = {
        row.decision
        for row in records.reviews.get(run.position, ())
        if row.state == ReviewState.DECIDED
    }
    if Decision.ANSWER in decisions:
        return Became.PERSON
    judged = records.judged.get(run.position, set())
    return next((became for kind, became in _JUDGED if kind in judged), by_status)


def _looked_at(judged: set[str]) -> str | None:
    """Silence of a customer proves nothing."""
    if judged & {Judged.WRONG, *RETURNED}:
        return Looked.WRONG.value
    return Looked.RIGHT.value if Judged.RIGHT in judged else None


def _reply_seconds(run: RunRecord, records: KnownRecords) -> float | None:
    """From the first message of a conversation to the first reply."""
    replied = records.replied.get(run.conversation)
    if run.position not in records.first or replied is None:
        return None
    return max(0.0, replied - run.created_at)


def _in_time(run: RunRecord, records: KnownRecords) -> int | None:
    """Whether the answer left before the ticket's deadline; None where none was promised."""
    ticket = records.tickets.get(run.position)
    if ticket is None:
        return None
    events = records.events.get(ticket.ticket, [])
    for event in events:
        if event.kind is TicketEventKind.ANSWERED and event.run == run.id:
            return None if event.due is None else int(event.at <= float(event.due.split()[1]))
    breached = [event.deadline or "" for event in events if event.deadline is not None]
    is_late = any(name.startswith(_RESPONSES) for name in breached)
    return 0 if is_late and run.position in records.first_of_ticket else None
