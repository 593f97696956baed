"""`deskhand kb`, without the real model."""

from pathlib import Path

import pytest

from deskhand import wiring
from tests.cli_kit import Cli
from tests.knowledge_kit import HashingEmbedder, write


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wiring, "embedder", HashingEmbedder)
    folder = tmp_path / "shop"
    write(folder, "desk.yaml", "desk: shop\nflows: {}\n")
    write(
        folder,
        "knowledge/refunds.md",
        "---\nid: refunds\ncategory: billing\n---\n# Refunds\nMoney in [five] days.",
    )
    write(folder, "knowledge/password.md", "Reset your password.")
    return folder


def test_articles_are_added_listed_and_found(cli: Cli, desk: Path) -> None:
    said = cli("kb", "add", desk)
    assert said.code == 0, said.err
    assert "2 added, 0 changed, 0 unchanged, 0 removed; 2 chunks embedded" in said.out
    listed = cli("kb", "list", desk)
    assert "refunds" in listed.out
    assert "billing" in listed.out
    found = cli("kb", "search", desk, "money in five days")
    assert "Refunds [refunds]" in found.out
    assert "Money in [five] days." in found.out
    document = cli(
        "kb", "search", desk, "money", "--category", "billing", "--limit", "1", "--json"
    ).json
    assert [hit["article"] for hit in document["hits"]] == ["refunds"]
    assert cli("kb", "search", desk, "money", "--language", "fr").out.strip() == "nothing found"
    assert {one["id"] for one in cli("kb", "list", desk, "--json").json["articles"]} == {
        "refunds",
        "password",
    }


def test_a_rebuild_follows_the_files(cli: Cli, desk: Path) -> None:
    cli("kb", "add", desk)
    (desk / "knowledge" / "password.md").unlink()
    write(desk, "knowledge/new.txt", "New.")
    report = cli("kb", "rebuild", desk, "--json").json
    assert (report["added"], report["removed"], report["unchanged"]) == (
        ["new"],
        ["password"],
        ["refunds"],
    )
    assert report["chunks"] == 1
    assert cli("kb", "rebuild", desk, "--all", "--json").json["chunks"] == 2


def test_a_broken_file_is_told_and_the_others_go_in(cli: Cli, desk: Path) -> None:
    write(desk, "knowledge/broken.pdf", b"%PDF-1.4")
    write(desk, "knowledge/bad.md", "---\nid: x y\n---\nText")
    said = cli("kb", "add", desk)
    assert said.code == 1
    assert "broken.pdf: this PDF is damaged" in said.err
    assert "bad.md:2: `x y` cannot be an id" in said.err
    assert "2 added" in said.out
    problems = cli("kb", "add", desk, "--json").json["problems"]
    assert sorted(problem["line"] or 0 for problem in problems) == [0, 2]


def test_files_may_be_named(cli: Cli, desk: Path, tmp_path: Path) -> None:
    other = write(tmp_path, "elsewhere/guide.md", "A guide.")
    assert cli("kb", "add", desk, other, "--json").json["added"] == ["guide"]
    assert cli("kb", "add", desk, tmp_path / "nothing.md").code == 1


def test_wrong_usage_is_told(cli: Cli, desk: Path) -> None:
    said = cli("kb", "search", desk, "  ")
    assert (said.code, "the query is empty" in said.err) == (2, True)
    assert "there is no database" in cli("kb", "list", desk).err
    assert "no desk" in cli("kb", "list", "nowhere").err
    cli("kb", "add", desk)
    assert "no answer used" in cli("kb", "changed", desk).out
    assert cli("kb", "changed", desk, "--json").json == {"answers": []}
    assert cli("kb", "search", desk, "\x1b[31m🎉 NEAR(", "--json").code == 0
