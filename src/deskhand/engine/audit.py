"""Proves that records are unchanged: a hash chain for each run, keyed seals over all of them."""

import hmac
import os
import time
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from deskhand.engine.journal import JournalProblem, seed, verify
from deskhand.engine.seal_checks import (
    ACCOUNTS,
    CONSOLE_LINE,
    SealedHead,
    check_console,
    missing_seals,
)
from deskhand.engine.statements import (
    AT_WORK,
    STATUS,
    check_desk,
    check_statements,
    count_of,
    head_of_statements,
    is_pruned,
    legacy_position,
    stated_since,
)
from deskhand.errors import ConfigError
from deskhand.model.audited import PRUNED, Journaled, LoweredTotal, PrunedHead, Seal, Statement
from deskhand.model.totals import is_money, shown
from deskhand.ports import Archive

PAGE = 200
DESK_LINE = "@desk"
"""In a seal: the line about what belongs to the desk and to no run."""
BINDING_TOTALS = 2 * 86_400
"""Seconds: caps are held against the totals of a day, wherever on earth it began."""
KEY_VARIABLE = "DESKHAND_SEAL_KEY"
SHORTEST_KEY = 16


def key_from_environment() -> bytes | None:
    """The sealing key that the environment gives, if any; ConfigError where it is too short."""
    given = os.environ.get(KEY_VARIABLE)
    return check_key(given.strip().encode(), KEY_VARIABLE) if given else None


def check_key(key: bytes, place: object) -> bytes:
    """The key itself; ConfigError unless it is long enough."""
    if len(key) < SHORTEST_KEY:
        raise ConfigError(
            f"the key in {place} has {len(key)} bytes", fix=f"use at least {SHORTEST_KEY}"
        )
    return key


@dataclass(frozen=True, slots=True)
class NewestSeal:
    """How far the records are sealed; to be compared with what was written down elsewhere."""

    id: int
    at: float
    runs: int
    mac: str


@dataclass(slots=True)
class AuditReport:
    runs: int = 0
    rows: int = 0
    records: int = 0
    """Other records of runs: statuses, reviews, effects, events, model calls, files, judgements."""
    at_work: int = 0
    """Runs that are queued or running: what they record is stated when they come to rest."""
    unstated_runs: int = 0
    """Runs older than statements: of them only messages and rows are verified."""
    stated_since: float | None = None
    """When statements began to be written, where there are runs that are older."""
    unsealed_statements: int = 0
    outside_seals: int | None = None
    """Seals kept elsewhere that were compared."""
    erased: int = 0
    """Rows whose body was erased; they verify by their digests."""
    seals: int = 0
    seals_checked: bool = False
    """Whether a key was given: without it a forged seal would not be seen."""
    newest_seal: NewestSeal | None = None
    unsealed_runs: int = 0
    """Runs with rows that no seal covers."""
    unsealed_rows: int = 0
    """Rows that could be missing at the end of a run, or with it, without a sign."""
    newest_row_at: float | None = None
    pruned_runs: int = 0
    """Runs whose rows went for their age; where their chains ended is sealed."""
    pruned_rows: int = 0
    pruned_at: float | None = None
    """When the last of them went."""
    unsigned_seals: int = 0
    """Seals of pruned runs that nobody signed, for want of a key."""
    problems: list[JournalProblem] = field(default_factory=list[JournalProblem])

    @property
    def ok(self) -> bool:
        return not self.problems


async def verify_desk(
    store: Archive, *, key: bytes | None = None, outside: Sequence[Seal] | None = None
) -> AuditReport:
    """Check every message, row, record, chain and seal of a desk.

    `outside`: seals that were kept elsewhere. Each must be there, and cover what it covered.
    """
    report = AuditReport(seals_checked=key is not None)
    seals = list(await store.seals())
    if outside is not None:
        report.outside_seals = len(outside)
        report.problems += missing_seals(seals, outside)
        inside = {seal.id for seal in seals}
        seals += [seal for seal in outside if seal.id not in inside]
    sealed = _read_seals(store.desk, seals, key, report)
    kept = await store.desk_records()
    report.problems += check_desk(store.desk, kept)
    report.problems += _check_stated(DESK_LINE, f"@{store.desk}", kept.statements, sealed)
    accounts = await store.account_records()
    report.problems += check_desk(ACCOUNTS, accounts)
    report.problems += _check_stated(ACCOUNTS, f"@{ACCOUNTS}", accounts.statements, sealed)
    report.problems += await check_console(store, sealed.pop(CONSOLE_LINE, []))
    legacy = legacy_position(kept.statements)
    report.stated_since = stated_since(kept.statements)
    async for journaled in _journals(store):
        report.problems += _check_run(journaled, sealed, report, legacy)
    for run_id, heads in sealed.items():
        report.problems.append(
            JournalProblem(run_id, None, f"the run is gone, but seal {heads[0].seal} covers it")
        )
    for run_id, file_id in await store.changed_files():
        what = f"the content of attachment {file_id} was changed"
        report.problems.append(JournalProblem(run_id, None, what))
    for run_id, what in await store.changed_projections():
        report.problems.append(JournalProblem(run_id, None, what))
    for total in await store.lowered_totals(time.time() - BINDING_TOTALS):
        report.problems.append(JournalProblem("", None, _lowered(total)))
    return report


