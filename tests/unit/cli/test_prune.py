"""`deskhand db prune`, and `retention:` in desk.yaml."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.statements import mark_run
from deskhand.config.sections.retention import RetentionSection
from deskhand.model.audited import Kept
from tests.cli_kit import SAMPLES, Cli

DAY = 24 * 3600.0


@pytest.fixture
def desk(cli: Cli, tmp_path: Path) -> Path:
    cli("init", "shop")
    for name in ("spam.eml", "refund.eml"):
        cli("run", SAMPLES / name, "--desk", "shop", "--live", "--json")
    asyncio.run(_make_old(Path("deskhand.db")))
    return tmp_path / "shop"


async def _make_old(file: Path) -> None:
    """Make the runs as if they had come long ago."""

    def op(core: sa.Connection) -> None:
        core.execute(t.runs.update().values(created_at=1e9, updated_at=1e9))
        core.execute(t.statements.delete())
        for position in core.execute(sa.select(t.runs.c.position)).scalars():
            mark_run(core, position)

    database = await SqliteDatabase.open(file)
    await database.write_core(op)
    await database.close()


def test_ages_are_written_in_days_and_weeks() -> None:
    section = RetentionSection.model_validate({"runs": "90d", "calls": "2 weeks", "steps": "1 day"})
    assert section.ages() == {
        Kept.RUNS: 90 * DAY,
        Kept.TICKETS: 90 * DAY,  # those without a message
        Kept.CALLS: 14 * DAY,
        Kept.STEPS: DAY,
    }
    assert RetentionSection().ages() == {}


def test_a_desk_keeps_everything_until_it_says_otherwise(cli: Cli, desk: Path) -> None:
    said = cli("db", "prune", desk)
    assert said.code != 0
    assert "keeps everything for ever" in said.err
    assert "retention: {runs: 365d" in said.err


def test_an_age_that_is_none_is_told_with_its_line(cli: Cli, desk: Path) -> None:
    with (desk / "desk.yaml").open("a") as file:
        file.write("\nretention: {runs: soon}\n")
    said = cli("db", "prune", desk)
    assert said.code != 0
    assert "desk.yaml:" in said.err


def test_what_would_go_is_said_and_then_goes(cli: Cli, desk: Path, tmp_path: Path) -> None:
    with (desk / "desk.yaml").open("a") as file:
        file.write("\nretention: {runs: 90d, notices: 4w}\n")
    key = tmp_path / "seal.key"
    key.write_text("a key that is long enough")
    rehearsed = cli("db", "prune", desk, "--dry-run").out
    assert "1 runs, 0 tickets, 0 notices would be deleted" in rehearsed
    dry = cli("db", "prune", desk, "--dry-run", "--json").json
    assert (dry["dry_run"], dry["deleted"]) == (True, {"runs": 1, "tickets": 0, "notices": 0})
    assert len(cli("runs", "list", "--json").json["runs"]) == 2

    done = cli("db", "prune", desk, "--key-file", key, "--json").json
    assert done["deleted"] == {"runs": 1, "tickets": 0, "notices": 0}
    [open_run] = cli("runs", "list", "--json").json["runs"]
    assert open_run["status"] == "waiting_review"
    verified = cli("audit", "verify", "--key-file", key, "--json").json
    assert verified["ok"]
    assert (verified["pruned_runs"], verified["unsigned_seals"]) == (1, 0)
    assert "pruned by age: 1 runs" in cli("audit", "verify").out
