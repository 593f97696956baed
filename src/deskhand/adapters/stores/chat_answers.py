"""Colleagues in chats: what their answer ends, who wrote a reply, and one open hand-over a chat."""

from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import chat_mails
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import close_reviews, record_event, take_over
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of
from deskhand.errors import ToolError
from deskhand.model.chats import DESK, PERSON, VISITOR, ChatMail, ChatMailKind, ChatStanding
from deskhand.model.ids import new_id
from deskhand.model.run import Decision, ReviewKind, ReviewState, RunStatus

JOINED = "the hand-over that is open in this chat holds this message, too"
_ENDED_BY_AN_ANSWER = (
    RunStatus.WAITING_USER,
    RunStatus.WAITING_REVIEW,
    RunStatus.NEEDS_REVIEW,
    RunStatus.FAILED,
)
_MAIL_WITHIN = 2 * 86400.0
"""Seconds within which an answer is worth mailing."""


def take_and_settle(
    core: sa.Connection, desk: str, chat: str, by: str, name: str, text: str, now: float
) -> None:
    """A colleague answered: the chat is his, and what waits in it has its answer."""
    held = _taken_over_by(core, desk, chat)
    if held != by:
        take_over(core, desk, chat, by, now)
    waiting = core.execute(
        sa.select(t.runs.c.position, t.runs.c.id)
        .where(
            t.runs.c.desk == desk,
            t.runs.c.conversation == chat,
            t.runs.c.status.in_(_ENDED_BY_AN_ANSWER),
        )
        .with_for_update()
    ).all()
    for run in waiting:
        _decide_open(core, desk, run.position, run.id, by, text, now)
        close_reviews(core, run.position)
        values = {"status": RunStatus.DONE, "reason": f"answered by {by}", "updated_at": now}
        core.execute(t.runs.update().where(t.runs.c.position == run.position).values(**values))
        record_event(core, desk, "run.answered_by_person", run.id, by, {}, now)
    _mail_answer(core, desk, chat, name, text, now)


def _decide_open(
    core: sa.Connection, desk: str, position: int, run_id: str, by: str, text: str, now: float
) -> None:
    """Hand-overs are decided by the answer; whatever else is open becomes stale."""
    kinds = (ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)
    here = sa.and_(
        t.reviews.c.run == position,
        t.reviews.c.state == ReviewState.OPEN,
        t.reviews.c.kind.in_(kinds),
    )
    rows = core.execute(sa.select(*REVIEW_COLUMNS).where(here)).all()
    for review in [review_of(run_id, row) for row in rows]:
        decided = {
            "state": ReviewState.DECIDED,
            "version": review.version + 1,
            "decision": Decision.ANSWER,
            "decided_by": by,
            "decided_at": now,
            "edit": pack({"text": text}),
        }
        core.execute(t.reviews.update().where(t.reviews.c.id == review.id).values(**decided))
        record_event(core, desk, "review.answer", run_id, by, {"review": review.id}, now)


def _mail_answer(
    core: sa.Connection, desk: str, chat: str, name: str, text: str, now: float
) -> None:
    """Where the visitor left an address, the answer goes there as well."""
    here = sa.and_(t.chats.c.desk == desk, t.chats.c.id == chat)
    address = core.execute(sa.select(t.chats.c.address).where(here)).scalar()
    if not address:
        return
    mail = ChatMail(
        key=new_id("chatmail", at=now),
        chat=chat,
        kind=ChatMailKind.ANSWER,
        address=address,
        subject=name,
        text=text,
        until=now + _MAIL_WITHIN,
    )
    chat_mails.queue(core, desk, mail, now)


def check_silence(core: sa.Connection, desk: str, chat: str, run_id: str) -> None:
    """Raise ToolError where a colleague has the chat and nobody decided about this run.

    The last look before the program's words are said, in the same transaction.
    """
    by = _taken_over_by(core, desk, chat)
    if by is None:
        return
    decided = (
        sa.select(t.reviews.c.id)
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(t.runs.c.desk == desk, t.runs.c.id == run_id, t.reviews.c.decision.is_not(None))
    )
    if core.execute(decided.limit(1)).first() is None:
        raise ToolError("taken_over", f"{by} has taken this chat over", recoverable=False)


