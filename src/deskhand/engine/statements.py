"""Statements: the digests of a run's records at the moments it came to rest or was changed there.

Each is linked to the one before, so that neither a record nor a statement can be exchanged
unnoticed. Pure functions.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from deskhand.engine.journal import JournalProblem
from deskhand.model.audited import DeskRecords, Journaled, Statement, StatementKind

STATUS = "status"
STEPS = "steps"
RUN = "run"
PREVIOUS = "previous"
"""In the only statement of a pruned run: the link that it follows."""
REOPENED = "reopened"
"""In a statement of that kind: the effect that failed before and is tried again."""
BEGUN = "begun"
CALLS_BEGUN = "begun llm_calls"
"""In a statement of a desk: up to where model calls of no run came before they were stated."""
TICKETS_BEGUN = "begun ticket_events"
"""In a statement of a desk: the tickets that had events before those were stated."""
OPEN = "~"
"""Before the digest of a record that may still change while the run is worked."""

AT_WORK = ("queued", "running")
_MAY_CHANGE = frozenset((STATUS, STEPS, RUN))
_BYTES_OF_DIGEST = 15

_EMPTIES_STEPS = (StatementKind.ERASED, StatementKind.WORK_ERASED, StatementKind.STEPS_PRUNED)
_MAY_TAKE_AWAY = (
    *_EMPTIES_STEPS,
    StatementKind.CALLS_PRUNED,
    StatementKind.ATTACHMENTS_PRUNED,
    StatementKind.PRUNED,
)


def record_digest(salt: bytes | None, values: Sequence[Any]) -> str:
    """Says nothing about the values to whoever does not have the salt."""
    text = _ENCODER.encode(values)
    digest = sha256((salt or b"") + text.encode()).digest()
    return urlsafe_b64encode(digest[:_BYTES_OF_DIGEST]).decode()


def _hex(value: Any) -> str:
    return bytes(value).hex()


_ENCODER = json.JSONEncoder(default=_hex)


def steps_record(count: int, chain: bytes | None) -> str:
    return f"{count}:{(chain or b'').hex()}"


def make_statement(
    previous: Statement | None,
    of: str,
    kind: StatementKind,
    at: float,
    records: Mapping[str, str],
    salt: bytes | None = None,
) -> Statement:
    """The next statement of a run, or of a desk."""
    number = 0 if previous is None else previous.number + 1
    head = _first_link(of) if previous is None else previous.chain
    if kind is StatementKind.PRUNED:
        records = {**records, PREVIOUS: head.hex()}
    body = json.dumps(records, sort_keys=True, separators=(",", ":"))
    return Statement(number, str(kind), at, body, _link(head, number, kind, at, body), salt)


def _first_link(of: str) -> bytes:
    return sha256(f"statements\0{of}".encode()).digest()


def _link(previous: bytes, number: int, kind: str, at: float, body: str) -> bytes:
    return sha256(previous + f"{number}\0{kind}\0{at!r}\0{body}".encode()).digest()


def head_of_statements(of: str, statements: Sequence[Statement], count: int) -> bytes | None:
    """The link after so many statements; None where it is not there."""
    if count == 0:
        return _first_link(of)
    if is_pruned(statements) and count == statements[0].number:
        return _pruned_before(statements[0])
    for statement in statements:
        if statement.number == count - 1:
            return statement.chain
    return None


def is_pruned(statements: Sequence[Statement]) -> bool:
    """Whether the statements before went with the run's rows."""
    return bool(statements) and statements[0].kind == StatementKind.PRUNED


def count_of(statements: Sequence[Statement]) -> int:
    return statements[-1].number + 1 if statements else 0


# --- verifying


def check_statements(journaled: Journaled, *, is_legacy: bool) -> list[JournalProblem]:
    """Whatever differs between a run's records and what was stated about them.

    `is_legacy`: the run is older than statements; where there is none, nothing is compared.
    """
    run_id = journaled.run_id
    problems = _broken_links(run_id, run_id, journaled.statements)
    problems += _taken_away_silently(journaled, is_legacy=is_legacy)
    if not journaled.statements:
        if not is_legacy and journaled.records[STATUS] not in AT_WORK:
            what = f"the run is {journaled.records[STATUS]}, which nothing states"
            problems.append(JournalProblem(run_id, None, what))
        return problems
    stated = [_records_of(statement) for statement in journaled.statements]
    for number, (before, after) in enumerate(pairwise(stated), 1):
        statement = journaled.statements[number]
        if statement.kind not in _MAY_TAKE_AWAY:
            reopened = _reopened_in(statement, after)
            names = [name for name in _frozen_changes(before, after) if name != reopened]
            problems += [JournalProblem(run_id, None, _difference(name, after)) for name in names]
    return problems + _compare_with_last(journaled, stated[-1])


def _compare_with_last(journaled: Journaled, stated: dict[str, str]) -> list[JournalProblem]:
    now = journaled.records
    if stated.get(STATUS) in AT_WORK and now[STATUS] in AT_WORK:
        names = _frozen_changes(stated, now)
    else:
        names = sorted(name for name in {*stated, *now} if stated.get(name) != now.get(name))
    return [
        JournalProblem(journaled.run_id, None, _difference(name, now, stated)) for name in names
    ]


def _frozen_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    frozen = {name: digest for name, digest in before.items() if name not in _MAY_CHANGE}
    changed = []
    for name, digest in sorted(frozen.items()):
        is_open = digest.startswith(OPEN)
        if name not in after or (not is_open and after[name] != digest):
            changed.append(name)
    return changed


