"""What the hot path writes to PostgreSQL, row by row.

A row's fields are in the order of the columns its statement unnests. `columns_of` is the one place
that turns rows into the arrays that the statements take.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from deskhand.adapters.stores.attachments import NewFile
from deskhand.model.totals import CountedEffect


def columns_of(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """One array for each field; at least one row is needed."""
    return [list(column) for column in zip(*rows, strict=True)]


class RunRow(NamedTuple):
    id: str
    desk: str
    message_key: bytes
    conversation: str
    flow: str
    now: float


class MessageRow(NamedTuple):
    run: int
    desk: str
    sender: str
    body: bytes
    salt: bytes
    body_digest: bytes


class Acceptance(NamedTuple):
    """A message and the run it gives, unless it was accepted before."""

    run: RunRow
    sender: str
    body: bytes
    salt: bytes
    body_digest: bytes
    files: tuple[NewFile, ...] = ()

    def message_at(self, position: int) -> MessageRow:
        return MessageRow(
            position, self.run.desk, self.sender, self.body, self.salt, self.body_digest
        )


class ClaimRow(NamedTuple):
    run_id: str
    desk: str
    owner: str
    versions: str
    """The version of each flow, as JSON."""
    now: float
    in_order: bool
    """Only the first active run of a conversation is given."""
    max_crashes: int


class Claim(NamedTuple):
    wanted: ClaimRow
    leased: bool
    """The desk's lease must still be the owner's."""


class StepWrite(NamedTuple):
    run_id: str
    desk: str
    owner: str
    seq: int
    name: str
    attempt: int
    outcome: str
    flow_version: str
    started_at: float
    latency_ms: float
    body: bytes | None
    salt: bytes | None
    body_digest: bytes
    chain: bytes


class FinishRow(NamedTuple):
    run_id: str
    desk: str
    owner: str
    status: str
    reason: str | None
    error_code: str | None
    now: float
    due_at: float | None
    waits_for: str | None


class ReviewRow(NamedTuple):
    id: str
    desk: str
    kind: str
    reason: str
    payload: bytes
    payload_hash: str
    seq: int
    created_at: float
    expires_at: float | None
    fallback: str | None
    causes: str
    facts: bytes
    rank: int
    deadline: float
    category: str | None
    language: str | None


class Finish(NamedTuple):
    """The end of a run, with its last steps and the review it waits for, if any."""

    end: FinishRow
    review: ReviewRow | None
    steps: tuple[StepWrite, ...]


class OwnedRun(NamedTuple):
    run_id: str
    desk: str
    owner: str


class EffectRow(NamedTuple):
    run_id: str
    desk: str
    owner: str
    seq: int
    call: int
    tool: str
    call_hash: str
    now: float


class Intention(NamedTuple):
    effect: EffectRow
    counted: CountedEffect | None
    """What the effect adds to the totals; None where nothing is counted."""


class Settlement(NamedTuple):
    run_id: str
    desk: str
    seq: int
    call: int
    state: str
    result: bytes | None
    now: float


class LlmCallRow(NamedTuple):
    desk: str
    run_id: str | None
    stage: str
    call_type: str
    model: str
    request_digest: str
    prompt_tokens: int
    completion_tokens: int
    cost: float
    latency_ms: float
    error: str | None
    at: float
    answer: bytes | None
    cached_tokens: int
    reasoning_tokens: int