async def verify_run(store: Archive, position: int) -> list[JournalProblem]:
    """Check the message, rows, records and chains of one run. Seals cover desks: `verify_desk`
    looks at those."""
    [journaled] = await store.journals(after=position - 1, limit=1)
    legacy = legacy_position((await store.desk_records()).statements)
    problems = check_message(journaled)
    problems += check_statements(journaled, is_legacy=journaled.position <= legacy)
    if journaled.pruned is None:
        problems += verify(journaled.run_id, journaled.message_digest, journaled.rows)
    return problems


def _lowered(total: LoweredTotal) -> str:
    of = f"{total.unit} of {total.tool} a {total.scope} {total.day}".rstrip()
    written = shown if is_money(total.unit) else str
    is_now, least = written(total.amount), written(total.least)
    return f"the total ({of}) is {is_now}, but the effects counted {least}"


def _check_run(
    journaled: Journaled, sealed: dict[str, list[SealedHead]], report: AuditReport, legacy: int
) -> list[JournalProblem]:
    run_id = journaled.run_id
    is_legacy = journaled.position <= legacy
    report.runs += 1
    report.rows += len(journaled.rows)
    report.records += len(journaled.records)
    report.erased += sum(row.body is None for row in journaled.rows)
    report.at_work += journaled.records[STATUS] in AT_WORK
    report.unstated_runs += is_legacy and not journaled.statements
    problems = check_message(journaled)
    problems += check_statements(journaled, is_legacy=is_legacy)
    problems += _check_stated(run_id, run_id, journaled.statements, sealed, keep=True)
    heads = sealed.pop(run_id, [])
    if journaled.pruned is not None:
        _count_pruned(report, journaled.pruned)
        return problems + _check_pruned(journaled, journaled.pruned, heads)
    problems += verify(run_id, journaled.message_digest, journaled.rows)
    for head in heads:
        problems += _check_head(journaled, head)
    _count_unsealed(report, journaled, heads)
    return problems


def _check_stated(
    line: str,
    of: str,
    statements: Sequence[Statement],
    sealed: dict[str, list[SealedHead]],
    *,
    keep: bool = False,
) -> list[JournalProblem]:
    """Whether the statements are those that seals cover."""
    heads = sealed.get(line, []) if keep else sealed.pop(line, [])
    run_id = line if keep else ""
    problems: list[JournalProblem] = []
    first = statements[0].number if is_pruned(statements) else 0
    for head in heads:
        if head.stated is None or head.stated < first:
            continue
        covered = head_of_statements(of, statements, head.stated)
        if covered is None or covered.hex() != head.stated_chain:
            what = f"the statements are not those that seal {head.seal} covers"
            problems.append(JournalProblem(run_id, None, what))
    return problems


def _count_unsealed(report: AuditReport, journaled: Journaled, heads: list[SealedHead]) -> None:
    covered = max((head.rows for head in heads), default=0)
    stated = max((head.stated or 0 for head in heads), default=0)
    report.unsealed_statements += max(count_of(journaled.statements) - stated, 0)
    beyond = max(len(journaled.rows) - covered, 0)
    report.unsealed_rows += beyond
    is_stated_beyond = count_of(journaled.statements) > stated
    report.unsealed_runs += bool(beyond) or is_stated_beyond or not heads
    if journaled.rows:
        newest = journaled.rows[-1].started_at
        report.newest_row_at = max(report.newest_row_at or newest, newest)


async def seal_desk(store: Archive, key: bytes) -> Seal:
    """Store how far every chain has come, signed with a key that only the auditor has."""
    kept = (await store.desk_records()).statements
    lines = [f"{DESK_LINE} 0 - {_stated(f'@{store.desk}', kept)}"]
    accounts = (await store.account_records()).statements
    lines.append(f"{ACCOUNTS} 0 - {_stated(f'@{ACCOUNTS}', accounts)}")
    log = await store.console_log()
    lines.append(f"{CONSOLE_LINE} {log.rows} {log.chains[log.rows].hex()}")
    lines += [_line_of(journal) async for journal in _journals(store)]
    at = time.time()
    text = "\n".join(lines)
    return await store.save_seal(at, zlib.compress(text.encode()), _sign(key, store.desk, at, text))


def pruning_seal(desk: str, journals: Iterable[Journaled], at: float, key: bytes | None) -> Seal:
    """The seal that closes the chains of runs whose rows are about to go; not stored yet."""
    text = "\n".join(map(_line_of, journals))
    mac = "" if key is None else _sign(key, desk, at, text, PRUNED)
    return Seal(0, at, zlib.compress(text.encode()), mac, PRUNED)


def _line_of(journal: Journaled) -> str:
    count = len(journal.rows)
    chain = head_of_chain(journal, count)
    if journal.pruned is not None:
        count, chain, _ = journal.pruned
    stated = _stated(journal.run_id, journal.statements)
    return f"{journal.run_id} {count} {chain.hex()} {stated}"


