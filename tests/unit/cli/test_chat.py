"""`deskhand chat`: a conversation with a desk in the terminal."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli_kit import Cli, write_desk

DESK = """
desk: shop
mode: draft
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      decide: {task: decide, output: plan, next: act}
      act: {tools: [note_refund]}
"""
RULES = """
rules:
  - when: {stage: decide, contains: [refund]}
    answer:
      steps:
        - {type: ask_user, param: order, prompt: "Which order is it?"}
        - {tool: note_refund, parameters: {order: "{slots.order}"}}
        - {type: respond, when: post, message: "It is noted."}
  - when: {stage: decide}
    answer: {steps: [{type: respond, when: post, message: "We are open until five."}]}
"""
TOOLS = '''
from pathlib import Path

from deskhand import tool


@tool(effect="reversible", risk="low")
async def note_refund(order: str) -> dict:
    """Note that a customer wants his money back."""
    Path("noted.txt").write_text(order)
    return {"noted": order}
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_desk(tmp_path / "shop", DESK, RULES, TOOLS)


Types = Callable[..., None]


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Types:
    """Puts lines where somebody would type them."""

    def type_lines(*lines: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return type_lines


def test_a_question_is_asked_answered_and_gone_on_with(cli: Cli, shop: Path, types: Types) -> None:
    types("I want a refund", "O-17")
    said = cli("chat", shop)
    assert said.code == 0, said.err
    assert [line.rstrip() for line in said.out.splitlines() if line.strip()] == [
        "you   I want a refund",
        "desk  Which order is it?",
        "you   O-17",
        "desk  It is noted.",
    ]
    assert not Path("noted.txt").exists()


def test_an_empty_line_ends_it(cli: Cli, shop: Path, types: Types) -> None:
    types("When do you close?", "", "and tomorrow?")
    said = cli("chat", shop, "--json")
    [turn] = said.json["turns"]
    assert turn["reply"]["text"].strip() == "We are open until five."


def test_somebody_is_logged_in_who_is_named(cli: Cli, shop: Path, types: Types) -> None:
    types("When do you close?")
    [turn] = cli("chat", shop, "--as", "C-17", "--json").json["turns"]
    assert turn["message"]["principal"]["customer_id"] == "C-17"


def test_in_draft_it_says_that_a_person_would_decide(cli: Cli, shop: Path, types: Types) -> None:
    types("When do you close?")
    said = cli("chat", shop, "--mode", "draft")
    assert "desk  We are open until five." in said.out
    assert "a person would decide on this: draft mode" in said.out


def test_every_step_is_shown_on_request(cli: Cli, shop: Path, types: Types) -> None:
    types("When do you close?")
    said = cli("chat", shop, "--trace")
    assert "decide" in said.out
    assert "We are open until five." in said.out


def test_a_mode_that_does_not_exist_is_refused(cli: Cli, shop: Path, types: Types) -> None:
    types("hello")
    said = cli("chat", shop, "--mode", "yolo")
    assert said.code == 2
    assert "yolo" in said.err
