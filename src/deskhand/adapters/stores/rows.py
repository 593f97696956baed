"""Between database rows and model types."""

from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.record_values import REVIEW_FIELDS, RUN_FIELDS
from deskhand.adapters.stores.record_values import pack as pack
from deskhand.adapters.stores.record_values import review_of as review_of
from deskhand.adapters.stores.record_values import run_of as run_of
from deskhand.adapters.stores.record_values import unpack as unpack
from deskhand.model.access import Role, User
from deskhand.model.money import Money
from deskhand.model.run import Effect, EffectKey, EffectState, Event, LlmCall, StepRow

Row = sa.Row[Any]


RUN_COLUMNS = tuple(t.runs.c[name] for name in RUN_FIELDS)
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


REVIEW_COLUMNS = tuple(t.reviews.c[name] for name in REVIEW_FIELDS)
"""What a review is made of; the text that it is searched by may be long and stays behind."""


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
        cached_tokens=row.cached_tokens or 0,
        reasoning_tokens=row.reasoning_tokens or 0,
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


def user_of(row: sa.Row[Any]) -> User:
    limit = Money.of(row.limit) if row.limit else None
    return User(
        row.name,
        tuple(row.desks.split()),
        row.created_at,
        row.removed_at,
        role=Role(row.role or Role.APPROVER),
        limit=limit,
        mail=row.mail,
    )
