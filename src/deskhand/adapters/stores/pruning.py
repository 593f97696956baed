"""Deleting old records: what is open stays, and every chain is closed by a seal before it goes.

Of a run stays its row, without what it was about, and its message's digest. So a message that
comes a second time is still known, and seals can be compared with where the chain ended.
"""

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import audit_records
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.chats import forget_chat
from deskhand.adapters.stores.erasure import forget_conversation
from deskhand.adapters.stores.search_index import forget_runs
from deskhand.adapters.stores.statements import mark_record, mark_run
from deskhand.adapters.stores.ticket_erasure import (
    forget_messages,
    forget_old_tickets,
    forget_unused_names,
    old_tickets,
)
from deskhand.engine.audit import check_message, head_of_chain, pruning_seal
from deskhand.engine.journal import verify
from deskhand.engine.statements import check_statements, legacy_position
from deskhand.model.audited import Journaled, Kept, PrunedBatch, StatementKind
from deskhand.model.notice import NoticeState
from deskhand.model.run import EffectState, ReviewState, RunStatus
from deskhand.model.webhook import DeliveryState

_OPEN = tuple(status for status in RunStatus if not status.is_final)
_FINAL = tuple(status for status in RunStatus if status.is_final)
_UNSETTLED = (EffectState.INTENDED, EffectState.UNKNOWN)
_OF_RUNS = (
    t.steps,
    t.effects,
    t.effect_counts,
    t.reviews,
    t.review_edits,
    t.answer_sources,
    t.attachments,
    t.told_sentences,
    t.exchanges,
)
"""Tables whose rows go with their run."""


def prune_old(
    core: sa.Connection,
    desk: str,
    kind: Kept,
    before: float,
    after: int,
    limit: int,
    now: float,
    key: bytes | None,
) -> PrunedBatch:
    """Delete at most `limit` of what is older than `before`, in the order of its numbers."""
    if kind is Kept.RUNS:
        return _prune_runs(core, desk, before, after, limit, now, key)
    if kind is Kept.STEPS:
        return _prune_steps(core, desk, before, after, limit, now)
    if kind is Kept.TICKETS:
        return forget_old_tickets(core, desk, before, limit)
    deleted = 0
    for table, old in _OTHERS[kind]:
        deleted += _prune_table(core, desk, kind, table, old(desk, before), limit - deleted)
    return PrunedBatch(deleted, 0, after if deleted == limit else None)


def _prune_table(
    core: sa.Connection,
    desk: str,
    kind: Kept,
    table: sa.Table,
    old: sa.ColumnElement[bool],
    limit: int,
) -> int:
    chosen = sa.select(*table.primary_key.columns).where(old).limit(limit)
    rows = core.execute(chosen).all()
    columns = list(table.primary_key.columns)
    _mark_their_runs(core, table, columns[-1], [row[-1] for row in rows])
    if kind is Kept.CALLS:
        _mark_calls_of_no_run(core, desk, [row[-1] for row in rows])
    for row in rows:
        same = [column == value for column, value in zip(columns, row, strict=True)]
        core.execute(table.delete().where(*same))
    return len(rows)


def count_old(core: sa.Connection, desk: str, kind: Kept, before: float) -> int:
    """How much there is to delete."""
    if kind in (Kept.RUNS, Kept.STEPS):
        query = sa.select(sa.func.count()).select_from(t.runs).where(_closed(desk, before))
        if kind is Kept.STEPS:
            query = (
                sa.select(sa.func.count())
                .select_from(t.steps.join(t.runs, t.runs.c.position == t.steps.c.run))
                .where(_closed(desk, before), t.steps.c.body.is_not(None))
            )
        return core.execute(query).scalar_one()
    count = 0
    for table, old in _COUNTED[kind]:
        query = sa.select(sa.func.count()).select_from(table).where(old(desk, before))
        count += core.execute(query).scalar_one()
    return count


_TAKES_AWAY = {
    t.llm_calls.name: StatementKind.CALLS_PRUNED,
    t.attachments.name: StatementKind.ATTACHMENTS_PRUNED,
}


def _mark_their_runs(
    core: sa.Connection, table: sa.Table, key: sa.ColumnElement[Any], keys: list[Any]
) -> None:
    """The runs whose calls or files are about to go say so in a statement."""
    kind = _TAKES_AWAY.get(table.name)
    if kind is None:
        return
    column = table.c.run if "run" in table.c else table.c.run_id
    theirs = sa.select(column).where(key.in_(keys), column.is_not(None)).distinct()
    for run in list(core.execute(theirs).scalars()):
        mark_run(core, run, kind)


