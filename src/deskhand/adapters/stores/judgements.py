"""Rows about what a reply was worth, written in the transaction of what they are about."""

from dataclasses import asdict, replace
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.adapters.stores.statements import mark_run
from deskhand.model.judgement import AFTERWARDS, RETURNED, Judged, Judgement
from deskhand.model.message import REPLY
from deskhand.model.run import EXPIRY, Decision, Review, ReviewKind, Verdict

_JUDGED = {
    Decision.APPROVE: Judged.UNCHANGED,
    Decision.EDIT: Judged.EDITED,
    Decision.REVISE: Judged.REVISED,
    Decision.REJECT: Judged.REJECTED,
    Decision.TAKE_OVER: Judged.TAKEN_OVER,
}


def keep(core: sa.Connection, desk: str, judgement: Judgement) -> bool:
    """Once for a run and a kind of judgement; False when it was there, or there is no such run."""
    position = core.execute(
        sa.select(t.runs.c.position).where(t.runs.c.id == judgement.run_id, t.runs.c.desk == desk)
    ).scalar()
    if position is None:
        return False
    values = {
        name: value for name, value in asdict(judgement).items() if name not in ("id", "run_id")
    }
    values |= {
        "desk": desk,
        "run": position,
        "facts": int(judgement.facts),
        "counts": int(judgement.counts),
    }
    mark_run(core, judgement.run_id)
    return insert_if_new(core, t.judgements, values)


def judge_decision(core: sa.Connection, review: Review, verdict: Verdict, now: float) -> None:
    """A person decided about a reply: that says how good it was."""
    judged = _JUDGED.get(verdict.decision)
    reply = review.payload.get(REPLY)
    if (
        review.kind is not ReviewKind.REPLY
        or verdict.by == EXPIRY
        or judged is None
        or not isinstance(reply, dict)
    ):
        return
    share, facts = 0.0, False
    if judged is Judged.EDITED:
        written, sent = _text(reply), _text({**reply, **(verdict.edit or {})})
        share, facts = _difference(written, sent)
        judged = Judged.EDITED if share or facts else Judged.UNCHANGED
    judgement = about(review, judged, now, share=share, facts=facts)
    if verdict.reported:
        judgement = replace(judgement, counts=False)
    keep(core, review.desk, judgement)


def judge_answer(
    core: sa.Connection, review: Review, text: str | None, sent_draft: bool, now: float
) -> None:
    """A person answered from a mail program while the desk's reply waited: sent its draft,
    perhaps changed, or not."""
    reply = review.payload.get(REPLY)
    if review.kind is not ReviewKind.REPLY or not isinstance(reply, dict):
        return
    share, facts = (1.0, True) if text is None else _difference(_own_words(reply), text)
    if not sent_draft:
        judged = Judged.TAKEN_OVER
    elif text is None:
        return
    else:
        judged = Judged.EDITED if share or facts else Judged.UNCHANGED
    keep(core, review.desk, about(review, judged, now, share=share, facts=facts))


def _own_words(reply: dict[str, Any]) -> str:
    from deskhand.mail.reply import visible_reply  # who lists runs does not wait for it

    return visible_reply(str(reply.get("text", "")))


def _difference(written: str, sent: str) -> tuple[float, bool]:
    """How much was changed, and whether facts were."""
    from deskhand.trust.difference import changes_facts, share_changed

    return share_changed(written, sent), changes_facts(written, sent)


def about(
    review: Review, judged: Judged, now: float, *, share: float = 0.0, facts: bool = False
) -> Judgement:
    payload = review.payload
    return Judgement(
        run_id=review.run_id,
        category=str(review.facts.get("category") or ""),
        language=str(payload[REPLY].get("language") or review.facts.get("language") or ""),
        mode=str(payload.get("mode") or ""),
        judged=judged,
        share=share,
        facts=facts,
        counts=payload.get("counts") is True,
        at=now,
    )


def note_afterwards(
    core: sa.Connection, desk: str, run_id: str, judged: Judged, now: float, *, drawn: bool = False
) -> bool:
    """What is known of a reply that left by itself: it came back, or somebody looked at it.

    False when it was sent otherwise, or this is known. `drawn` says that nobody chose it.
    """
    assert judged in (*RETURNED, *AFTERWARDS)
    left = core.execute(
        sa.select(t.judgements.c.category, t.judgements.c.language, t.judgements.c.mode)
        .join(t.runs, t.runs.c.position == t.judgements.c.run)
        .where(t.runs.c.id == run_id, t.runs.c.desk == desk, t.judgements.c.judged == Judged.SENT)
    ).first()
    if left is None:
        return False
    judgement = Judgement(
        run_id, left.category, left.language, left.mode, judged, counts=drawn, at=now
    )
    return keep(core, desk, judgement)


def _text(reply: dict[str, Any]) -> str:
    return f"{reply.get('subject') or ''}\n{reply.get('text') or ''}"
