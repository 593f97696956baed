"""Between what stands in rows and model types, by plain values: needs no library of databases."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from deskhand.model.causes import Cause, rank_of
from deskhand.model.run import (
    Decision,
    Review,
    ReviewKind,
    ReviewState,
    Run,
    RunStatus,
    deadline_of,
)

_CAUSES = frozenset(map(str, Cause))

RUN_FIELDS = tuple(field.name for field in fields(Run))
REVIEW_FIELDS = tuple(field.name for field in fields(Review) if field.name != "run_id")
"""The columns of a review's row that a review is made of."""


def pack(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def unpack(body: bytes | None) -> Any:
    return None if body is None else json.loads(body)


def run_of(values: Iterable[Any]) -> Run:
    """A run from the columns of RUN_FIELDS, in that order."""
    named = dict(zip(RUN_FIELDS, values, strict=True))
    named["message_key"] = bytes(named["message_key"]).hex()
    named["status"] = RunStatus(named["status"])
    return Run(**named)


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
        causes=read_causes(row.causes),
        facts=unpack(row.facts) or {},
        assignee=row.assignee,
        snoozed_until=row.snoozed_until,
    )


def read_causes(written: str | None) -> tuple[Cause, ...]:
    """The causes in a column, without those that only another version knows."""
    return tuple(Cause(cause) for cause in (written or "").split() if cause in _CAUSES)


def _decision(value: str | None) -> Decision | None:
    return Decision(value) if value else None


def queue_columns(
    kind: str, causes: Iterable[str], facts: dict[str, Any] | None, expires_at: float | None
) -> dict[str, Any]:
    """Where a review with these stands in the queue: columns of its row, written whenever one of
    these is. An index finds the next review by them."""
    given_facts = facts or {}
    is_action = kind == ReviewKind.TOOL_CALL
    return {
        "rank": int(rank_of(read_causes(" ".join(causes)), action=is_action)),
        "deadline": deadline_of(expires_at, given_facts),
        "category": _text(given_facts.get("category")),
        "language": _text(given_facts.get("language")),
    }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
