"""Proves that records are unchanged: a hash chain for each run, keyed seals over all of them."""

import hmac
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import sha256

from deskhand.engine.journal import Problem, seed, verify
from deskhand.model.audited import Journaled, Seal
from deskhand.ports import Archive

PAGE = 200


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
        report.problems += _check_message(journaled)
        report.problems += verify(journaled.run_id, journaled.message_digest, journaled.rows)
        heads = sealed.pop(journaled.run_id, [])
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
    lines = [
        f"{journal.run_id} {len(journal.rows)} {_head(journal, len(journal.rows)).hex()}"
        async for journal in _journals(store)
    ]
    at = time.time()
    text = "\n".join(lines)
    return await store.save_seal(at, zlib.compress(text.encode()), _mac(key, store.desk, at, text))


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
        if key is not None and not _same(seal.mac, _mac(key, store.desk, seal.at, text)):
            report.problems.append(
                Problem("", None, f"seal {seal.id} was changed, or made with another key")
            )
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


def _mac(key: bytes, desk: str, at: float, text: str) -> str:
    return hmac.new(key, f"{desk}\n{at!r}\n{text}".encode(), sha256).hexdigest()


def _head(journaled: Journaled, count: int) -> bytes:
    return (
        journaled.rows[count - 1].chain
        if count
        else seed(journaled.run_id, journaled.message_digest)
    )


def _check_message(journaled: Journaled) -> list[Problem]:
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
    if _head(journaled, count).hex() != chain:
        return [
            Problem(
                journaled.run_id,
                max(count - 1, 0),
                f"the rows are not those that seal {seal} covers",
            )
        ]
    return []