def _mark_calls_of_no_run(core: sa.Connection, desk: str, calls: list[Any]) -> None:
    here = t.llm_calls.c
    of_none = sa.select(here.id).where(here.id.in_(calls), here.run_id.is_(None))
    for call in list(core.execute(of_none).scalars()):
        mark_record(core, desk, t.llm_calls, call)


# --- what is over


def _closed(desk: str, before: float) -> sa.ColumnElement[bool]:
    """Runs that came to rest before this time, and about which nothing is open."""
    here = t.runs.c
    return sa.and_(
        here.desk == desk,
        here.status.in_(_FINAL),
        here.created_at < before,
        here.updated_at < before,
        here.pruned_at.is_(None),
        ~_has_open_review(),
        ~_has_unsettled_effect(),
        ~_has_open_neighbour(),
    )


def _has_open_review() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        t.reviews.c.run == t.runs.c.position, t.reviews.c.state == ReviewState.OPEN
    )


def _has_unsettled_effect() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        t.effects.c.run == t.runs.c.position, t.effects.c.state.in_(_UNSETTLED)
    )


def _has_open_neighbour() -> sa.ColumnElement[bool]:
    """Whether another run of the conversation is not at rest: it may need what was said."""
    other = t.runs.alias()
    return sa.exists().where(
        other.c.desk == t.runs.c.desk,
        other.c.conversation == t.runs.c.conversation,
        other.c.status.in_(_OPEN),
    )


def _run_is_open(run_id: sa.ColumnElement[Any], column: sa.ColumnElement[Any]) -> Any:
    """Whether the run that a row belongs to is not at rest, or a review of it waits."""
    waits = sa.or_(t.runs.c.status.in_(_OPEN), _has_open_review())
    return sa.exists().where(column == run_id, waits)


def _old_calls(desk: str, before: float) -> sa.ColumnElement[bool]:
    here = t.llm_calls.c
    is_open = _run_is_open(here.run_id, t.runs.c.id)
    return sa.and_(here.desk == desk, here.at < before, ~is_open)


def _old_notices(desk: str, before: float) -> sa.ColumnElement[bool]:
    here = t.notices.c
    return sa.and_(here.desk == desk, here.created_at < before, here.state != NoticeState.DUE)


def _old_deliveries(desk: str, before: float) -> sa.ColumnElement[bool]:
    here = t.webhook_deliveries.c
    return sa.and_(here.desk == desk, here.created_at < before, here.state != DeliveryState.DUE)


def _old_files(desk: str, before: float) -> sa.ColumnElement[bool]:
    here = t.attachments.c
    is_open = _run_is_open(here.run, t.runs.c.position)
    return sa.and_(here.desk == desk, here.at < before, ~is_open)


_Old = Callable[[str, float], sa.ColumnElement[bool]]
_OTHERS: Mapping[Kept, tuple[tuple[sa.Table, _Old], ...]] = {
    Kept.CALLS: ((t.llm_calls, _old_calls),),
    Kept.NOTICES: ((t.notices, _old_notices), (t.webhook_deliveries, _old_deliveries)),
    Kept.ATTACHMENTS: ((t.attachments, _old_files),),
}
_COUNTED = {**_OTHERS, Kept.TICKETS: ((t.tickets, old_tickets),)}


# --- runs and their steps


