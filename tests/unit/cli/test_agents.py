"""Desks with agents on the command line: a run told live, shown as JSON, and evaluated without a
key."""

from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.brain.chat_script import ChatScript
from deskhand.model.chat import ChatRequest, Completion, Usage
from tests.agent_desk import BY_HAND, STAND_IN, a_desk
from tests.cli_kit import Cli, write_message

SCRIPTED = "brain: {scripted: brain.yaml}"
CASES = """\
cases:
  - id: where-is-it
    message: {from: ann@example.com, subject: My parcel, body: Where is P-1001?}
    expect:
      status: sent
      route: agent
      flow: parcels
      tools: [find_parcel]
      reply: {contains: [on its way]}
"""


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    return write_message(tmp_path / "mail.json", subject="My parcel", body="Where is P-1001?")


def test_a_run_shown_as_json_has_its_agent_runs(tmp_path: Path, cli: Cli, mail: Path) -> None:
    folder, url = a_desk(tmp_path / "desk", brain=SCRIPTED), str(tmp_path / "runs.db")
    worked = cli("run", mail, "--desk", folder, "--database", url, "--json").json
    document = cli("runs", "show", worked["run"], "--database", url, "--json").json
    (agent,) = document["agent_runs"]
    assert (agent["profile"], agent["status"], agent["iterations"]) == ("parcels", "completed", 2)
    assert [call["tool"] for call in agent["tool_calls_log"]] == ["find_parcel"]
    assert [call["call_type"] for call in document["llm_calls"]] == ["agent", "agent"]
    assert [event["event_type"] for event in document["email_events"]] == ["agent_completed"]


def test_a_shown_run_says_what_models_took(
    tmp_path: Path, cli: Cli, mail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = Usage(100, 20, 0.001, cached_tokens=64, reasoning_tokens=7)
    answered = ChatScript.complete

    async def complete(model: ChatScript, request: ChatRequest) -> Completion:
        return replace(await answered(model, request), usage=spent)

    monkeypatch.setattr(ChatScript, "complete", complete)
    folder, url = a_desk(tmp_path / "desk", brain=SCRIPTED), str(tmp_path / "runs.db")
    worked = cli("run", mail, "--desk", folder, "--database", url, "--json").json
    said = cli("runs", "show", worked["run"], "--database", url)
    models = next(line for line in said.out.splitlines() if line.startswith("  models"))
    assert " ".join(models.split()) == (
        "models 2 calls, 200 tokens in (128 from the cache), 40 out (14 thoughts), 0.0020"
    )


def test_a_run_is_told_turn_by_turn(tmp_path: Path, cli: Cli, mail: Path) -> None:
    said = cli("run", mail, "--desk", a_desk(tmp_path / "desk", brain=SCRIPTED))
    assert said.code == 0
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert any("turn 1" in line and "asks for find_parcel" in line for line in lines), said.out
    assert any(
        "find_parcel" in line and "number=P-1001" in line and "allow, ok" in line for line in lines
    ), said.out
    assert any("agent" in line and "completed, 2 turns" in line for line in lines), said.out
    assert "P-1001 is on its way." in said.out


def test_an_agent_is_evaluated_without_a_key(tmp_path: Path, cli: Cli) -> None:
    folder = a_desk(tmp_path / "desk", more=STAND_IN, flow=BY_HAND)
    (folder / "evals.yaml").write_text(CASES)
    scripted = cli("eval", folder, "--brain", "scripted", "--json")
    assert scripted.code == 0, scripted.out
    embedded = cli("eval", folder, "--brain", "embedded", "--json")
    assert embedded.code == 1, (
        "without a model another flow works it, and this case expects the agent"
    )


def test_the_doctor_says_which_agent_has_no_model(tmp_path: Path, cli: Cli) -> None:
    checks = cli("doctor", a_desk(tmp_path / "desk"), "--json").json["checks"]
    (agent,) = [check for check in checks if check["name"] == "agent"]
    assert not agent["ok"]
    assert "GEMINI_API_KEY" in agent["found"]
    checks = cli("doctor", a_desk(tmp_path / "desk", more=STAND_IN, flow=BY_HAND), "--json").json[
        "checks"
    ]
    (agent,) = [check for check in checks if check["name"] == "agent"]
    assert agent["ok"]
    assert "by_hand" in agent["found"]


def test_a_desk_whose_agent_has_no_model_says_so(tmp_path: Path, cli: Cli, mail: Path) -> None:
    said = cli("run", mail, "--desk", a_desk(tmp_path / "desk"))
    assert said.code == 2
    assert "has no model to ask" in said.err
    assert "without_model" in said.err
