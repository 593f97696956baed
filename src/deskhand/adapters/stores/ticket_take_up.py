"""What a message takes up of its ticket in other conversations: the question that waits for its
customer, drafts that it makes stale, and the hand-over that holds it too."""

from collections.abc import Sequence

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import close_reviews
from deskhand.adapters.stores.review_queue import note
from deskhand.adapters.stores.rows import RUN_COLUMNS, run_of
from deskhand.adapters.stores.statements import mark_run
from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, ReviewKind, ReviewState, Run, RunStatus

_ANSWERED_TOGETHER = "a newer message is answered together with this one"
_STALE_DRAFT = sa.exists().where(
    t.reviews.c.run == t.runs.c.position, t.reviews.c.state == ReviewState.STALE
)
_OPEN_DRAFT = sa.exists().where(
    t.reviews.c.run == t.runs.c.position,
    t.reviews.c.state == ReviewState.OPEN,
    t.reviews.c.kind == ReviewKind.REPLY,
)


def take_up(
    core: sa.Connection, desk: str, run_id: str, runs: Sequence[str], now: float
) -> tuple[Run | None, list[ConversationTurn]]:
    """Let a run take over what waits in other conversations of its ticket, whose runs these are.

    Returns the run that asked the customer, None without one, and the turns whose drafts are stale
    now. Asked again it returns the same.
    """
    here = t.runs.c
    own = core.execute(sa.select(*RUN_COLUMNS).where(here.id == run_id, here.desk == desk)).one()
    me = run_of(own)
    elsewhere = sa.and_(
        here.desk == desk,
        here.id.in_(runs),
        here.conversation != me.conversation,
        here.position < me.position,
    )
    _make_stale(core, elsewhere, me, now)
    parked = _asked(core, elsewhere, me, now)
    return parked, _stale_turns(core, elsewhere, run_id)


def _make_stale(
    core: sa.Connection, elsewhere: sa.ColumnElement[bool], me: Run, now: float
) -> None:
    here = t.runs.c
    waits = (elsewhere, here.status == RunStatus.WAITING_REVIEW, _OPEN_DRAFT)
    positions = core.execute(
        sa.select(here.position).where(*waits).order_by(here.position).with_for_update()
    ).scalars()
    values = {
        "status": RunStatus.DONE,
        "reason": _ANSWERED_TOGETHER,
        "successor": me.id,
        "updated_at": now,
    }
    for position in list(positions):
        close_reviews(core, position)
        core.execute(t.runs.update().where(here.position == position).values(**values))
        mark_run(core, position)


def _asked(
    core: sa.Connection, elsewhere: sa.ColumnElement[bool], me: Run, now: float
) -> Run | None:
    here = t.runs.c
    newest = sa.select(*RUN_COLUMNS).order_by(here.position.desc()).limit(1)
    again = newest.where(elsewhere, here.successor == me.id, ~_STALE_DRAFT)
    waits = newest.where(elsewhere, here.status == RunStatus.WAITING_USER, here.flow == me.flow)
    row = core.execute(again).first() or core.execute(waits.with_for_update()).first()
    if row is None:
        return None
    parked = run_of(row)
    values = {"status": RunStatus.DONE, "successor": me.id, "updated_at": now}
    core.execute(t.runs.update().where(here.position == parked.position).values(**values))
    mark_run(core, parked.position)
    return parked


def _stale_turns(
    core: sa.Connection, elsewhere: sa.ColumnElement[bool], run_id: str
) -> list[ConversationTurn]:
    query = (
        sa.select(*RUN_COLUMNS, t.messages.c.body)
        .join(t.messages, t.messages.c.run == t.runs.c.position)
        .where(elsewhere, t.runs.c.successor == run_id, _STALE_DRAFT)
        .where(t.messages.c.body.is_not(None))
        .order_by(t.runs.c.position)
    )
    turns: list[ConversationTurn] = []
    for row in core.execute(query):
        message = Message.model_validate_json(row[-1])
        turns.append(ConversationTurn(run_of(row[:-1]), message))
    return turns


def join_hand_over(
    core: sa.Connection, desk: str, run_id: str, runs: Sequence[str], by: str, now: float
) -> str | None:
    """The open hand-over of one of these runs, which holds the message of this run too and is told
    so in its history; None without one. It is locked: whoever decides it at the same time has this
    message before him, or leaves it a hand-over of its own."""
    query = (
        sa.select(t.reviews.c.id)
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(t.runs.c.desk == desk, t.runs.c.id.in_(runs), t.runs.c.id != run_id)
        .where(t.reviews.c.state == ReviewState.OPEN, t.reviews.c.kind == ReviewKind.HAND_OVER)
        .order_by(t.reviews.c.created_at)
        .limit(1)
        .with_for_update(of=t.reviews)
    )
    review = core.execute(query).first()
    if review is None:
        return None
    note(core, desk, review.id, by, f"the customer wrote again: {run_id}", now)
    return str(review.id)


def waits_for_person(core: sa.Connection, desk: str, runs: Sequence[str]) -> bool:
    """Whether a hand-over of one of these runs is open, or an answer that it promised."""
    kinds = (ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)
    query = (
        sa.select(t.reviews.c.id)
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(t.runs.c.desk == desk, t.runs.c.id.in_(runs))
        .where(t.reviews.c.state == ReviewState.OPEN, t.reviews.c.kind.in_(kinds))
        .limit(1)
    )
    return core.execute(query).first() is not None
