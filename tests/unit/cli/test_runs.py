"""`deskhand runs`: looking at runs, trying again, cancelling."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli_kit import BROKEN_DESK, BROKEN_RULES, SAMPLES, Begin, Cli, write_desk, write_message


@pytest.fixture
def worked(cli: Cli, begin: Begin, parcels: Path) -> list[dict[str, Any]]:
    """Three runs of the sample desk in ./deskhand.db."""

    def work() -> list[Any]:
        names = ("order-status.eml", "refund.eml", "spam.eml")
        as_json = ("--desk", parcels, "--live", "--json")
        return [cli("run", SAMPLES / name, *as_json).json for name in names]

    stories: list[dict[str, Any]] = begin(work)
    return stories


def test_runs_are_listed_newest_first(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("runs", "list", "--json")
    newest_first = [story["run"] for story in reversed(worked)]
    assert [run["run"] for run in said.json["runs"]] == newest_first
    assert said.json["runs"][0]["message"]["subject"] == "CONGRATULATIONS"
    shown = cli("runs", "list").out
    assert all(story["run"] in shown for story in worked)
    assert "carla@example.com" in shown


def test_runs_are_listed_by_status(cli: Cli, worked: list[dict[str, Any]]) -> None:
    found = cli("runs", "list", "--status", "waiting_review", "--json").json["runs"]
    assert [run["run"] for run in found] == [worked[1]["run"]]


def test_an_unknown_status_is_a_usage_error(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("runs", "list", "--status", "lost")
    assert said.code == 2
    assert "waiting_review" in said.err


def test_a_timeline_shows_every_step(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("runs", "show", worked[1]["run"])
    for words in ("parcels", "Teapot arrived broken", "waiting_review", "rev_", "ms at work"):
        assert words in said.out
    steps = [line.split() for line in said.out.splitlines() if " +" in line]
    assert steps[4][4] == "open_return"
    assert [int(line[0]) for line in steps] == list(range(len(steps)))


def test_every_step_has_its_state_before_and_after(cli: Cli, worked: list[dict[str, Any]]) -> None:
    told = cli("runs", "show", worked[0]["run"], "--json").json
    wanted = {
        "trace_id",
        "name",
        "order",
        "input_state",
        "output_state",
        "latency_ms",
        "attempt",
        "error",
    }
    wanted |= {"step_name", "step_order", "error_message"}
    assert all(step.keys() >= {*wanted, "flow_version"} for step in told["steps"])
    assert [step["order"] for step in told["steps"]] == list(range(9))
    assert told["steps"][0]["input_state"]["outputs"] == {}
    assert told["steps"][0]["output_state"]["outputs"].keys() == {"classification"}
    assert all(
        earlier["output_state"] == later["input_state"]
        for earlier, later in zip(told["steps"], told["steps"][1:], strict=False)
    )
    assert told["steps"][-1]["output_state"]["outputs"] == worked[0]["outputs"]


def test_one_step_is_shown_with_its_full_state(cli: Cli, worked: list[dict[str, Any]]) -> None:
    run = worked[0]["run"]
    step = cli("runs", "show", run, "--state", "1", "--json").json
    assert step["name"] == "find_number"
    assert step["output_state"]["outputs"]["order"] == {"number": "P-1001"}
    assert '"number": "P-1001"' in cli("runs", "show", run, "--state", "1").out
    missing = cli("runs", "show", run, "--state", "99")
    assert missing.code == 1
    assert "has no step 99" in missing.err


def test_a_run_that_does_not_exist_is_a_no(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("runs", "show", "run_nope", "--json")
    assert said.code == 1
    assert said.json == {
        "error": {"code": "not_found", "message": "there is no run run_nope on desk sample"}
    }


def test_a_failed_run_is_queued_again_and_then_goes_on(cli: Cli, tmp_path: Path) -> None:
    desk = write_desk(tmp_path / "failing", BROKEN_DESK, BROKEN_RULES)
    story = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live", "--json").json
    said = cli("runs", "retry", story["run"], "--by", "ann")
    assert said.code == 0
    assert "queued" in said.out
    (desk / "brain.yaml").write_text("else: {category: a, confidence: 1}\n")
    cli("run", write_message(tmp_path / "m2.json"), "--desk", desk, "--live")
    after = cli("runs", "show", story["run"], "--json").json
    assert after["status"] == "done"
    assert [step["name"] for step in after["steps"]] == ["classify", "@decision", "classify"]


def test_only_a_run_in_trouble_can_be_retried(cli: Cli, worked: list[dict[str, Any]]) -> None:
    said = cli("runs", "retry", worked[0]["run"])
    assert said.code == 1
    assert "only needs_review and failed runs can be retried" in said.err


def test_a_waiting_run_can_be_cancelled_once(cli: Cli, worked: list[dict[str, Any]]) -> None:
    assert (
        cli("runs", "cancel", worked[1]["run"], "--by", "ann", "--json").json["status"]
        == "cancelled"
    )
    again = cli("runs", "cancel", worked[1]["run"])
    assert again.code == 1
    assert "cannot be cancelled" in again.err
    assert cli("reviews", "list", "--json").json["reviews"] == []


# --- which database, which desk


def test_looking_does_not_create_a_database(cli: Cli, tmp_path: Path) -> None:
    said = cli("runs", "list")
    assert said.code == 2
    assert "there is no database deskhand.db" in said.err
    assert list(tmp_path.iterdir()) == []


def test_the_database_comes_from_the_environment(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deskhand.db").rename(tmp_path / "other.db")
    monkeypatch.setenv("DESKHAND_DATABASE", "sqlite:///other.db")
    assert len(cli("runs", "list", "--json").json["runs"]) == 3


def test_with_several_desks_one_must_be_named(
    cli: Cli, worked: list[dict[str, Any]], tmp_path: Path
) -> None:
    desk = write_desk(tmp_path / "elsewhere", BROKEN_DESK, BROKEN_RULES)
    cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live")
    said = cli("runs", "list")
    assert said.code == 2
    assert "failing, sample" in said.err
    assert len(cli("runs", "list", "--desk", "sample", "--json").json["runs"]) == 3
    assert len(cli("runs", "list", "--desk", desk, "--json").json["runs"]) == 1
    assert cli("runs", "list", "--desk", "nobody").code == 2


def test_a_timeline_tells_who_decided_and_how_a_failing_step_failed(
    cli: Cli, tmp_path: Path
) -> None:
    desk = write_desk(tmp_path / "failing", BROKEN_DESK, BROKEN_RULES)
    run = cli("run", write_message(tmp_path / "m.json"), "--desk", desk, "--live", "--json").json[
        "run"
    ]
    (step,) = cli("runs", "show", run, "--json").json["steps"]
    assert (step["trace_id"], step["step_name"], step["step_order"]) == (run, "classify", 0)
    assert step["error_message"] == step["error"]["message"]
    (review,) = cli("reviews", "list", "--json").json["reviews"]
    cli("reviews", "close", review["review"], "--by", "ann")
    shown = cli("runs", "show", run)
    assert "closed by ann after" in shown.out
    told = cli("runs", "show", run, "--json").json["events"]
    assert [(event["kind"], event["by"]) for event in told] == [("review.close", "ann")]


def test_attached_files_are_listed_and_saved_without_leaving_the_folder(
    cli: Cli, tmp_path: Path
) -> None:
    files = [
        {"name": "../../evil.pdf", "type": "application/pdf", "content": "JVBERg=="},
        {"name": "unknown.bin", "type": "x/y", "size": 5},
    ]
    mail = write_message(tmp_path / "mail.json", body="Do you like tea?", attachments=files)
    run = cli("run", mail, "--desk", "sample", "--live", "--json").json["run"]
    listed = cli("runs", "attachments", run)
    assert "../../evil.pdf" in listed.out
    assert "not kept: only its name is known" in listed.out
    saved = cli("runs", "attachments", run, "--save", tmp_path / "files", "--json").json
    assert [file["name"] for file in saved["attachments"]] == ["../../evil.pdf", "unknown.bin"]
    [path] = (tmp_path / "files").iterdir()
    assert (path.read_bytes(), str(path)) == (b"%PDF", saved["saved"][0])
    assert not (tmp_path / "evil.pdf").exists()
