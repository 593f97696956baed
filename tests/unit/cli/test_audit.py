"""`deskhand audit`, `erase` and `keys`."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli_kit import SAMPLES, Cli


@pytest.fixture
def worked(cli: Cli) -> list[dict[str, Any]]:
    names = ("order-status.eml", "refund.eml", "spam.eml")
    return [
        cli("run", SAMPLES / name, "--desk", "sample", "--live", "--json").json for name in names
    ]


def change(statement: str) -> None:
    with sqlite3.connect("deskhand.db") as raw:
        raw.execute(statement)
    raw.close()


def test_untouched_records_verify(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("audit", "verify", "--json")
    assert said.code == 0
    assert (said.json["ok"], said.json["runs"], said.json["problems"]) == (True, 3, [])
    assert "everything that is here is as it was written" in cli("audit", "verify").out


def test_a_changed_row_is_found(cli: Cli, worked: list[dict[str, Any]]) -> None:
    change("UPDATE steps SET outcome='error' WHERE seq=2 AND run=1")
    said = cli("audit", "verify", "--json")
    assert said.code == 1
    assert [(one["run_id"], one["seq"]) for one in said.json["problems"]] == [(worked[0]["run"], 2)]
    assert "the chain is broken at step 'decide'" in cli("audit", "verify").out


def test_a_seal_shows_that_a_run_is_missing(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "seal.key"
    key.write_text("a key that is long enough\n")
    assert cli("audit", "seal", "--key-file", key, "--json").json["runs"] == 3
    for table, column in (("steps", "run"), ("messages", "run"), ("runs", "position")):
        change(f"DELETE FROM {table} WHERE {column}=3")
    monkeypatch.setenv("DESKHAND_SEAL_KEY", "a key that is long enough")
    said = cli("audit", "verify", "--json")
    assert said.code == 1
    assert said.json["seals_checked"] is True
    assert [one["run_id"] for one in said.json["problems"]] == [worked[2]["run"]]


def test_sealing_needs_a_key_of_some_length(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert "--key-file" in cli("audit", "seal").err
    (tmp_path / "short").write_text("abc")
    said = cli("audit", "seal", "--key-file", "short")
    assert said.code == 2
    assert "has 3 bytes" in said.err
    missing = cli("audit", "seal", "--key-file", "nowhere")
    assert missing.code == 1
    assert "nowhere: No such file or directory" in missing.err


def test_an_erased_person_is_gone_and_the_audit_still_holds(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path
) -> None:
    careful = cli("erase", "carla@example.com")
    assert careful.code == 2
    assert "--yes" in careful.err
    assert cli("erase", "Carla@Example.com", "--yes", "--json").json["runs"] == 1
    assert cli("audit", "verify").code == 0
    assert "erased" in cli("runs", "show", worked[1]["run"]).out
    assert "(erased)" in cli("runs", "list").out
    assert b"cracked lid" not in (tmp_path / "deskhand.db").read_bytes()
    assert cli("erase", "nobody@example.com", "--yes").code == 1


# --- keys


def test_a_key_is_shown_once_listed_and_revoked(cli: Cli) -> None:
    made = cli(
        "keys",
        "add",
        "robot",
        "--scope",
        "messages:write",
        "--scope",
        "runs:read",
        "--desk",
        "sample",
        "--json",
    )
    key = made.json
    assert key["secret"].startswith("dh_")
    listed = cli("keys", "list")
    assert key["id"] in listed.out
    assert "messages:write, runs:read" in listed.out
    assert key["secret"] not in listed.out
    assert cli("keys", "revoke", key["id"]).code == 0
    assert cli("keys", "list", "--json").json["keys"][0]["revoked_at"] is not None


def test_a_key_needs_scopes_that_exist(cli: Cli) -> None:
    said = cli("keys", "add", "robot", "--scope", "everything", "--desk", "*")
    assert said.code == 2
    assert "messages:write" in said.err
    assert cli("keys", "add", "robot", "--desk", "*").code == 2


def test_a_key_that_does_not_exist_cannot_be_revoked(cli: Cli) -> None:
    cli("keys", "add", "robot", "--scope", "runs:read", "--desk", "*")
    said = cli("keys", "revoke", "key_nope")
    assert said.code == 1
    assert "key_nope" in said.err


def test_it_is_said_how_far_the_seals_reach(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert "no seal yet" in cli("audit", "verify").out
    unsealed = cli("audit", "verify", "--json").json
    assert unsealed["newest_seal"] is None
    assert (unsealed["unsealed_runs"], unsealed["unsealed_rows"]) == (3, unsealed["rows"])
    key = tmp_path / "seal.key"
    key.write_text("a key that is long enough")
    sealed = cli("audit", "seal", "--key-file", key, "--json").json
    covered = cli("audit", "verify", "--key-file", key, "--json").json
    assert covered["newest_seal"] == {key: sealed[key] for key in ("id", "at", "runs", "mac")}
    assert (covered["unsealed_runs"], covered["unsealed_rows"]) == (0, 0)
    assert "no seal covers" not in cli("audit", "verify").out

    cli("run", SAMPLES / "other.eml", "--desk", "sample", "--live", "--json")
    later = cli("audit", "verify", "--json").json
    assert later["ok"]
    assert later["unsealed_runs"] == later["runs"] - 3
    assert later["newest_row_at"] > sealed["at"]
    said = cli("audit", "verify").out
    assert sealed["mac"] in said
    assert f"no seal covers {later['unsealed_rows']} rows of {later['unsealed_runs']} runs" in said
    assert "compare this seal" in said
