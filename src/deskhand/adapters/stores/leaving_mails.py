"""Mails that are about to leave: what proves that one did, or did not, and what a person says."""

from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.rows import pack
from deskhand.model.codes import ErrorCode
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.model.run import (
    Decision,
    EffectKey,
    EffectState,
    Review,
    ReviewKind,
    RunStatus,
    Verdict,
)


def ledger_row(desk: str, key: EffectKey) -> sa.ColumnElement[bool]:
    """The condition that finds a delivery in the ledger."""
    run = sa.select(t.runs.c.position).where(t.runs.c.id == key.run_id, t.runs.c.desk == desk)
    return sa.and_(
        t.effects.c.run == run.scalar_subquery(),
        t.effects.c.seq == key.seq,
        t.effects.c.call == key.index,
    )


def mark_leaving(
    core: sa.Connection, desk: str, owner: str, key: EffectKey, at: float | None
) -> bool:
    """Note that a reply is about to leave, or with None that it did not; False when its run is
    another process's by now."""
    is_ours = sa.exists().where(
        t.runs.c.id == key.run_id,
        t.runs.c.desk == desk,
        t.runs.c.owner == owner,
        t.runs.c.status == RunStatus.RUNNING,
    )
    marked = core.execute(
        t.effects.update().where(ledger_row(desk, key), is_ours).values(leaving_at=at)
    )
    return marked.rowcount == 1


def settle_doubt(core: sa.Connection, review: Review, verdict: Verdict, now: float) -> None:
    """Write what somebody knows about a reply that may have left into the ledger: that it did, or
    that it did not and may be sent."""
    if review.kind is not ReviewKind.DELIVERY:
        return
    key = key_of(str(review.payload.get("effect_key") or ""))
    if key is None:
        return
    values: dict[str, Any] = {"updated_at": now}
    if verdict.decision is Decision.LEFT:
        result = ToolResult.success({"delivered": str(key), "confirmed_by": verdict.by})
        values |= {"state": EffectState.DONE, "result": pack(result.model_dump(mode="json"))}
    elif verdict.decision is Decision.SEND_AGAIN:
        result = ToolResult.failure(
            ToolErrorDetails(
                error_type=ErrorCode.TOOL_FAILED,
                message=f"it did not leave, says {verdict.by}",
                recoverable=True,
            )
        )
        values |= {"state": EffectState.FAILED, "result": pack(result.model_dump(mode="json"))}
        values |= {"leaving_at": None}
    else:
        return
    is_open = t.effects.c.state != EffectState.DONE
    core.execute(t.effects.update().where(ledger_row(review.desk, key), is_open).values(**values))


def key_of(text: str) -> EffectKey | None:
    """The key that this text names; None where it names none."""
    run_id, seq, index = (*text.split("."), "", "", "")[:3]
    if not (run_id and seq.isdecimal() and index.isdecimal()):
        return None
    return EffectKey(run_id, int(seq), int(index))
