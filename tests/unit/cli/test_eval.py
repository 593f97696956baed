"""`deskhand eval` and `deskhand replay` as a user meets them."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from tests.automatic import automatic_copy
from tests.cli_kit import SAMPLES, Cli
from tests.eval_kit import a_case, a_desk


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return automatic_copy("sample", tmp_path / "mine")


def test_the_sample_desk_passes_its_thirty_cases_and_tells_the_splits_apart(
    cli: Cli, tmp_path: Path
) -> None:
    said = cli("eval", "sample", "--json")
    assert said.code == 0, said.out
    report = said.json
    assert (report["total"], report["passed"]) == (30, 30)
    assert {tag: counts["total"] for tag, counts in report["splits"].items()} == {
        "author": 17,
        "blind": 13,
    }
    assert all({"id", "passed", "scores", "run"} <= set(case) for case in report["cases"])
    assert report["not_judged"] == 1
    assert (
        list(tmp_path.iterdir()) == []
    )  # no outbox, no returns, no database: nothing left the sandbox


def test_an_eval_says_what_was_sent_and_right(cli: Cli, tmp_path: Path) -> None:
    folder = a_desk(
        tmp_path / "desk",
        [
            a_case({"category": "order", "must_say": ["on its way"]}, tags=["en"]),
            a_case({"must_say": ["delivered"], "must_not_act": True}, id="wrong"),
            a_case({"must_say": ["14 days"]}, known_failure="no article says so", id="known"),
        ],
    )
    said = cli("eval", folder, "--html", tmp_path / "page.html")
    assert said.code == 1
    assert "1 sent and right; 2 sent and wrong" in said.out
    assert "missing" in said.out
    assert "known to fail: known: no article says so" in said.out
    assert "coverage: 100.0% of 1 golden mails were sorted, 100.0% rightly" in said.out
    [line] = [line for line in said.out.splitlines() if line.startswith("must_say")]
    assert line.split() == ["must_say", "1/3", "1/3"]
    page = (tmp_path / "page.html").read_text()
    assert "By field, language and tag" in page
    assert "Known to fail: no article says so" in page


def test_a_fact_that_says_nothing_is_told_with_its_line(cli: Cli, tmp_path: Path) -> None:
    expect = {
        "must_say": ["..."],
        "must_not_say": [{"matches": "("}],
        "asks": [{"ask": "when?"}],
        "must_not_act": ["find_ordr"],
    }
    said = cli("eval", a_desk(tmp_path / "desk", [a_case(expect)]))
    assert said.code == 2
    told = said.out + said.err
    assert "`...` holds neither a word nor a number" in told
    assert "`(` is not an RE2 pattern" in told
    assert "nothing says what answers `when?`" in told
    assert "the desk has no tool `find_ordr`" in told


def test_a_shipped_desk_says_what_right_replies_state(cli: Cli) -> None:
    report = cli("eval", "sample", "--json").json
    assert report["failed"] == 0
    [must_say] = [row for row in report["fields"] if row["field"] == "must_say"]
    assert must_say["total"] >= 6
    assert report["outcomes"]["sent_wrong"] == 0


def test_a_case_that_must_fail_fails_the_command_with_what_was_found(
    cli: Cli, tmp_path: Path
) -> None:
    folder = a_desk(
        tmp_path / "desk",
        [a_case({"status": "done", "tools": []}), a_case({"status": "sent"}, id="good")],
    )
    said = cli("eval", folder)
    assert said.code == 1
    assert "status: expected done, found sent" in said.out
    assert 'tools: expected [], found [{"find_order": {"order": "P-1"}}]' in said.out
    assert f"{folder}/evals.yaml:1" in said.out
    assert cli("eval", folder, "--case", "good").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tag", "blnd"], "did you mean `blind`?"),
        (["--case", "brokn-teapot"], "did you mean `broken-teapot`?"),
        (["--brain", "embeded"], "did you mean `embedded`?"),
        (["--brain", "llm"], "names no model"),
        (["--judge", "good"], "provider/model"),
        (["--compare", "none.json"], "No such file"),
    ],
)
def test_what_cannot_be_chosen_is_told(arguments: list[str], words: str, cli: Cli) -> None:
    said = cli("eval", "sample", *arguments)
    assert said.code == 2
    assert words in said.err


def test_a_mistake_in_a_case_is_told_with_file_and_line(cli: Cli, tmp_path: Path) -> None:
    folder = a_desk(
        tmp_path / "desk", "cases:\n- id: a\n  message: {body: hi}\n  expect: {statsu: sent}\n"
    )
    said = cli("eval", folder)
    assert said.code == 2
    assert f"{folder}/evals.yaml:4: unknown key `statsu`" in said.err


def test_reports_are_written_as_junit_and_as_one_page(cli: Cli, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\x1b[31m P-1 order"
    folder = a_desk(
        tmp_path / "desk",
        [a_case({"status": "done", "reply": {"contains": evil}}, evil, tags=["blind"])],
    )
    xml, page = tmp_path / "report.xml", tmp_path / "report.html"
    assert cli("eval", folder, "--junit", xml, "--html", page, "--repeat", "2").code == 1
    suites = Xml.parse(xml).getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("1", "1")
    [failure] = suites.iter("failure")
    assert "expected done, found sent" in str(failure.text)
    text = page.read_text()
    assert "<script>" not in text
    assert "prefers-color-scheme: dark" in text
    assert not any(word in text for word in ("http://", "https://", "src=", "@import", "url("))


def test_a_comparison_fails_only_where_it_got_worse(cli: Cli, tmp_path: Path) -> None:
    cases = [a_case({"status": "sent"}, id="good"), a_case({"status": "done"}, id="bad")]
    folder = a_desk(tmp_path / "desk", cases)
    base = tmp_path / "base.json"
    base.write_text(cli("eval", folder, "--json").out)
    said = cli("eval", folder, "--compare", base)
    assert (said.code, "0 worse, 0 better of 2" in said.out) == (0, True)
    rules = (folder / "brain.yaml").read_text()
    (folder / "brain.yaml").write_text(
        rules.replace("category: order, confidence: 0.95", "category: order, confidence: 0.5")
    )
    said = cli("eval", folder, "--compare", base, "--json")
    assert said.code == 1
    assert said.json["compare"]["regressions"] == 1
    [worse, other] = said.json["compare"]["changed"]
    assert (worse["id"], worse["kind"], other["kind"]) == ("good", "regression", "different")
    assert worse["scores"]["status"] == {
        "expected": "sent",
        "before": "sent",
        "now": "waiting_review",
    }


def test_a_recorded_case_keeps_the_mode_that_its_run_met(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    story = cli("run", SAMPLES / "order-status.eml", "--desk", sample, "--live", "--json").json
    assert story["status"] == "sent"
    shutil.rmtree(sample / "evals")
    assert cli("eval", "add", story["run"], "--desk", sample, "--id", "left").code == 0
    text = (sample / "desk.yaml").read_text()
    (sample / "desk.yaml").write_text(text.replace("mode: auto", "mode: draft"))
    assert cli("eval", sample).code == 0
    assert "mode: auto" in (sample / "evals" / "recorded.yaml").read_text()


def test_a_recorded_run_becomes_a_case_and_comments_stay(
    cli: Cli, sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    run = cli("run", SAMPLES / "which-parcel.json", "--desk", sample, "--live", "--json").json[
        "turns"
    ][-1]["run"]
    shutil.rmtree(sample / "evals")
    kept = (
        "# ours, by hand\ncases:\n  - id: old # as ever\n    message: {body: 'Where is P-1001, my"
        " order?'}\n"
    )
    kept += "    expect: {status: sent}\n"
    (sample / "evals.yaml").write_text(kept)
    said = cli("eval", "add", run, "--desk", sample, "--id", "asked-first", "--tag", "recorded")
    assert said.code == 0, said.err
    text = (sample / "evals.yaml").read_text()
    assert text.startswith(kept)
    report = cli("eval", sample, "--json").json
    assert {case["id"]: case["passed"] for case in report["cases"]} == {
        "old": True,
        "asked-first": True,
    }
    assert "2.reply" in report["cases"][1]["scores"]
    assert cli("eval", "add", run, "--desk", sample, "--id", "old").code == 2
    assert "shipped desk" in cli("eval", "add", run, "--desk", "sample").err


def test_an_edited_reply_becomes_a_case_that_asks_for_the_edit(
    cli: Cli, sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    drafted = cli("run", SAMPLES / "refund.eml", "--desk", sample, "--live", "--json").json
    shorter = drafted["reply"]["text"].replace(
        "We refund you as soon as it is back.", "You get your money back today."
    )
    assert (
        cli("reviews", "edit", drafted["review"]["id"], "--desk", sample, "--text", shorter).code
        == 0
    )
    cli("run", SAMPLES / "spam.eml", "--desk", sample, "--live")  # takes up what was queued
    shutil.rmtree(sample / "evals")
    assert cli("eval", "add", drafted["run"], "--desk", sample, "--id", "lesson").code == 0
    [case] = cli("eval", sample, "--json").json["cases"]
    assert (case["passed"], case["tags"]) == (False, ["edited"])
    assert {name: score["passed"] for name, score in case["scores"].items()} == {
        "route": True,
        "flow": True,
        "category": True,
        "tools": True,
        "reply": False,
    }
    wanted = case["scores"]["reply"]["expected"]
    assert wanted["contains"] == ["You get your money back today."]
    assert wanted["not_contains"] == ["We refund you as soon as it is back."]
    rules = (sample / "brain.yaml").read_text()
    (sample / "brain.yaml").write_text(
        rules.replace(wanted["not_contains"][0], wanted["contains"][0])
    )
    assert cli("eval", sample).code == 0


def test_a_lesson_is_not_about_how_the_desk_greets_and_closes(
    cli: Cli, sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    drafted = cli("run", SAMPLES / "refund.eml", "--desk", sample, "--live", "--json").json
    own = "You get your money back today."
    rewritten = f"Hi Carla my dear friend,\n\n{own}\n\nBest wishes from all of us\nJana"
    edited = cli("reviews", "edit", drafted["review"]["id"], "--desk", sample, "--text", rewritten)
    assert edited.code == 0
    cli("run", SAMPLES / "spam.eml", "--desk", sample, "--live")  # takes up what was queued
    shutil.rmtree(sample / "evals")
    assert cli("eval", "add", drafted["run"], "--desk", sample, "--id", "lesson").code == 0
    [case] = cli("eval", sample, "--json").json["cases"]
    wanted = case["scores"]["reply"]["expected"]
    greeting = drafted["reply"]["text"].splitlines()[0]
    assert wanted["contains"] == [own]
    assert greeting not in wanted["not_contains"]
    assert case["passed"] is False
    rules = (sample / "brain.yaml").read_text()
    for struck_out in wanted["not_contains"]:
        assert struck_out in drafted["reply"]["text"]
    learned = f"{greeting}\n\n{own}\n\nYour parcel shop"
    (sample / "brain.yaml").write_text(_drafting(rules, learned))
    assert cli("eval", sample).code == 0


def _drafting(rules: str, text: str) -> str:
    """The rules of a brain that drafts this text, whatever it is asked."""
    drafted = json.dumps({"text": text, "language": "en"})
    return rules.replace(
        "rules:\n", f"rules:\n  - {{when: {{stage: draft}}, answer: {drafted}}}\n", 1
    )


def test_a_replay_tells_what_changes_and_ends_with_one(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    run = cli("run", SAMPLES / "other.eml", "--desk", sample, "--live", "--json").json["run"]
    same = cli("replay", run, "--desk", sample)
    assert (same.code, "1 identical, 0 changed" in same.out) == (0, True)
    changed = Path(shutil.copytree(sample, tmp_path / "changed"))
    (changed / "desk.yaml").write_text(
        (changed / "desk.yaml").read_text().replace("auto_send_at: 0.8", "auto_send_at: 0.1")
    )
    said = cli("replay", "--since", "1h", "--desk", sample, "--config", changed)
    assert said.code == 1
    assert f"changed {run}" in said.out
    assert "was waiting_review" in said.out
    report = cli("replay", run, "--desk", sample, "--config", changed, "--json").json
    assert (report["total"], report["changed"]) == (1, 1)
    # It leaves by itself and promises an answer, so the matter stays open.
    change = {"what": "status", "before": "waiting_review", "now": "needs_review"}
    assert change in report["runs"][0]["changes"]


def test_a_replay_shows_a_changed_reply_as_a_diff(cli: Cli, sample: Path, tmp_path: Path) -> None:
    run = cli("run", SAMPLES / "other.eml", "--desk", sample, "--live", "--json").json["run"]
    changed = Path(shutil.copytree(sample, tmp_path / "changed"))
    rules = (changed / "brain.yaml").read_text()
    (changed / "brain.yaml").write_text(rules.replace("thank you for writing.", "we are grateful."))
    said = cli("replay", run, "--desk", sample, "--config", changed)
    assert "-thank you for writing. A colleague will answer you today." in said.out
    assert "+we are grateful. A colleague will answer you today." in said.out
    assert "-Your parcel shop" not in said.out  # what is the same is not told as changed


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "say what to replay"),
        (["--since", "yesterday"], 2, "'yesterday' is not a time"),
        (["run_none"], 1, "there is no run run_none"),
    ],
)
def test_a_replay_of_nothing_is_told(
    arguments: list[str], code: int, words: str, cli: Cli, sample: Path, tmp_path: Path
) -> None:
    cli("run", SAMPLES / "other.eml", "--desk", sample, "--live", "--json")
    said = cli("replay", *arguments, "--desk", sample)
    assert (said.code, words in said.err) == (code, True)


def test_the_schema_of_cases_is_printed_and_comes_with_a_new_desk(cli: Cli, tmp_path: Path) -> None:
    schema = cli("schema", "evals").json
    assert schema["title"] == "Deskhand golden cases"
    assert cli("init", "mine").code == 0
    assert json.loads((tmp_path / "mine" / "evals.schema.json").read_text()) == schema
    assert cli("schema", "moon").code == 2
