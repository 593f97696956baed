"""PostgreSQL finds the rows of what is written by their keys, however many there are."""

import asyncio
import re
from typing import Any

import asyncpg
import pytest

from deskhand.adapters.stores import postgres_effects, postgres_writes, totals
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)

MANY = 20_000
_FILL = f"""
INSERT INTO runs(id, desk, message_key, conversation, flow, status, crashes, created_at, updated_at)
  SELECT 'run_' || n, 'sample', sha256(n::text::bytea), 'c' || n / 3, 'main',
    CASE WHEN n % 200 = 0 THEN 'queued' ELSE 'done' END, 0, n, n
  FROM generate_series(1, {MANY}) n;
INSERT INTO messages(run, desk, body_digest) SELECT position, desk, 'x' FROM runs;
INSERT INTO steps(run, seq, name, attempt, outcome, flow_version, started_at, latency_ms, body_digest, chain, desk)
  SELECT position, 0, 'classify', 1, 'success', 'v', 0, 0, 'x', 'x', desk FROM runs;
INSERT INTO effects(run, seq, call, desk, tool, call_hash, state, created_at, updated_at)
  SELECT position, 0, 0, desk, 'deliver', 'h', 'done', 0, 0 FROM runs;
INSERT INTO totals(desk, scope, name, day, tool, unit, amount)
  SELECT 'sample', 'conversation', id, '', '', 'calls', 1 FROM runs;
"""  # noqa: E501
FILLED = "runs|messages|steps|effects|totals"
STATEMENTS = {
    f"{module.__name__.rpartition('.')[2]}.{name.lstrip('_').lower()}": text
    for module in (postgres_effects, postgres_writes, totals)
    for name, text in vars(module).items()
    if re.fullmatch("_[A-Z]+", name) and isinstance(text, str) and "unnest(" in text
}


@pytest.fixture
async def crowded() -> Any:
    url = await asyncio.to_thread(new_database)
    database = await PostgresDatabase.open(url)
    await database.close()
    connection: Any = await asyncpg.connect(url)
    try:
        await connection.execute(_FILL)
        await connection.execute("ANALYZE")
        yield connection
    finally:
        await connection.close()


def test_the_statements_are_found() -> None:
    assert {"postgres_effects.intend", "postgres_writes.append", "totals.read"} <= set(STATEMENTS)


async def test_no_statement_reads_a_whole_table(crowded: Any) -> None:
    await crowded.execute("SET plan_cache_mode = force_generic_plan")
    whole: dict[str, list[str]] = {}
    for number, (name, text) in enumerate(STATEMENTS.items()):
        await crowded.execute(f"PREPARE s{number} AS {text}")
        count = max(int(place) for place in re.findall(r"\$(\d+)", text))
        plan = await crowded.fetch(f"EXPLAIN EXECUTE s{number}({', '.join(['NULL'] * count)})")
        lines = "\n".join(row[0] for row in plan)
        if found := re.findall(rf"Seq Scan on (?:{FILLED})\b", lines):
            whole[name] = [*found, lines]
    assert not whole, "\n\n".join(f"{name}\n{lines[-1]}" for name, lines in whole.items())
