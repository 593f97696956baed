"""`deskhand intents`: trained, cached, measured; exit 1 when the budget cannot be kept."""

from pathlib import Path

import pytest

from tests.cli_kit import Cli

DATA = Path(__file__).parents[2] / "data" / "crosslingual.yaml"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "desk.yaml").write_text(
        "desk: shop\nflows: {main: {stages: {a: {task: summarise}}}}\n"
    )
    examples = DATA.read_text(encoding="utf-8").partition("sentences:")[0]
    (folder / "intents.yaml").write_text(
        examples.replace("examples:", "intents:"), encoding="utf-8"
    )
    return folder


def test_training_reports_and_is_kept(cli: Cli, desk: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = cli("intents", "train", desk, "--cache", cache)
    assert first.code == 0
    assert "80 examples of 10 intents" in first.out
    assert "worst confusions" in first.out
    assert len(list(cache.glob("*.npz"))) == 1
    again = cli("intents", "test", desk, "--cache", cache, "--json")
    assert again.code == 0
    assert again.json["keeps_budget"] is True
    assert again.json["labels"] == 10
    assert "reading" not in again.err


def test_coverage_is_told_of_golden_mail_before_examples(
    cli: Cli, desk: Path, tmp_path: Path
) -> None:
    without = cli("intents", "train", desk, "--cache", tmp_path / "cache")
    assert "Nothing says how much of real mail it answers" in without.out
    (desk / "evals.yaml").write_text(
        "cases:\n"
        "  - {id: a, message: {body: 'Where is my parcel?'}, expect: {intent: order_status}}\n"
        "  - {id: b, message: {body: 'The moon is full of cheese.'}, expect: {intent: refund}}\n"
        "  - {id: c, message: {body: Boo}, expect: {intent: nothing_we_know}}\n"
    )
    said = cli("intents", "train", desk, "--cache", tmp_path / "cache", "--json").json
    assert said["golden"] == {
        "mails": 2,
        "coverage": 0.5,
        "error": 0.0,
        "out_of_scope": 1,
        "out_of_scope_recall": 1.0,
    }
    assert said["coverage"] != said["golden"]["coverage"]
    told = cli("intents", "train", desk, "--cache", tmp_path / "cache").out
    assert told.index("50.0% of 2 mails are answered") < told.index("on its own examples")


def test_a_file_of_questions(cli: Cli, desk: Path, tmp_path: Path) -> None:
    questions = tmp_path / "q.csv"
    questions.write_text(
        "text,label\nKde je moje zásilka?,order_status\nI forgot my password,login_problem\nBoo!,\n"
    )
    said = cli("intents", "test", desk, questions, "--cache", tmp_path / "cache", "--json")
    assert (said.code, said.json["questions"], said.json["out_of_scope"]) == (0, 2, 1)
    assert said.json["accuracy"] == 1
    questions.write_text("text,label\nI forgot my password,order_status\n")
    wrong = cli("intents", "test", desk, questions, "--cache", tmp_path / "cache")
    assert wrong.code == 1
    questions.write_text("text,label\nI forgot my password,nonsense\n")
    assert cli("intents", "test", desk, questions, "--cache", tmp_path / "cache").code == 2


def test_a_budget_that_cannot_be_kept_is_a_no(cli: Cli, desk: Path, tmp_path: Path) -> None:
    (desk / "intents.yaml").write_text("intents:\n  a: [one]\n  b: [two]\n")
    said = cli("intents", "train", desk, "--cache", tmp_path / "cache")
    assert said.code == 1
    assert "Nothing could be measured" in said.out
    assert "about 59 more examples (30 for each intent)" in said.out


def test_a_few_examples_are_told_what_would_prove_them(
    cli: Cli, desk: Path, tmp_path: Path
) -> None:
    lines = [line for line in (desk / "intents.yaml").read_text().splitlines() if line.strip()]
    kept = lines[:1] + [line for start in (1, 10, 19) for line in lines[start : start + 4]]
    (desk / "intents.yaml").write_text(
        "\n".join([*kept, "out_of_scope: [Tell me a joke, Who won the match?]\n"])
    )
    said = cli("intents", "train", desk, "--cache", tmp_path / "cache")
    assert said.code == 1
    assert "So few examples prove nothing" in said.out
    assert "more examples (" in said.out
    assert "100.0% of 2 are not answered" in said.out


def test_a_desk_without_intents_is_told_what_to_write(cli: Cli, desk: Path) -> None:
    (desk / "intents.yaml").unlink()
    said = cli("intents", "train", desk)
    assert said.code == 2
    assert "examples" in said.err


def test_a_mistake_is_told_with_file_and_line(cli: Cli, desk: Path) -> None:
    (desk / "intents.yaml").write_text("intents:\n  a:\n    exampels: [one]\n")
    said = cli("intents", "train", desk, "--json")
    assert said.code == 2
    assert said.json["error"]["problems"][0]["line"] == 3


def test_which_intents_count_for_a_customer_is_told_with_the_reason(cli: Cli, desk: Path) -> None:
    (desk / "intents.yaml").write_text(
        "tiers: [free, pro]\nintents:\n  a: {examples: [one], tier: pro}\n  b: [two]\n"
    )
    said = cli("intents", "eligible", desk, "--customer", "c-1", "--tier", "free", "--json")
    assert said.code == 0
    assert said.json["eligible"] == ["b"]
    table = cli("intents", "eligible", desk, "--tier", "free").out
    assert "it needs the tier pro, and the customer has free" in table
    wrong = cli("intents", "eligible", desk, "--tier", "gold")
    assert wrong.code == 2
    assert "there is no tier `gold`" in wrong.err
