"""What is made from records, compared with the records it is made from, for an auditor.

Whatever is due to be made anew in a moment is passed by, and so is what is kept of runs whose
records were erased or pruned: there is nothing left to compare it with.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.record_values import RUN_FIELDS, queue_columns, review_of, run_of
from deskhand.adapters.stores.review_texts import text_of
from deskhand.adapters.stores.rows import STEP_COLUMNS, step_of, unpack
from deskhand.adapters.stores.run_figures import read_figures, sums_by_day
from deskhand.adapters.stores.search_index import words_of_people, words_of_runs
from deskhand.adapters.stores.ticket_rows import event_of, row_of
from deskhand.engine.learner import exchange_in
from deskhand.engine.statements import AT_WORK
from deskhand.engine.story import Records
from deskhand.errors import PermanentError
from deskhand.knowledge.exchanges import digest_of, sentences
from deskhand.model.audited import StatementKind
from deskhand.model.message import Message
from deskhand.model.ticket import Ticket
from deskhand.tickets.fold import fold

PAGE = 200
_WHOLE = (StatementKind.RESTED, StatementKind.CHANGED, StatementKind.REOPENED)
_ZONES = 1
"""Days that a figure may be off: which zone a desk counts its days in stands in its desk.yaml."""
_OF_TICKET = ("category", "language", "in_time")
Found = tuple[str, str]
"""The run, or nothing, and what is wrong in words."""


class _Page(NamedTuple):
    """Runs at rest whose records are all there."""

    runs: Mapping[int, Any]
    due: frozenset[int]
    """Those of which words and figures are about to be made anew."""

    def settled(self) -> list[int]:
        return [position for position in self.runs if position not in self.due]


def changed_in_runs(core: sa.Connection, desk: str, after: int) -> tuple[list[Found], int | None]:
    """What is wrong with what was made from a page of runs, and where the next page begins."""
    here = t.runs.c
    query = (
        sa.select(t.runs, t.messages.c.body)
        .join(t.messages, t.messages.c.run == here.position)
        .where(here.desk == desk, here.position > after)
        .order_by(here.position)
        .limit(PAGE)
    )
    rows = core.execute(query).all()
    if not rows:
        return [], None
    page = _page(core, desk, {row.position: row for row in rows})
    findings: list[Found] = []
    for compare in (_words, _figures, _reviews, _exchanges):
        for position, what in compare(core, desk, page):
            findings.append((page.runs[position].id, what))
    return findings, rows[-1].position


def _page(core: sa.Connection, desk: str, rows: Mapping[int, Any]) -> _Page:
    stated = t.statements.c
    taken_away = sa.select(stated.run).where(
        stated.desk == desk, stated.run.in_(rows), stated.kind.not_in(_WHOLE)
    )
    stated_runs = sa.select(stated.run).where(stated.desk == desk, stated.run.in_(rows))
    whole = set(core.execute(stated_runs).scalars()) - set(core.execute(taken_away).scalars())
    runs: dict[int, Any] = {}
    for position, row in rows.items():
        if position in whole and row.body is not None and row.status not in AT_WORK:
            runs[position] = row
    here = t.runs.c
    conversations = {row.conversation for row in runs.values()}
    noted = sa.select(t.search_due.c.run).where(t.search_due.c.desk == desk)
    moving = sa.or_(here.status.in_(AT_WORK), here.position.in_(noted))
    at_work = sa.select(here.conversation).where(
        here.desk == desk, here.conversation.in_(conversations), moving
    )
    busy = set(core.execute(at_work).scalars())
    due = [position for position, row in runs.items() if row.conversation in busy]
    return _Page(runs, frozenset(due))


def _words(core: sa.Connection, desk: str, page: _Page) -> Iterator[tuple[int, str]]:
    here = t.search_runs
    settled = page.settled()
    own = words_of_runs(core, set(settled))
    rows = core.execute(sa.select(here).where(here.c.run.in_(settled)))
    kept = {row.run: (row.desk, row.words) for row in rows}
    for position in settled:
        expected = (desk, own[position]) if position in own else None
        if kept.get(position) != expected:
            yield position, "the words by which it is found are not its own (search_runs)"


def _figures(core: sa.Connection, desk: str, page: _Page) -> Iterator[tuple[int, str]]:
    settled = page.settled()
    made = {row["run"]: row for row in read_figures(core, desk, settled, UTC).rows}
    rows = core.execute(sa.select(t.run_figures).where(t.run_figures.c.run.in_(settled)))
    kept = {row.run: row._asdict() for row in rows}
    leave_out = _moved(core, desk, settled)
    costs = _costs(core, [page.runs[position].id for position in settled])
    chats = _chats(core, desk, {page.runs[position].conversation for position in settled})
    for position in settled:
        row, own = kept.get(position), made.get(position)
        if row is None or own is None:
            differing = [] if row is own else ["run"]
        else:
            run = page.runs[position]
            without = {"cost", *leave_out.get(position, ())}
            without |= {"reply_seconds"} if run.conversation in chats else set()
            differing = _differing(row, own, without)
            if not any(abs(row["cost"] - cost) < 1e-9 for cost in costs.get(run.id, [0.0])):
                differing.append("cost")
        if differing:
            named = ", ".join(sorted(differing))
            yield position, f"the figures are not what its records say (run_figures: {named})"


def _differing(row: Mapping[str, Any], own: Mapping[str, Any], without: set[str]) -> list[str]:
    differing: list[str] = []
    for name in own.keys() - without:
        kept, made = row[name], own[name]
        is_day = name in ("day", "ended_day") and None not in (kept, made)
        if (is_day and abs(kept - made) > _ZONES) or (not is_day and kept != made):
            differing.append(name)
    return differing


def _moved(core: sa.Connection, desk: str, runs: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Runs of tickets that exchanged messages with others: what is counted by their ticket may be
    of before."""
    links, events = t.ticket_messages.c, t.ticket_events.c
    query = (
        sa.select(links.run)
        .join(t.ticket_events, sa.and_(events.desk == links.desk, events.ticket == links.ticket))
        .where(links.desk == desk, links.run.in_(runs), events.change.is_not(None))
    )
    return dict.fromkeys(core.execute(query).scalars(), _OF_TICKET)