def _stated(of: str, statements: Sequence[Statement]) -> str:
    count = count_of(statements)
    head = head_of_statements(of, statements, count) or b""
    return f"{count} {head.hex()}"


def sealed_runs(seal: Seal) -> int:
    of_no_run = (DESK_LINE, ACCOUNTS, CONSOLE_LINE)
    return sum(not line.startswith(of_no_run) for line in _lines(seal))


async def _journals(store: Archive) -> AsyncIterator[Journaled]:
    after = 0
    while page := await store.journals(after=after, limit=PAGE):
        for journaled in page:
            yield journaled
        after = page[-1].position


def _read_seals(
    desk: str, seals: Sequence[Seal], key: bytes | None, report: AuditReport
) -> dict[str, list[SealedHead]]:
    sealed: dict[str, list[SealedHead]] = {}
    for seal in seals:
        report.seals += 1
        try:
            text = zlib.decompress(seal.heads).decode()
            heads = [_head_of(line, seal.id) for line in text.split("\n") if line]
        except (zlib.error, ValueError):
            report.problems.append(JournalProblem("", None, f"seal {seal.id} cannot be read"))
            continue
        is_unsigned = seal.kind == PRUNED and not seal.mac
        report.unsigned_seals += is_unsigned
        expected = None if key is None else _sign(key, desk, seal.at, text, seal.kind)
        if expected is not None and not is_unsigned and not _same(seal.mac, expected):
            report.problems.append(
                JournalProblem("", None, f"seal {seal.id} was changed, or made with another key")
            )
        if seal.kind is None:
            report.newest_seal = NewestSeal(seal.id, seal.at, sealed_runs(seal), seal.mac)
        for run_id, head in heads:
            sealed.setdefault(run_id, []).append(head)
    return sealed


def _same(stored: str, expected: str) -> bool:
    return hmac.compare_digest(stored.encode(), expected.encode())


def _head_of(line: str, seal: int) -> tuple[str, SealedHead]:
    run_id, count, chain, *stated = line.split(" ")
    if not count.isdecimal():
        raise ValueError("a count of rows is a number")
    if not stated:
        return run_id, SealedHead(int(count), chain, seal)
    number, stated_chain = stated
    return run_id, SealedHead(int(count), chain, seal, int(number), stated_chain)


def _lines(seal: Seal) -> list[str]:
    return [line for line in zlib.decompress(seal.heads).decode().split("\n") if line]


def _sign(key: bytes, desk: str, at: float, text: str, kind: str | None = None) -> str:
    """The signature of a seal; what kind it is of is signed, too."""
    signed = text if kind is None else f"{text}\n{kind}"
    return hmac.new(key, f"{desk}\n{at!r}\n{signed}".encode(), sha256).hexdigest()


def _count_pruned(report: AuditReport, pruned: PrunedHead) -> None:
    report.pruned_runs += 1
    report.pruned_rows += pruned.rows
    report.pruned_at = max(report.pruned_at or pruned.at, pruned.at)


def _check_pruned(
    journaled: Journaled, pruned: PrunedHead, heads: list[SealedHead]
) -> list[JournalProblem]:
    """The rows are gone; every seal must agree with where the chain is said to have ended."""
    if journaled.rows or journaled.message_body is not None:
        return [JournalProblem(journaled.run_id, None, "the run counts as pruned and has rows")]
    if not any(head.rows == pruned.rows for head in heads):
        return [
            JournalProblem(
                journaled.run_id, None, "the run counts as pruned, but no seal closed it"
            )
        ]
    problems: list[JournalProblem] = []
    for head in heads:
        is_other = head.rows == pruned.rows and head.chain != pruned.chain.hex()
        if head.rows > pruned.rows or is_other:
            what = f"the pruned rows are not those that seal {head.seal} covers"
            problems.append(JournalProblem(journaled.run_id, None, what))
    return problems


def head_of_chain(journaled: Journaled, count: int) -> bytes:
    return (
        journaled.rows[count - 1].chain
        if count
        else seed(journaled.run_id, journaled.message_digest)
    )


def check_message(journaled: Journaled) -> list[JournalProblem]:
    body = journaled.message_body
    salt = journaled.message_salt
    if (body is None and salt is None) or (
        body is not None
        and salt is not None
        and sha256(salt + body).digest() == journaled.message_digest
    ):
        return []
    return [JournalProblem(journaled.run_id, None, "the message was changed")]


def _check_head(journaled: Journaled, head: SealedHead) -> list[JournalProblem]:
    count, chain, seal = head.rows, head.chain, head.seal
    if count > len(journaled.rows):
        return [
            JournalProblem(
                journaled.run_id,
                count - 1,
                f"{count - len(journaled.rows)} row(s) are gone that seal {seal} covers",
            )
        ]
    if head_of_chain(journaled, count).hex() != chain:
        return [
            JournalProblem(
                journaled.run_id,
                max(count - 1, 0),
                f"the rows are not those that seal {seal} covers",
            )
        ]
    return []
