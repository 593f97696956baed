"""`deskhand db backup`, and reading a copy that may not be written."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

from deskhand.adapters.stores import sqlite_backup
from deskhand.errors import StoreUnavailable
from tests.cli_kit import SAMPLES, Cli
from tests.unit.adapters.stores.test_migrations import config


@pytest.fixture
def served(cli: Cli, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database whose newest rows lie in its write-ahead log: somebody has it open."""
    cli("run", SAMPLES / "order-status.eml", "--desk", "sample", "--live", "--json")
    with closing(sqlite3.connect("deskhand.db")) as other:
        other.execute("SELECT count(*) FROM runs").fetchone()
        for name in ("refund.eml", "spam.eml"):
            cli("run", SAMPLES / name, "--desk", "sample", "--live", "--json")
        yield other


def runs_in(database: Path | str) -> int:
    with closing(sqlite3.connect(database)) as raw:
        return int(raw.execute("SELECT count(*) FROM runs").fetchone()[0])


def test_a_backup_has_everything_while_others_serve(
    cli: Cli, served: sqlite3.Connection, tmp_path: Path
) -> None:
    shutil.copyfile("deskhand.db", "plain.db")
    assert runs_in("plain.db") == 1  # what a plain copy of the file misses
    said = cli("db", "backup", "copy.db", "--json")
    assert said.code == 0
    assert said.json["runs"] == 3
    assert said.json["verified"] is True
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert cli("audit", "verify", "--database", "copy.db", "--json").json["runs"] == 3
    shown = cli("runs", "list", "--database", "copy.db", "--json").json
    assert shown == cli("runs", "list", "--json").json
    names = {file.name for file in tmp_path.iterdir()}
    assert not any("part" in name for name in names)


def test_a_backup_overwrites_nothing(cli: Cli, served: sqlite3.Connection, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious")
    said = cli("db", "backup", "copy.db")
    assert said.code != 0
    assert "copy.db exists" in said.err
    assert (tmp_path / "copy.db").read_text() == "precious"
    assert "there is no folder" in cli("db", "backup", "nowhere/copy.db").err
    assert "there is no database" in cli("db", "backup", "b.db", "--database", "none.db").err


def test_the_tables_of_desks_own_go_along(
    cli: Cli, served: sqlite3.Connection, tmp_path: Path
) -> None:
    with closing(sqlite3.connect("deskhand.sample.db")) as own:
        own.execute("CREATE TABLE returns(id)")
        own.execute("INSERT INTO returns VALUES(7)")
        own.commit()
    (tmp_path / "safe").mkdir()
    said = cli("db", "backup", "safe/monday.db", "--json").json
    assert [Path(file).name for file in said["files"]] == ["monday.db", "monday.sample.db"]
    with closing(sqlite3.connect("safe/monday.sample.db")) as copy:
        assert copy.execute("SELECT id FROM returns").fetchall() == [(7,)]


def test_what_is_written_meanwhile_neither_delays_nor_mixes(
    served: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_backup, "PAGES", 1)
    steps: list[int] = []

    def write(name: str, done: int, total: int) -> None:
        served.execute("UPDATE runs SET reason=?", (f"{done}" * 2000,))
        served.commit()
        steps.append(done)

    backup = sqlite_backup.backup_files(Path("deskhand.db"), tmp_path / "copy.db", write)
    assert steps == sorted(set(steps))  # it never began again
    assert backup.runs == 3
    with closing(sqlite3.connect("copy.db")) as copy:
        reasons = copy.execute("SELECT max(length(coalesce(reason, ''))) FROM runs").fetchone()
    assert reasons[0] < 2000


def test_a_disk_that_is_too_small_leaves_nothing(
    served: sqlite3.Connection, tmp_path: Path, small_disk: Path
) -> None:
    with pytest.raises(StoreUnavailable, match="could not be written"):
        sqlite_backup.backup_files(Path("deskhand.db"), small_disk / "b.db", lambda *_: None)
    assert list(small_disk.iterdir()) == []


def test_postgresql_has_a_program_of_its_own(cli: Cli) -> None:
    said = cli("db", "backup", "b.dump", "--database", "postgresql://desk:secret@db/acme")
    assert said.code != 0
    assert "pg_dump --format=custom --file=b.dump" in said.err
    assert "postgresql://desk@db/acme" in said.err
    assert "secret" not in said.err


# --- copies that may not be written


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "8m")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "small", "64k")


def mounted(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def make_older(database: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        command.downgrade(config(connection), "-1")
    engine.dispose()


def read_only(disk: Path) -> None:
    """Permission bits do not bind root; this does."""
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)


@pytest.mark.parametrize("kind", ["backup", "with its log", "of an older version"])
def test_a_read_only_copy_is_read(
    cli: Cli, served: sqlite3.Connection, disk: Path, kind: str
) -> None:
    copy = disk / "copy.db"
    if kind == "with its log":
        for ending in ("", "-wal"):
            shutil.copyfile(f"deskhand.db{ending}", f"{copy}{ending}")
    else:
        cli("db", "backup", copy)
    if kind == "of an older version":
        make_older(copy)
    before = sorted(file.name for file in disk.iterdir())
    read_only(disk)
    listed = cli("runs", "list", "--database", copy, "--json")
    assert listed.json == cli("runs", "list", "--json").json
    verified = cli("audit", "verify", "--database", copy, "--json")
    assert (verified.code, verified.json["runs"], verified.json["ok"]) == (0, 3, True)
    reviews: Any = cli("reviews", "list", "--database", copy, "--json").json
    assert reviews["reviews"]
    assert sorted(file.name for file in disk.iterdir()) == before


def test_a_read_only_copy_decides_nothing(cli: Cli, served: sqlite3.Connection, disk: Path) -> None:
    copy = disk / "copy.db"
    cli("db", "backup", copy)
    read_only(disk)
    [review, *_] = cli("reviews", "list", "--database", copy, "--json").json["reviews"]
    said = cli("reviews", "reject", review["review"], "--note", "no", "--database", copy)
    assert said.code != 0
    assert "readonly" in said.err