def _costs(core: sa.Connection, run_ids: Sequence[str]) -> dict[str, list[float]]:
    """What the calls of each run had cost after each of them: a call may come after the figures."""
    here = t.llm_calls.c
    query = sa.select(here.run_id, here.cost).where(here.run_id.in_(run_ids)).order_by(here.id)
    costs: dict[str, list[float]] = {}
    for run_id, cost in core.execute(query):
        so_far = costs.setdefault(run_id, [0.0])
        so_far.append(so_far[-1] + (cost or 0.0))
    return costs


def _chats(core: sa.Connection, desk: str, conversations: set[str]) -> set[str]:
    """What colleagues say in a chat is counted with the next message of it."""
    here = t.chats.c
    query = sa.select(here.id).where(here.desk == desk, here.id.in_(conversations))
    return set(core.execute(query).scalars())


def _reviews(core: sa.Connection, desk: str, page: _Page) -> Iterator[tuple[int, str]]:
    for row in core.execute(sa.select(t.reviews).where(t.reviews.c.run.in_(page.runs))):
        run = page.runs[row.run]
        causes = (row.causes or "").split()
        own = queue_columns(row.kind, causes, unpack(row.facts), row.expires_at)
        shown = (row.id, run.id, row.reason, row.assignee, row.payload, run.body)
        own["search_text"] = text_of(*shown)
        differing = [name for name, value in own.items() if getattr(row, name) != value]
        if differing:
            named = ", ".join(sorted(differing))
            yield row.run, f"review {row.id} is not kept as it reads (reviews: {named})"


def _exchanges(core: sa.Connection, desk: str, page: _Page) -> Iterator[tuple[int, str]]:
    here, sentence_table = t.exchanges, t.told_sentences
    names = ("desk", "person", "owner", "category", "language", "how", "question", "answer")
    kept = core.execute(sa.select(here).where(here.c.run.in_(page.runs))).all()
    sentences_of: dict[int, list[tuple[str, str, str]]] = {}
    for row in core.execute(sa.select(sentence_table).where(sentence_table.c.run.in_(page.runs))):
        said = (row.desk, row.sentence, row.person)
        sentences_of.setdefault(row.run, []).append(said)
    for row in kept:
        own = exchange_in(_records(core, page.runs[row.run]))
        same = own is not None and row.answered_at == own.answered_at and row.desk == desk
        same = same and all(getattr(row, name) == getattr(own, name) for name in names[1:])
        if not same or own is None:
            yield row.run, "what was learned from it is not what it says (exchanges)"
            continue
        digests = [] if own.how == "sent" else map(digest_of, sentences(own.answer))
        expected = {(desk, digest, own.person) for digest in digests}
        if set(sentences_of.pop(row.run, [])) != expected:
            yield row.run, "the sentences learned from it are not its own (told_sentences)"
    for run in sentences_of:
        if run not in {row.run for row in kept}:
            yield run, "sentences are kept of it, and it taught nothing (told_sentences)"


def _records(core: sa.Connection, run: Any) -> Records:
    steps = sa.select(*STEP_COLUMNS).where(t.steps.c.run == run.position).order_by(t.steps.c.seq)
    rows = [step_of(run.id, row) for row in core.execute(steps)]
    asked = core.execute(sa.select(t.reviews).where(t.reviews.c.run == run.position))
    reviews = [review_of(run.id, row) for row in asked]
    own = run_of(getattr(run, name) for name in RUN_FIELDS)
    return Records(own, Message.model_validate_json(run.body), rows, reviews)


# --- tickets