def writer_of(core: sa.Connection, desk: str, run_id: str) -> tuple[str, str | None]:
    """Who wrote what a run answers: the colleague who decided so, else the program."""
    written = (Decision.ANSWER, Decision.ACKNOWLEDGE)
    query = (
        sa.select(t.reviews.c.decided_by)
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(
            t.runs.c.desk == desk,
            t.runs.c.id == run_id,
            t.reviews.c.decision.in_(written),
            t.reviews.c.kind != ReviewKind.REPLY,
        )
        .order_by(t.reviews.c.decided_at.desc())
        .limit(1)
    )
    by = core.execute(query).scalar()
    return (DESK, None) if by is None else (PERSON, str(by))


def standing(core: sa.Connection, desk: str, chat: str) -> ChatStanding:
    """Who answers now; the name is the one that the colleague's newest line has."""
    by = _taken_over_by(core, desk, chat)
    if by is not None:
        columns = t.chat_lines.c
        here = sa.and_(columns.desk == desk, columns.chat == chat, columns.author == PERSON)
        newest = sa.select(columns.name).where(here).order_by(columns.number.desc()).limit(1)
        by = core.execute(newest).scalar() or by
    return ChatStanding(taken_over_by=by, waits_for_person=_open_hand_over(core, desk, chat))


def _taken_over_by(core: sa.Connection, desk: str, chat: str) -> str | None:
    here = sa.and_(t.conversations.c.desk == desk, t.conversations.c.id == chat)
    return core.execute(sa.select(t.conversations.c.taken_over_by).where(here)).scalar()


def _hand_overs(desk: str, chat: str) -> sa.Select[Any]:
    return sa.select(t.reviews.c.id).where(
        t.reviews.c.desk == desk,
        t.reviews.c.conversation == chat,
        t.reviews.c.state == ReviewState.OPEN,
        t.reviews.c.kind == ReviewKind.HAND_OVER,
    )


def _open_hand_over(core: sa.Connection, desk: str, chat: str) -> bool:
    return core.execute(_hand_overs(desk, chat).limit(1)).first() is not None


def joins_open_hand_over(
    core: sa.Connection, desk: str, chat: str, position: int, now: float
) -> bool:
    """Whether a run of a chat needs no hand-over of its own: one is open, and the run ends in it.

    The open one is locked: an answer that is given at the same time either has this message before
    it, or leaves it a hand-over of its own.
    """
    is_chat = sa.select(t.chats.c.id).where(t.chats.c.desk == desk, t.chats.c.id == chat)
    if core.execute(is_chat).first() is None:
        return False
    if core.execute(_hand_overs(desk, chat).with_for_update()).first() is None:
        return False
    values = {"status": RunStatus.DONE, "reason": JOINED, "updated_at": now}
    core.execute(t.runs.update().where(t.runs.c.position == position).values(**values))
    return True


HAND_OVER_ON_POSTGRES = """
SELECT v.id FROM reviews v
JOIN chats c ON c.desk = v.desk AND c.id = v.conversation
WHERE v.desk = $1 AND v.conversation = $2 AND v.state = 'open' AND v.kind = 'hand_over'
FOR UPDATE OF v
"""
JOIN_ON_POSTGRES = """
UPDATE runs SET status = 'done', reason = $2, updated_at = $3 WHERE position = $1
"""
"""Both together are `joins_open_hand_over` for the writer that speaks to PostgreSQL itself."""


def people_since(core: sa.Connection, desk: str, chat: str, message_id: str) -> str:
    """What colleagues said between this message and the visitor's next one."""
    columns = t.chat_lines.c
    said = sa.and_(columns.desk == desk, columns.key == message_id, columns.chat == chat)
    number = core.execute(sa.select(columns.number).where(said)).scalar()
    if number is None:
        return ""
    later = sa.and_(columns.desk == desk, columns.chat == chat, columns.number > number)
    query = sa.select(columns.author, columns.text).where(later).order_by(columns.number).limit(50)
    texts: list[str] = []
    for line in core.execute(query):
        if line.author == VISITOR:
            break
        if line.author == PERSON:
            texts.append(line.text)
    return "\n\n".join(texts)
