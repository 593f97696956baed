"""`deskhand audit`, `erase` and `keys`."""

import json
import sqlite3
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli_kit import SAMPLES, Begin, Cli


@pytest.fixture
def worked(cli: Cli, begin: Begin) -> list[dict[str, Any]]:
    def work() -> list[Any]:
        names = ("order-status.eml", "refund.eml", "spam.eml")
        as_json = ("--desk", "sample", "--live", "--json")
        return [cli("run", SAMPLES / name, *as_json).json for name in names]

    stories: list[dict[str, Any]] = begin(work)
    return stories


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


def test_a_run_deleted_with_its_seals_is_noticed_by_a_file_elsewhere(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKHAND_SEAL_KEY", "a key that is long enough")
    kept = tmp_path / "seals.jsonl"
    made = cli("audit", "seal", "--to", kept, "--json").json
    assert made["copied_to"] == [str(kept)]
    assert "kept elsewhere" in cli("audit", "seal", "--to", kept).out
    assert len(kept.read_text().splitlines()) == 2
    assert cli("audit", "verify", "--seals", kept).code == 0
    change("DELETE FROM seals")
    for table in ("events", "llm_calls"):
        change(f"DELETE FROM {table} WHERE run_id='{worked[1]['run']}'")
    for table in ("steps", "messages", "statements", "reviews", "effects", "judgements"):
        change(f"DELETE FROM {table} WHERE run=2")
    change("DELETE FROM runs WHERE position=2")
    assert cli("audit", "verify").code == 0
    said = cli("audit", "verify", "--seals", kept, "--json")
    assert said.code == 1
    assert said.json["outside_seals"] == 2
    told = {one["what"] for one in said.json["problems"]}
    assert "seal 1 is gone; it was kept elsewhere" in told
    gone = {one["run_id"] for one in said.json["problems"] if "the run is gone" in one["what"]}
    assert gone == {worked[1]["run"]}


def test_a_seal_is_printed_as_a_line_and_posted(cli: Cli, worked: list[dict[str, Any]]) -> None:
    Path("seal.key").write_text("a key that is long enough")
    printed = cli("audit", "seal", "--key-file", "seal.key", "--to", "-").out
    assert json.loads(printed)["id"] == 1
    refused = cli("audit", "seal", "--key-file", "seal.key", "--webhook", "ftp://host/x")
    assert refused.code == 2
    received: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/seals"
        said = cli("audit", "seal", "--key-file", "seal.key", "--webhook", url, "--json")
        server.shutdown()
        thread.join()
    assert said.json["copied_to"] == [url]
    assert json.loads(received[0])["mac"] == said.json["mac"]
    gone = cli("audit", "seal", "--key-file", "seal.key", "--webhook", url)
    assert gone.code != 0
    assert "did not take it" in gone.err


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE runs SET status='failed' WHERE position=1", "the run is failed, but "),
        ("UPDATE steps SET body=NULL, salt=NULL WHERE run=1 AND seq=0", "no erasure is on record"),
        ("UPDATE messages SET body=NULL, salt=NULL WHERE run=1", "no erasure is on record"),
        ("UPDATE reviews SET state='decided', decision='approve'", "was changed"),
        ("DELETE FROM effects", "is gone"),
    ],
)
def test_forged_records_are_found(
    cli: Cli, worked: list[dict[str, Any]], statement: str, told: str
) -> None:
    change(statement)
    said = cli("audit", "verify")
    assert said.code == 1
    assert told in said.out


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


def test_a_ticket_that_somebody_opened_goes_with_its_customer(
    cli: Cli, worked: list[dict[str, Any]]
) -> None:
    cli("tickets", "open", "CUST-777", "Swordfish", "--note", "she called")
    cli("tickets", "open", "ann@example.com", "Swordfish")
    assert cli("erase", "CUST-777", "--yes").out.startswith("1 ticket erased\n")
    assert cli("erase", "ann@example.com", "--yes", "--json").json["tickets"] == 1
    assert cli("erase", "CUST-777", "--yes").code == 1
    assert "Swordfish" not in cli("tickets", "list").out


def test_what_still_names_an_erased_person_is_told(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path
) -> None:
    quoting = tmp_path / "quoting.eml"
    quoting.write_text(
        "From: bob@example.com\nTo: shop@example.com\nSubject: A question\nMessage-ID: <q@x>\n\n"
        "Where is the parcel of Carla@Example.com?\n"
    )
    run = cli("run", quoting, "--desk", "sample", "--live", "--json").json["run"]
    outbox = tmp_path / "outbox"
    outbox.mkdir()
    (outbox / "sent.eml").write_text("To: carla@example.com\n\nHello\n")

    said = cli("erase", "carla@example.com", "--yes", "--outbox", outbox, "--json").json

    assert f"messages.body of {run}" in said["still_in_database"]
    assert all(worked[1]["run"] not in place for place in said["still_in_database"])
    assert said["still_in"] == [f"{outbox / 'sent.eml'}:1"]
    again = cli("erase", "carla@example.com", "--yes")
    assert f"still named in the database: messages.body of {run}" in again.out
    assert "digests of message ids stay" in again.out


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