def changed_tickets(core: sa.Connection, desk: str, after: str) -> tuple[list[Found], str | None]:
    """Which tickets of a page are not what their events say, and where the next page begins."""
    events, rows = t.ticket_events, t.tickets
    ids = sa.select(events.c.ticket).where(events.c.desk == desk, events.c.ticket > after)
    kept = sa.select(rows.c.id).where(rows.c.desk == desk, rows.c.id > after)
    named = sa.union(ids, kept).order_by(sa.literal_column("1")).limit(PAGE)
    page = list(core.execute(named).scalars())
    if not page:
        return [], None
    events_by_ticket: dict[str, list[Any]] = {}
    of_page = sa.select(events).where(events.c.desk == desk, events.c.ticket.in_(page))
    for row in core.execute(of_page.order_by(events.c.ticket, events.c.number)):
        events_by_ticket.setdefault(row.ticket, []).append(row)
    tickets: dict[str, Ticket] = {}
    findings: list[Found] = []
    for ticket_id, written in events_by_ticket.items():
        try:
            tickets[ticket_id] = fold(list(map(event_of, written)))
        except (PermanentError, ValueError):
            findings.append(("", f"ticket {ticket_id} has events that make no ticket"))
    whole = [
        ticket_id for ticket_id in page if ticket_id in tickets or ticket_id not in events_by_ticket
    ]
    findings += [("", what) for what in _ticket_rows(core, desk, whole, tickets)]
    findings += [("", what) for what in _ticket_links(core, desk, whole, tickets)]
    return findings, page[-1]


def _ticket_rows(
    core: sa.Connection, desk: str, page: Sequence[str], tickets: Mapping[str, Ticket]
) -> Iterator[str]:
    here = t.tickets.c
    query = sa.select(t.tickets).where(here.desk == desk, here.id.in_(page))
    rows = {row.id: row for row in core.execute(query)}
    for ticket_id in page:
        row, ticket = rows.get(ticket_id), tickets.get(ticket_id)
        if row is None or ticket is None:
            yield f"ticket {ticket_id} {'is gone' if row is None else 'was added'} (tickets)"
            continue
        own = row_of(ticket, None) | {"messages": ticket.messages}
        differing = [name for name, value in own.items() if getattr(row, name) != value]
        if differing:
            named = ", ".join(sorted(differing))
            yield f"ticket {ticket_id} is not what its events say (tickets: {named})"


def _ticket_links(
    core: sa.Connection, desk: str, page: Sequence[str], tickets: Mapping[str, Ticket]
) -> Iterator[str]:
    links, runs = t.ticket_messages.c, t.runs.c
    query = sa.select(links.ticket, links.run, links.conversation)
    kept = Counter(
        map(tuple, core.execute(query.where(links.desk == desk, links.ticket.in_(page))))
    )
    placed = {run: ticket.id for ticket in tickets.values() for run in ticket.runs}
    own: Counter[Any] = Counter()
    mine = (runs.desk == desk, runs.id.in_(placed))
    for row in core.execute(sa.select(runs.id, runs.position, runs.conversation).where(*mine)):
        own[placed[row.id], row.position, row.conversation] += 1
    for ticket_id, position, _ in sorted({*(kept - own), *(own - kept)}):
        what = f"the message at {position} is not where the events say (ticket_messages)"
        yield f"ticket {ticket_id}: {what}"


# --- people, days, and what belongs to nothing


def changed_beside(core: sa.Connection, desk: str) -> list[Found]:
    """Words of people, sums of days, and rows of runs that are not there."""
    problems = list(_people(core, desk))
    sums, steps = sums_by_day(core, desk)
    problems += _days(core, desk, t.day_figures, sums)
    problems += _days(core, desk, t.day_replies, steps)
    own_runs = sa.select(t.runs.c.position).where(t.runs.c.desk == desk)
    tables = (t.search_runs, t.run_figures, t.exchanges, t.told_sentences, t.ticket_messages)
    for table in tables:
        strays = sa.select(table.c.run).where(table.c.desk == desk, table.c.run.not_in(own_runs))
        for run in core.execute(strays.distinct()).scalars():
            problems.append(f"a row of {table.name} belongs to no run: {run}")
    return [("", what) for what in problems]


def _people(core: sa.Connection, desk: str) -> Iterator[str]:
    here, due = t.search_people.c, t.search_due.c
    own = words_of_people(core, desk)
    rows = sa.select(here.address, here.words).where(here.desk == desk)
    kept = {row.address: row.words for row in core.execute(rows)}
    noted = sa.select(due.address).where(due.desk == desk, due.address.is_not(None))
    about_to = set(core.execute(noted).scalars())
    for address in sorted({*own, *kept} - about_to):
        if own.get(address) != kept.get(address):
            yield f"the words by which {address} is found are not the contact's (search_people)"


def _days(
    core: sa.Connection, desk: str, table: sa.Table, own: Mapping[tuple[Any, ...], Any]
) -> Iterator[str]:
    size = len(table.primary_key.columns)
    counts = [column.name for column in table.c][size:]
    kept: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in core.execute(sa.select(table).where(table.c.desk == desk)):
        kept[tuple(row[:size])] = dict(zip(counts, row[size:], strict=True))
    nothing = dict.fromkeys(counts, 0)
    for place in sorted({*own, *kept}, key=repr):
        made, held = own.get(place, nothing), kept.get(place, nothing)
        if any(abs(made[name] - held[name]) > 1e-6 for name in counts):
            of = " ".join(map(str, place[1:]))
            yield f"a sum is not what the figures add up to ({table.name}: {of})"
