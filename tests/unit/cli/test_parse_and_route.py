"""`deskhand parse` and `deskhand route`."""

import json
from pathlib import Path

import pytest

from tests.cli_kit import Cli

MAIL = """From: Ann Lee <Ann@Example.com>
To: desk@shop.example
Subject: Fwd: Broken teapot
Message-ID: <one@example.com>
Auto-Submitted: no

Please look.

---------- Forwarded message ---------
From: Bob <bob@example.com>
Date: Mon, 1 Feb 2021
Subject: Broken teapot
To: ann@example.com

It is broken.
"""
SEED = """desk: shop
flows:
  inbox: {stages: {a: {task: summarise}}}
  pharmacy: {stages: {a: {task: summarise}}}
default_flow: inbox
routing:
  rules:
    - name: pharmacy_support
      match:
        forwarded_from: "info@dostupnost-leku.cz"
      route: agent
      profile: pharmacy
    - name: default
      match:
        all: true
      route: pipeline
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "desk.yaml").write_text(SEED)
    return folder


@pytest.fixture
def eml(tmp_path: Path) -> Path:
    file = tmp_path / "mail.eml"
    file.write_text(MAIL)
    return file


def test_parse_tells_words_and_what_is_forwarded(cli: Cli, eml: Path) -> None:
    said = cli("parse", eml, "--json")
    assert said.code == 0
    assert said.json["message"]["sender"] == {"address": "Ann@Example.com", "name": "Ann Lee"}
    assert said.json["visible_reply"] == "Please look."
    assert said.json["forwarded"]["from"] == {"address": "bob@example.com", "name": "Bob"}
    assert (said.json["forwarded"]["message"], said.json["automatic"]) == ("Please look.", None)
    told = cli("parse", eml).out
    assert "Please look." in told
    assert "forwarded from Bob <bob@example.com>" in told


def test_parse_says_that_a_program_wrote(cli: Cli, eml: Path) -> None:
    eml.write_text(MAIL.replace("Auto-Submitted: no", "Auto-Submitted: auto-replied"))
    assert cli("parse", eml, "--json").json["automatic"]["kind"] == "auto_reply"
    assert (
        "no person sent this: auto_reply: Auto-Submitted is auto-replied" in cli("parse", eml).out
    )


def test_parse_of_no_file_is_a_mistake_told_in_words(cli: Cli) -> None:
    said = cli("parse", "nothing.eml")
    assert (said.code, "nothing.eml" in said.err) == (2, True)


def test_route_says_which_way_and_why(cli: Cli, desk: Path, eml: Path) -> None:
    said = cli("route", eml, "--desk", desk, "--json")
    assert (said.code, said.json) == (
        0,
        {
            "route": "pipeline",
            "profile": None,
            "flow": "inbox",
            "instead_of": None,
            "rule": "default",
            "why": "every message",
            "preprocess": None,
        },
    )
    eml.write_text(MAIL.replace("Auto-Submitted: no", "Reply-To: Info@dostupnost-leku.cz"))
    said = cli("route", eml, "--desk", desk, "--json")
    assert said.json == {
        "route": "agent",
        "profile": "pharmacy",
        "flow": "pharmacy",
        "rule": "pharmacy_support",
        "why": "forwarded_from info@dostupnost-leku.cz (in Reply-To)",
        "preprocess": None,
        "instead_of": None,
    }
    assert "agent pharmacy" in cli("route", eml, "--desk", desk).out


def test_the_run_tells_which_rule_chose_its_flow(
    cli: Cli, desk: Path, eml: Path, tmp_path: Path
) -> None:
    eml.write_text(MAIL.replace("Auto-Submitted: no", "Reply-To: info@dostupnost-leku.cz"))
    said = cli("run", eml, "--desk", desk, "--json", "--database", tmp_path / "runs.db")
    told = json.loads(said.out)
    assert (told["route"], told["profile"], told["flow"], told["rule"]) == (
        "agent",
        "pharmacy",
        "pharmacy",
        "pharmacy_support",
    )
    shown = cli("runs", "show", told["run"], "--database", tmp_path / "runs.db").out
    assert (
        "routed to pharmacy by pharmacy_support: forwarded_from info@dostupnost-leku.cz (in"
        " Reply-To)" in shown
    )


def test_analyse_finds_what_is_hidden(cli: Cli, desk: Path) -> None:
    fine = cli("route", "--analyse", desk, "--json")
    assert (fine.code, fine.json["findings"]) == (0, [])
    (desk / "desk.yaml").write_text(SEED + "    - {name: late, match: {sender_email: a@x.cz}}\n")
    said = cli("route", "--analyse", desk, "--json")
    assert said.code == 1
    (finding,) = said.json["findings"]
    assert (finding["kind"], finding["rule"], finding["other"]) == ("shadowed", "late", "default")
    assert finding["example"]["from"] == "a@x.cz"
    assert "`late` is never reached" in cli("route", "--analyse", desk).out


def test_what_is_missing_is_said(cli: Cli, desk: Path, eml: Path) -> None:
    assert cli("route", eml).code == 2
    assert cli("route", eml, "--analyse", desk).code == 2
