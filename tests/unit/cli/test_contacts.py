"""`deskhand contacts` and `deskhand calendar`: people and times from the command line."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.cli_kit import Cli, write_desk, write_message

CSV = (
    "email,name,tags,tier\nann@example.com,Ann Lee,vip,gold\nnobody,Nob,,\nbob@example.com,Bob,,\n"
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    return path


def test_a_file_is_imported_bad_rows_are_told_and_again_changes_nothing(
    cli: Cli, book: Path
) -> None:
    first = cli("contacts", "import", book, "--desk", "sample")
    assert first.code == 1
    assert "2 added, 0 changed, 0 unchanged, 1 not taken" in first.out
    assert "people.csv:3: `nobody` is no mail address" in first.err
    again = cli("contacts", "import", book, "--desk", "sample", "--json")
    assert again.json["unchanged"] == 2
    assert again.json["bad"] == [
        {"line": 3, "problem": "`nobody` is no mail address", "text": "nobody,Nob,,"}
    ]


def test_people_are_listed_shown_noted_tagged_exported_and_erased(
    cli: Cli, book: Path, tmp_path: Path
) -> None:
    cli("contacts", "import", book, "--desk", "sample")
    of = ("--desk", "sample")
    assert [one["address"] for one in cli("contacts", "list", *of, "--json").json["contacts"]] == [
        "ann@example.com",
        "bob@example.com",
    ]
    assert "Ann Lee" in cli("contacts", "list", "--tag", "vip", *of).out
    noted = cli("contacts", "note", "ANN@example.com", "likes tea", "--by", "eve", *of, "--json")
    assert [(note["text"], note["by"]) for note in noted.json["notes"]] == [("likes tea", "eve")]
    tagged = cli(
        "contacts",
        "tag",
        "ann@example.com",
        "b2b",
        "--remove",
        "vip",
        "--tier",
        "silver",
        *of,
        "--json",
    )
    assert (tagged.json["tags"], tagged.json["tier"]) == (["b2b"], "silver")
    shown = cli("contacts", "show", "ann@example.com", *of)
    assert shown.code == 0
    assert "likes tea" in shown.out
    assert cli("contacts", "export", tmp_path / "out.csv", *of).code == 0
    assert (
        cli("contacts", "import", tmp_path / "out.csv", "--desk", "other", "--json").json["added"]
        == 2
    )
    exported = json.loads(cli("contacts", "export", "--json", "--desk", "other").out)
    assert exported["contacts"][0]["notes"][0]["text"] == "likes tea"
    assert cli("contacts", "erase", "ann@example.com", *of).code == 2
    assert cli("contacts", "erase", "ann@example.com", "--yes", *of).code == 0
    assert cli("contacts", "show", "ann@example.com", *of).code == 1
    assert cli("contacts", "erase", "ann@example.com", "--yes", *of).code == 1


def test_whoever_writes_becomes_a_contact(cli: Cli, tmp_path: Path) -> None:
    message = write_message(tmp_path / "m.json", body="Where is my parcel P-1001?")
    assert cli("run", message, "--desk", "sample", "--live").code in (0, 1)
    found = cli("contacts", "list", "--json").json["contacts"]
    assert [one["messages"] for one in found] == [1]
    [_, row] = cli("contacts", "export").out.splitlines()
    written = row.split(",")[-3:-1]
    assert [datetime.fromisoformat(at).utcoffset() for at in written] == [timedelta(0)] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "no.csv"), "cannot be read"),
        (("tag", "ann@example.com"), "nothing to change"),
        (("tag", "ann@example.com", "two words"), "one word"),
        (("note", "ann@example.com", " "), "empty"),
        (("note", "nobody@example.com", "x"), "no contact"),
    ],
)
def test_what_cannot_be_done_is_said(
    cli: Cli, book: Path, arguments: tuple[str, ...], said: str
) -> None:
    cli("contacts", "import", book, "--desk", "sample")
    result = cli("contacts", *arguments, "--desk", "sample")
    assert result.code in (1, 2)
    assert said in result.err


DESK = """
desk: bookable
brain: {scripted: brain.yaml}
calendar: {time_zone: Europe/Prague, working_hours: {mon-sun: "8:00-20:00"}, holidays: CZ, notice: 1 hours, horizon: 9 days}
flows:
  main:
    stages:
      look: {tools: [check_calendar]}
"""  # noqa: E501


def test_free_times_are_listed_without_making_a_database(cli: Cli, tmp_path: Path) -> None:
    folder = write_desk(tmp_path / "bookable", DESK, "rules: [{when: {}, answer: {steps: []}}]")
    free = cli("calendar", "free", folder, "--limit", "5", "--json")
    assert free.code == 0
    assert (free.json["time_zone"], len(free.json["slots"])) == ("Europe/Prague", 5)
    assert free.json["free"] > 40
    assert "free, on the clock of Europe/Prague" in cli("calendar", "free", folder).out
    assert cli("calendar", "free", folder, "--day", "2020-01-01").code == 1
    closed = cli("calendar", "free", folder, "--day", "2026-11-17")
    assert (closed.code, "2026-11-17 is a public holiday (" in closed.out) == (1, True)
    assert cli("calendar", "free", folder, "--day", "today").code == 2
    shown = cli("calendar", "show", folder, "--json")
    assert (shown.json["bookings"], shown.json["busy"]) == ([], [])
    assert "nothing is held" in cli("calendar", "show", folder).out
    assert not (tmp_path / "deskhand.db").exists()
