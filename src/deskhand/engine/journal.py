"""Rows of a run: making, chaining, verifying and folding them into states. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from pydantic import ValidationError

from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.ids import random_bytes
from deskhand.model.outcome import Outcome
from deskhand.model.run import StepRow
from deskhand.model.spec import END

DECISION = "@decision"
ADOPTION = "@adopt"
ANSWER = "answer_by_person"
"""The only stage of the flow by which a person's own answer leaves, and its output."""


def seed(run_id: str, message_digest: bytes) -> bytes:
    """Where a run's chain begins, so that neither a row nor the message can be exchanged."""
    return sha256(run_id.encode() + b"\0" + message_digest).digest()


def make_row(
    run_id: str,
    seq: int,
    name: str,
    result: StageResult,
    *,
    attempt: int,
    flow_version: str,
    started_at: float,
    latency_ms: float,
    previous: bytes,
) -> StepRow:
    body = result.model_dump_json(exclude_defaults=True).encode()
    salt = random_bytes()
    digest = sha256(salt + body).digest()
    outcome = str(result.outcome)
    chain = link(
        previous, digest, seq, name, attempt, outcome, flow_version, started_at, latency_ms
    )
    return StepRow(
        run_id,
        seq,
        name,
        attempt,
        outcome,
        flow_version,
        started_at,
        latency_ms,
        body,
        salt,
        digest,
        chain,
    )


def link(previous: bytes, body_digest: bytes, *header: object) -> bytes:
    """The chain's value after a row: covers its header, and its body through the digest."""
    return sha256(previous + body_digest + "\0".join(map(repr, header)).encode()).digest()


def _relink(previous: bytes, row: StepRow) -> bytes:
    header = (
        row.seq,
        row.name,
        row.attempt,
        row.outcome,
        row.flow_version,
        row.started_at,
        row.latency_ms,
    )
    return link(previous, row.body_digest, *header)


def result_of(row: StepRow) -> StageResult:
    """What the step recorded; after an erasure nothing but its outcome is left."""
    if row.body is None:
        return StageResult.model_validate({"outcome": row.outcome})
    return StageResult.model_validate_json(row.body)


def ends_pass(result: StageResult) -> bool:
    """Nothing comes after it but the run's end, or its wait, so that its row is written with
    that."""
    if result.waits_for is not None:
        return True
    if result.outcome is Outcome.TERMINATE:
        return not result.asks_a_person
    return result.outcome.is_success and result.next in (None, END)


def storing_problem(error: ValueError) -> str:
    """Why a result cannot be a row, without the input that pydantic quotes: it may be a
    customer's."""
    if isinstance(error, ValidationError):
        return error.errors(include_input=False)[0]["msg"]
    return str(error).encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class JournalProblem:
    """A place where a run's records are not what was written."""

    run_id: str
    seq: int | None
    what: str


def _is_body_intact(row: StepRow) -> bool:
    """Whether the body is the one of the digest, or was taken away together with its salt."""
    if row.body is None or row.salt is None:
        return row.body is None and row.salt is None
    return sha256(row.salt + row.body).digest() == row.body_digest


def verify(run_id: str, message_digest: bytes, rows: Sequence[StepRow]) -> list[JournalProblem]:
    """Every broken link, changed body and gap in one run's journal.

    Erased rows are verified by their digests.
    """
    problems: list[JournalProblem] = []
    head = seed(run_id, message_digest)
    for expected, row in enumerate(rows):
        if row.seq != expected:
            return [*problems, JournalProblem(run_id, expected, f"row {expected} is missing")]
        if not _is_body_intact(row):
            problems.append(
                JournalProblem(run_id, row.seq, f"the body of step {row.name!r} was changed")
            )
        head = _relink(head, row)
        if head != row.chain:
            problems.append(
                JournalProblem(run_id, row.seq, f"the chain is broken at step {row.name!r}")
            )
            head = row.chain
    return problems


class State(NamedTuple):
    """One step with the full state it met and left."""

    row: StepRow
    result: StageResult
    before: Envelope
    after: Envelope


def states(first: Envelope, rows: Iterable[StepRow]) -> Iterator[State]:
    envelope = first
    for row in rows:
        result = result_of(row)
        after = envelope.apply(result.delta)
        yield State(row, result, envelope, after)
        envelope = after


def fold(first: Envelope, rows: Iterable[StepRow]) -> Envelope:
    envelope = first
    for row in rows:
        envelope = envelope.apply(result_of(row).delta)
    return envelope
