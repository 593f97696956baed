"""Proves that records are unchanged: a hash chain for each run, keyed seals over all of them."""

import hmac
import os
import time
import zlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from deskhand.engine.journal import Problem, seed, verify
from deskhand.errors import ConfigError
from deskhand.model.audited import PRUNED, Journaled, PrunedHead, Seal
from deskhand.ports import Archive

PAGE = 200
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
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def ok(self) -> bool:
        return not self.problems


async def verify_desk(store: Archive, *, key: bytes | None = None) -> AuditReport:
    """Check every message, row, chain and seal of a desk."""
    report = AuditReport(seals_checked=key is not None)
    sealed = await _read_seals(store, key, report)
    async for journaled in _journals(store):
        report.runs += 1
        report.rows += len(journaled.rows)
        report.erased += sum(row.body is None for row in journaled.rows)
        report.problems += check_message(journaled)
        heads = sealed.pop(journaled.run_id, [])
        if journaled.pruned is not None:
            report.problems += _check_pruned(journaled, journaled.pruned, heads)
            _count_pruned(report, journaled.pruned)
            continue
        report.problems += verify(journaled.run_id, journaled.message_digest, journaled.rows)
        for count, chain, seal in heads:
            report.problems += _check_head(journaled, count, chain, seal)
        _count_unsealed(report, journaled, heads)
    for run_id, heads in sealed.items():
        report.problems.append(
            Problem(run_id, None, f"the run is gone, but seal {heads[0][2]} covers it")
        )
    return report


def _count_unsealed(
    report: AuditReport, journaled: Journaled, heads: list[tuple[int, str, int]]
) -> None:
    covered = max((count for count, _, _ in heads), default=0)
    beyond = max(len(journaled.rows) - covered, 0)
    report.unsealed_rows += beyond
    report.unsealed_runs += bool(beyond) or not heads
    if journaled.rows:
        newest = journaled.rows[-1].started_at
        report.newest_row_at = max(report.newest_row_at or newest, newest)


async def seal_desk(store: Archive, key: bytes) -> Seal:
    """Store how far every chain has come, signed with a key that only the auditor has."""
    lines = [_line_of(journal) async for journal in _journals(store)]
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
    return f"{journal.run_id} {count} {chain.hex()}"


def sealed_runs(seal: Seal) -> int:
    return len(_lines(seal))


async def _journals(store: Archive) -> AsyncIterator[Journaled]:
    after = 0
    while page := await store.journals(after=after, limit=PAGE):
        for journaled in page:
            yield journaled
        after = page[-1].position


async def _read_seals(
    store: Archive, key: bytes | None, report: AuditReport
) -> dict[str, list[tuple[int, str, int]]]:
    sealed: dict[str, list[tuple[int, str, int]]] = {}
    for seal in await store.seals():
        report.seals += 1
        try:
            text = zlib.decompress(seal.heads).decode()
            heads = [_head_of(line) for line in text.split("\n") if line]
        except (zlib.error, ValueError):
            report.problems.append(Problem("", None, f"seal {seal.id} cannot be read"))
            continue
        is_unsigned = seal.kind == PRUNED and not seal.mac
        report.unsigned_seals += is_unsigned
        expected = None if key is None else _sign(key, store.desk, seal.at, text, seal.kind)
        if expected is not None and not is_unsigned and not _same(seal.mac, expected):
            report.problems.append(
                Problem("", None, f"seal {seal.id} was changed, or made with another key")
            )
        if seal.kind is None:
            report.newest_seal = NewestSeal(seal.id, seal.at, len(heads), seal.mac)
        for run_id, count, chain in heads:
            sealed.setdefault(run_id, []).append((count, chain, seal.id))
    return sealed


def _same(stored: str, expected: str) -> bool:
    return hmac.compare_digest(stored.encode(), expected.encode())


def _head_of(line: str) -> tuple[str, int, str]:
    run_id, count, chain = line.split(" ")
    if not count.isdecimal():
        raise ValueError("a count of rows is a number")
    return run_id, int(count), chain


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
    journaled: Journaled, pruned: PrunedHead, heads: list[tuple[int, str, int]]
) -> list[Problem]:
    """The rows are gone; every seal must agree with where the chain is said to have ended."""
    if journaled.rows or journaled.message_body is not None:
        return [Problem(journaled.run_id, None, "the run counts as pruned and has rows")]
    if not any(count == pruned.rows for count, _, _ in heads):
        return [Problem(journaled.run_id, None, "the run counts as pruned, but no seal closed it")]
    problems: list[Problem] = []
    for count, chain, seal in heads:
        is_other = count == pruned.rows and chain != pruned.chain.hex()
        if count > pruned.rows or is_other:
            what = f"the pruned rows are not those that seal {seal} covers"
            problems.append(Problem(journaled.run_id, None, what))
    return problems


def head_of_chain(journaled: Journaled, count: int) -> bytes:
    return (
        journaled.rows[count - 1].chain
        if count
        else seed(journaled.run_id, journaled.message_digest)
    )


def check_message(journaled: Journaled) -> list[Problem]:
    body = journaled.message_body
    salt = journaled.message_salt
    if body is None or (
        salt is not None and sha256(salt + body).digest() == journaled.message_digest
    ):
        return []
    return [Problem(journaled.run_id, None, "the message was changed")]


def _check_head(journaled: Journaled, count: int, chain: str, seal: int) -> list[Problem]:
    if count > len(journaled.rows):
        return [
            Problem(
                journaled.run_id,
                count - 1,
                f"{count - len(journaled.rows)} row(s) are gone that seal {seal} covers",
            )
        ]
    if head_of_chain(journaled, count).hex() != chain:
        return [
            Problem(
                journaled.run_id,
                max(count - 1, 0),
                f"the rows are not those that seal {seal} covers",
            )
        ]
    return []
