"""What customers wrote is for its owner alone; an erased person is nowhere unnoticed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_kit import SAMPLES, Cli


@pytest.fixture(autouse=True)
def usual_rights() -> Iterator[None]:
    """As on most machines, a new file is for everybody to read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_database_and_outbox_are_for_their_owner_alone(cli: Cli, tmp_path: Path) -> None:
    outbox = tmp_path / "new" / "outbox"
    cli("init", "shop")
    desk = tmp_path / "shop" / "desk.yaml"
    desk.write_text(desk.read_text().replace("mode: draft", "mode: auto", 1))
    cli(
        *("run", SAMPLES / "order-status.eml", "--desk", "shop", "--live"),
        *("--database", tmp_path / "desk.db", "--outbox", outbox),
    )

    files = [tmp_path / "desk.db", *outbox.glob("*.eml")]
    assert len(files) == 2
    assert {rights(file) for file in files} == {"0o600"}
    assert {rights(outbox), rights(outbox.parent)} == {"0o700"}


def test_exported_contacts_are_for_their_owner_alone(cli: Cli, tmp_path: Path) -> None:
    database = ("--database", tmp_path / "desk.db")
    cli("run", SAMPLES / "order-status.eml", "--desk", "sample", "--live", *database)
    cli("contacts", "export", tmp_path / "people.csv", *database)

    assert rights(tmp_path / "people.csv") == "0o600"


def test_erasing_says_where_a_person_still_stands(cli: Cli, tmp_path: Path) -> None:
    cli("init", "shop")
    database = ("--database", tmp_path / "desk.db")
    ran = cli("run", SAMPLES / "order-status.eml", "--desk", "shop", "--live", "--json", *database)
    person = ran.json["message"]["from"].partition("<")[2].rstrip(">")
    added = cli("eval", "add", ran.json["run"], "--desk", "shop", *database)
    assert added.code == 0, added.err
    shutil.rmtree(tmp_path / "shop" / "samples")

    by_name = cli("erase", person, "--yes", "--desk", tmp_path / "shop", *database)

    assert by_name.code == 0
    assert "1 run erased" in by_name.out
    assert "still named in " in by_name.out
    assert "evals" in by_name.out
    again = cli("erase", person, "--yes", "--desk", "shop", "--json", *database)
    assert again.json["looked_through"] == "shop"
    elsewhere = cli("erase", person, "--yes", *database)
    assert "golden cases were not looked through" in elsewhere.out
