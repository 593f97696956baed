"""What happens to a conversation's mail outside the flows: counted, answered by a person,
bounced, held back."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.judgements import judge_answer, note_afterwards
from deskhand.adapters.stores.record_values import queue_columns
from deskhand.adapters.stores.review_decisions import (
    close_reviews,
    find_review,
    record_event,
    take_over,
)
from deskhand.adapters.stores.review_texts import write_text
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of
from deskhand.crashpoints import crash_point
from deskhand.engine.decisions import check_open
from deskhand.errors import Conflict
from deskhand.model.causes import Cause
from deskhand.model.judgement import Judged
from deskhand.model.run import (
    LETS_GO,
    Decision,
    EffectState,
    Review,
    ReviewKind,
    ReviewState,
    RunStatus,
    canonical_hash,
)

REPLIES_SINCE = (
    sa.select(sa.func.count())
    .select_from(t.effects.join(t.runs, t.runs.c.position == t.effects.c.run))
    .where(
        t.runs.c.desk == sa.bindparam("desk"),
        t.runs.c.conversation == sa.bindparam("conversation"),
        t.runs.c.id != sa.bindparam("beside"),
        t.effects.c.tool == sa.bindparam("tool"),
        t.effects.c.state == EffectState.DONE,
        t.effects.c.updated_at >= sa.bindparam("since"),
    )
)
"""How many effects of a tool were carried out in a conversation since then, those of one run not
counted. Asked before every reply, so it is put together once."""


def replies_to(
    core: sa.Connection, desk: str, sender: str, conversation: str, tool: str, since: float
) -> int:
    """How many effects of this tool answered this sender since then, in other conversations."""
    query = (
        sa.select(sa.func.count())
        .select_from(
            t.messages.join(t.runs, t.runs.c.position == t.messages.c.run).join(
                t.effects, t.effects.c.run == t.runs.c.position
            )
        )
        .where(
            t.messages.c.desk == desk,
            t.messages.c.sender == sender.strip().lower(),
            t.runs.c.conversation != conversation,
            t.runs.c.updated_at >= since,
            t.effects.c.tool == tool,
            t.effects.c.state == EffectState.DONE,
            t.effects.c.updated_at >= since,
        )
    )
    return core.execute(query).scalar_one()


_OWES_AN_ANSWER = t.runs.c.position.in_(
    sa.select(t.reviews.c.run).where(
        t.reviews.c.run == t.runs.c.position,
        t.reviews.c.state == ReviewState.OPEN,
        t.reviews.c.kind == ReviewKind.FOLLOW_UP,
    )
)
"""A run that has acknowledged its message and waits for somebody's answer."""


def answered_by_person(
    core: sa.Connection,
    desk: str,
    conversation: str,
    by: str,
    silence: bool,
    now: float,
    text: str | None = None,
) -> int:
    """A person answered: what waits to be sent in the conversation is withdrawn, and no answer is
    owed any more; returns how many runs that ended."""
    waiting = core.execute(
        sa.select(t.runs.c.position, t.runs.c.id)
        .where(
            t.runs.c.desk == desk,
            t.runs.c.conversation == conversation,
            sa.or_(t.runs.c.status == RunStatus.WAITING_REVIEW, _OWES_AN_ANSWER),
        )
        .with_for_update()
    ).all()
    for run in waiting:
        for review in _open_reviews(core, run.position, run.id):
            judge_answer(core, review, text, not silence, now)
        close_reviews(core, run.position)
        values = {"status": RunStatus.DONE, "reason": f"answered by {by}", "updated_at": now}
        core.execute(t.runs.update().where(t.runs.c.position == run.position).values(**values))
        record_event(core, desk, "run.answered_by_person", run.id, by, {}, now)
    if silence:
        take_over(core, desk, conversation, by, now)
    return len(waiting)


def _open_reviews(core: sa.Connection, position: int, run_id: str) -> list[Review]:
    query = sa.select(*REVIEW_COLUMNS).where(
        t.reviews.c.run == position, t.reviews.c.state == ReviewState.OPEN
    )
    return [review_of(run_id, row) for row in core.execute(query)]


def note_bounce(core: sa.Connection, desk: str, run_id: str, reason: str, now: float) -> bool:
    """Say at the run that its reply did not arrive; False when there is no such run."""
    values = {"reason": reason, "updated_at": now}
    noted = core.execute(
        t.runs.update().where(t.runs.c.id == run_id, t.runs.c.desk == desk).values(**values)
    )
    if noted.rowcount == 0:
        return False
    record_event(core, desk, "reply.bounced", run_id, None, {"reason": reason}, now)
    note_afterwards(core, desk, run_id, Judged.BOUNCED, now)
    return True


def hold_back(core: sa.Connection, desk: str, review_id: str, by: str, now: float) -> Review:
    """Stop a reply that would leave by itself: its review stays open until somebody decides it.

    The review whose approval let the reply go names it as well. Approved again, it can be stopped
    again.
    """
    review = find_review(core, desk, _leaving(core, desk, review_id) or review_id, lock=True)
    if review.kind is not ReviewKind.REPLY or review.fallback is not Decision.APPROVE:
        check_open(review)
        raise Conflict(f"{review.id} does not leave by itself: it waits for a decision")
    if review.state is not ReviewState.OPEN or (review.expires_at or 0) <= now:
        raise Conflict(f"{review.id}: too late, the reply has left or is leaving")
    payload = {**review.payload, "waits": "hold"}
    core.execute(
        t.reviews.update()
        .where(t.reviews.c.id == review.id)
        .values(
            expires_at=None,
            fallback=None,
            version=review.version + 1,
            reason=f"held back by {by}",
            causes=str(Cause.HELD_BACK),
            **queue_columns(review.kind, (Cause.HELD_BACK,), review.facts, None),
            payload=pack(payload),
            payload_hash=canonical_hash(payload),
        )
    )
    write_text(core, review.id)
    record_event(core, desk, "review.undo", review.run_id, by, {"review": review.id}, now)
    crash_point("review.before_commit")
    return find_review(core, desk, review.id)


def _leaving(core: sa.Connection, desk: str, review_id: str) -> str | None:
    """What waits to leave in the run of a review that somebody has approved."""
    approved, leaving = t.reviews.alias(), t.reviews
    query = (
        sa.select(leaving.c.id)
        .join(approved, approved.c.run == leaving.c.run)
        .where(
            approved.c.id == review_id,
            approved.c.desk == desk,
            approved.c.decision.in_(LETS_GO),
            leaving.c.state == ReviewState.OPEN,
            leaving.c.fallback == Decision.APPROVE,
        )
    )
    return core.execute(query).scalar()