def _reopened_in(statement: Statement, records: Mapping[str, str]) -> str | None:
    """The effect that a statement says is tried again; None where it says so of nothing that may
    change."""
    if statement.kind != StatementKind.REOPENED:
        return None
    name = _body_of(statement.body).get(REOPENED, "")
    is_open = records.get(name, "").startswith(OPEN)
    return name if is_open else None


def _difference(name: str, now: Mapping[str, str], stated: Mapping[str, str] | None = None) -> str:
    if name not in now:
        return f"{name} is gone"
    if stated is not None and name not in stated:
        return f"{name} was added"
    if name == STATUS and stated is not None:
        return f"the run is {now[name]}, but {stated[name]} was stated"
    return f"{name} was changed"


def is_settled_in(body: str, name: str, digest: str | None) -> bool:
    """Whether the body of a statement calls a record settled, with this digest."""
    stated = _body_of(body).get(name)
    return stated is not None and stated == digest and not stated.startswith(OPEN)


def _records_of(statement: Statement) -> dict[str, str]:
    """The digests of the records, without what a statement says beside them."""
    records = _body_of(statement.body)
    return {name: records[name] for name in records if name not in (PREVIOUS, REOPENED)}


def _body_of(text: str) -> dict[str, str]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    return {str(name): str(value) for name, value in body.items()}


def _broken_links(of: str, run_id: str, statements: Sequence[Statement]) -> list[JournalProblem]:
    if not statements:
        return []
    first = statements[0]
    head = _first_link(of)
    number = 0
    if is_pruned(statements):
        head, number = _pruned_before(first), first.number
    problems: list[JournalProblem] = []
    for expected, statement in enumerate(statements, number):
        if statement.number != expected:
            return [*problems, JournalProblem(run_id, None, f"statement {expected} is missing")]
        head = _link(head, statement.number, statement.kind, statement.at, statement.body)
        if head != statement.chain:
            problems.append(JournalProblem(run_id, None, f"statement {expected} was changed"))
            head = statement.chain
    return problems


def _pruned_before(statement: Statement) -> bytes:
    try:
        return bytes.fromhex(json.loads(statement.body)[PREVIOUS])
    except (ValueError, KeyError, TypeError):
        return b""


def _taken_away_silently(journaled: Journaled, *, is_legacy: bool) -> list[JournalProblem]:
    """Bodies that are gone although no erasure and no pruning is on record."""
    if is_legacy or journaled.pruned is not None:
        return []
    kinds = {statement.kind for statement in journaled.statements}
    problems: list[JournalProblem] = []
    if journaled.message_body is None and StatementKind.ERASED not in kinds:
        what = "the message is gone, and no erasure is on record"
        problems.append(JournalProblem(journaled.run_id, None, what))
    emptied = _emptied_steps(journaled.statements)
    for row in journaled.rows:
        if row.body is None and row.seq >= emptied:
            what = f"the body of step {row.name!r} is gone, and no erasure is on record"
            problems.append(JournalProblem(journaled.run_id, row.seq, what))
    return problems


def _emptied_steps(statements: Iterable[Statement]) -> int:
    """How many steps were there when bodies were last taken away as they should."""
    counts = [0]
    for statement in statements:
        if statement.kind in _EMPTIES_STEPS:
            count = _records_of(statement).get(STEPS, "").partition(":")[0]
            counts.append(int(count) if count.isdecimal() else 0)
    return max(counts)


def check_desk(desk: str, kept: DeskRecords) -> list[JournalProblem]:
    """Whatever differs between a desk's own records and what was stated about them."""
    problems = _broken_links(f"@{desk}", "", kept.statements)
    newest: dict[str, tuple[str, bytes | None]] = {}
    for statement in kept.statements:
        for name, digest in _records_of(statement).items():
            newest[name] = (digest, statement.salt)
    before = _older_records(newest)
    for name, values in kept.records.items():
        stated, salt = newest.pop(name, (None, None))
        if stated is None:
            table, _, key = name.partition(" ")
            if not _is_older(key, before.get(table)):
                problems.append(JournalProblem("", None, f"{name} was added"))
        elif stated == "":
            problems.append(JournalProblem("", None, f"{name} was added"))
        elif record_digest(salt, values) != stated:
            problems.append(JournalProblem("", None, f"{name} was changed"))
    gone = [name for name, (digest, _) in newest.items() if digest]
    return problems + [JournalProblem("", None, f"{name} is gone") for name in sorted(gone)]


def _older_records(newest: dict[str, tuple[str, bytes | None]]) -> dict[str, Any]:
    """Takes out what was stated about records that came before statements, by table."""
    before: dict[str, Any] = {}
    for name in (BEGUN, CALLS_BEGUN, TICKETS_BEGUN):
        begun = newest.pop(name, ("{}", None))[0]
        if begun.startswith("{"):
            before |= json.loads(begun)
    return before


def _is_older(key: str, last: object) -> bool:
    """Whether a record came before statements were written."""
    if isinstance(last, int) and key.isdecimal():
        return int(key) <= last
    return isinstance(last, list) and key in last


def stated_since(statements: Sequence[Statement]) -> float | None:
    """When a desk that is older than statements got them; None for one that always had them."""
    for statement in statements:
        if statement.kind == StatementKind.BEGUN and statement.number == 0:
            return statement.at
    return None


def legacy_position(statements: Sequence[Statement]) -> int:
    """The position of the last run that came before statements were written."""
    for statement in statements:
        if statement.kind == StatementKind.BEGUN and statement.number == 0:
            begun = json.loads(_records_of(statement).get(BEGUN, "{}"))
            return int(begun.get("runs", 0))
    return 0
