"""Between database rows and model types."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.causes import Cause
from deskhand.model.run import (
    Decision,
    Effect,
    EffectKey,
    EffectState,
    Event,
    LlmCall,
    Review,
    ReviewKind,
    ReviewState,
    Run,
    RunStatus,
    StepRow,
)

Row = sa.Row[Any]
_CAUSES = frozenset(map(str, Cause))


def pack(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def unpack(body: bytes | None) -> Any:
    return None if body is None else json.loads(body)


RUN_FIELDS = tuple(field.name for field in fields(Run))
RUN_COLUMNS = tuple(t.runs.c[name] for name in RUN_FIELDS)


def run_of(values: Iterable[Any]) -> Run:
    """A run from the columns of RUN_COLUMNS, in that order."""
    named = dict(zip(RUN_FIELDS, values, strict=True))
    named["message_key"] = bytes(named["message_key"]).hex()
    named["status"] = RunStatus(named["status"])
    return Run(**named)


STEP_COLUMNS = tuple(column for column in t.steps.c if column.name not in ("run", "desk"))


def step_of(run_id: str, row: Any) -> StepRow:
    """Rows selected by STEP_COLUMNS, in that order."""
    return StepRow(run_id, *row)


def effect_of(run_id: str, row: Row) -> Effect:
    return Effect(
        key=EffectKey(run_id, row.seq, row.call),
        tool=row.tool,
        call_hash=row.call_hash,
        state=EffectState(row.state),
        result=unpack(row.result),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


REVIEW_COLUMNS = tuple(column for column in t.reviews.c if column.name != "search_text")
"""What a review is made of; the text that it is searched by may be long and stays behind."""


def review_of(run_id: str, row: Any) -> Review:
    """A review from a row that has the columns of REVIEW_COLUMNS."""
    return Review(
        id=row.id,
        desk=row.desk,
        run_id=run_id,
        seq=row.seq,
        conversation=row.conversation,
        kind=ReviewKind(row.kind),
        reason=row.reason,
        payload=unpack(row.payload) or {},
        payload_hash=row.payload_hash,
        state=ReviewState(row.state),
        version=row.version,
        created_at=row.created_at,
        expires_at=row.expires_at,
        fallback=_decision(row.fallback),
        decision=_decision(row.decision),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        note=row.note,
        edit=unpack(row.edit),
        signed_by=row.signed_by,
        causes=tuple(Cause(cause) for cause in (row.causes or "").split() if cause in _CAUSES),
        facts=unpack(row.facts) or {},
        assignee=row.assignee,
        snoozed_until=row.snoozed_until,
    )


def _decision(value: str | None) -> Decision | None:
    return Decision(value) if value else None


def call_of(row: Row) -> LlmCall:
    return LlmCall(
        run_id=row.run_id,
        stage=row.stage,
        call_type=row.call_type,
        model=row.model,
        request_digest=row.request_digest,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=row.cost,
        latency_ms=row.latency_ms,
        error=row.error,
        at=row.at,
        answer=unpack(row.answer),
    )


def event_of(row: Row) -> Event:
    return Event(
        kind=row.kind,
        run_id=row.run_id,
        by=row.by,
        payload=unpack(row.payload) or {},
        at=row.at,
        id=row.id,
    )