def _positions(core: sa.Connection, *which: Any, after: int, limit: int) -> list[int]:
    query = (
        sa.select(t.runs.c.position)
        .where(*which, t.runs.c.position > after)
        .order_by(t.runs.c.position)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return list(core.execute(query).scalars())


def _prune_steps(
    core: sa.Connection, desk: str, before: float, after: int, limit: int, now: float
) -> PrunedBatch:
    """What steps hold goes; their digests stay, so the chains still verify by themselves."""
    untouched = t.runs.c.steps_pruned_at.is_(None)
    positions = _positions(core, _closed(desk, before), untouched, after=after, limit=limit)
    here = sa.and_(t.steps.c.run.in_(positions), t.steps.c.body.is_not(None))
    emptied = core.execute(t.steps.update().where(here).values(body=None, salt=None)).rowcount
    forget_runs(core, positions)
    values = {"steps_pruned_at": now}
    core.execute(t.runs.update().where(t.runs.c.position.in_(positions)).values(**values))
    for position in positions:
        mark_run(core, position, StatementKind.STEPS_PRUNED)
    return PrunedBatch(emptied, 0, positions[-1] if len(positions) == limit else None)


def _prune_runs(
    core: sa.Connection,
    desk: str,
    before: float,
    after: int,
    limit: int,
    now: float,
    key: bytes | None,
) -> PrunedBatch:
    """Raises nothing for a run whose records were changed: it stays, and is named."""
    positions = _positions(core, _closed(desk, before), after=after, limit=limit)
    journals = audit_records.journals_at(core, desk, positions)
    legacy = legacy_position(audit_records.desk_statements(core, desk))
    sound = [journal for journal in journals if not _problems(journal, legacy)]
    customers: tuple[str, ...] = ()
    if sound:
        seal = pruning_seal(desk, sound, now, key)
        audit_records.save_seal(core, desk, seal.at, seal.heads, seal.mac, seal.kind)
        customers = _customers_of(core, desk, [journal.run_id for journal in sound])
        _empty_runs(core, desk, sound, now)
        forget_unused_names(core, desk, customers)
    _prune_chats(core, desk, before, limit)
    rows = sum(len(journal.rows) for journal in sound)
    damaged = tuple(journal.run_id for journal in journals if journal not in sound)
    last = positions[-1] if len(positions) == limit else None
    return PrunedBatch(len(sound), rows, last, damaged, customers)


def _customers_of(core: sa.Connection, desk: str, run_ids: list[str]) -> tuple[str, ...]:
    links, tickets = t.ticket_messages.c, t.tickets.c
    query = (
        sa.select(tickets.customer)
        .distinct()
        .join(t.ticket_messages, sa.and_(links.desk == tickets.desk, links.ticket == tickets.id))
        .join(t.runs, t.runs.c.position == links.run)
        .where(tickets.desk == desk, t.runs.c.id.in_(run_ids))
    )
    return tuple(core.execute(query).scalars())


def _prune_chats(core: sa.Connection, desk: str, before: float, limit: int) -> None:
    """Delete the lines of chats in which nothing was said since, and of which no run is left; their
    tokens open them no more."""
    here = t.chats.c
    has_run = sa.exists().where(t.runs.c.desk == here.desk, t.runs.c.conversation == here.id)
    old = sa.and_(here.desk == desk, here.spoken_at < before, ~has_run)
    for chat in list(core.execute(sa.select(here.id).where(old).limit(limit)).scalars()):
        forget_chat(core, desk, chat)


def _problems(journal: Journaled, legacy: int) -> bool:
    """Whether the records are not as they were written: they must not vanish as if they were."""
    chain = verify(journal.run_id, journal.message_digest, journal.rows)
    stated = check_statements(journal, is_legacy=journal.position <= legacy)
    return bool(chain or check_message(journal) or stated)


def _empty_runs(core: sa.Connection, desk: str, journals: list[Journaled], now: float) -> None:
    positions = [journal.position for journal in journals]
    run_ids = [journal.run_id for journal in journals]
    here = t.runs.c.position.in_(positions)
    conversations = set(core.execute(sa.select(t.runs.c.conversation).where(here)).scalars())
    forget_messages(core, desk, positions, "retention", now)
    for table in _OF_RUNS:
        core.execute(table.delete().where(table.c.run.in_(positions)))
    for table in (t.events, t.llm_calls, t.telemetry_events, t.webhook_deliveries):
        core.execute(table.delete().where(table.c.run_id.in_(run_ids)))
    nothing = {"body": None, "salt": None, "sender": None}
    core.execute(t.messages.update().where(t.messages.c.run.in_(positions)).values(**nothing))
    forget_runs(core, positions)
    for journal in journals:
        values = {
            "conversation": f"pruned:{journal.run_id}",
            "reason": "pruned",
            "pruned_at": now,
            "pruned_rows": len(journal.rows),
            "pruned_chain": head_of_chain(journal, len(journal.rows)),
        }
        this = t.runs.c.position == journal.position
        core.execute(t.runs.update().where(this).values(**values))
        mark_run(core, journal.position, StatementKind.PRUNED)
    _forget_conversations(core, desk, conversations)


def _forget_conversations(core: sa.Connection, desk: str, names: set[str]) -> None:
    """Only those that somebody once took over are written down anywhere."""
    here = (t.conversations.c.desk == desk, t.conversations.c.id.in_(names))
    for name in list(core.execute(sa.select(t.conversations.c.id).where(*here)).scalars()):
        forget_conversation(core, desk, name)
