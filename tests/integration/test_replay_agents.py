"""Replays of runs that an agent worked, on a machine without a key: its turns and what its tools
said come from the record, and where a changed desk would ask it something else, that is told."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from deskhand.cli.app import command_line
from deskhand.evals.recorded_chat import RecordedChat, divergence_in_words
from deskhand.evals.replay import Replayed
from deskhand.model.run import Decision, RunStatus
from tests.agent_desk import BY_HAND, STAND_IN, a_desk
from tests.fake_openai import FakeOpenAI, Reply, completion, tool_call
from tests.replay_kit import Recorder, changes_of, recording, replayed, verdicts

KEY = "SHOP_MODEL_KEY"
MORE = f"""\
{STAND_IN}
policy:
  - {{name: look, when: {{tool: find_parcel}}, then: allow}}
  - {{name: others, when: {{tool: {{in: [send_reply, escalate]}}}}, then: allow}}
"""
TOOLS = "tools: [find_parcel, send_reply, escalate]"


class Model:
    """Looks parcels up; answers in its last words, through send_reply, or asks for a person, as
    the mail wants it."""

    def __call__(self, request: dict[str, Any]) -> Reply:
        said = [message for message in request["messages"] if message["role"] != "system"]
        text, asked = str(said[0]["content"]), said[-1]
        if asked["role"] == "user" and "wants it changed" in str(asked["content"]):
            return completion("Dear Ann, your parcel is on its way. Yours, the shop")
        if asked["role"] == "user":
            call = (
                ("escalate", {"reason": "angry"})
                if "angry" in text
                else ("find_parcel", {"number": "P-1001"})
            )
            return completion(
                "", tool_calls=[tool_call(call[0], json.dumps(call[1]))], finish_reason="tool_calls"
            )
        if "by tool" in text and "P-1001" in str(asked["content"]):
            words = {"body": "It is on its way.", "subject": "Your parcel"}
            return completion(
                "",
                tool_calls=[tool_call("send_reply", json.dumps(words))],
                finish_reason="tool_calls",
            )
        return completion("It is on its way.")


@pytest.fixture(scope="module")
def happened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A desk with what happened on it, first with a key and then without; the server is gone
    afterwards."""
    place = tmp_path_factory.mktemp("happened")
    with pytest.MonkeyPatch.context() as environment:
        runs = asyncio.run(_recorded(place, environment))
    return place, runs


@pytest.fixture
def desk(happened: tuple[Path, dict[str, str]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A copy that may be changed."""
    place, runs = happened
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    return tmp_path / "desk", runs


async def _recorded(place: Path, environment: pytest.MonkeyPatch) -> dict[str, str]:
    environment.setenv(KEY, "k")
    async with FakeOpenAI(otherwise=Model()) as server:
        folder = a_desk(
            place / "desk", brain=brain(server), model="local/small", more=MORE, flow=BY_HAND
        )
        text = (folder / "desk.yaml").read_text()
        (folder / "desk.yaml").write_text(text.replace("tools: [find_parcel]", TOOLS))
        async with recording(folder, place / "desk.db") as recorder:
            runs = await everything(recorder)
        environment.delenv(KEY)
        async with recording(folder, place / "desk.db") as recorder:
            runs["stand_in"] = await recorder.say("Where is P-1001?", "later", subject="My parcel")
            runs["elsewhere"] = await recorder.say("Hello", "elsewhere")
    return runs


def brain(server: FakeOpenAI) -> str:
    return f"providers: {{local: {{base_url: '{server.base_url}', key_env: {KEY}}}}}"


async def everything(recorder: Recorder) -> dict[str, str]:
    say = recorder.say
    runs = {
        "answered": await say("Where is P-1001?", subject="My parcel"),
        "by_tool": await say("Where is P-1001? Answer by tool", subject="My parcel"),
        "escalated": await say("I am angry", subject="My parcel"),
    }
    store = recorder.desk.store
    assert (await store.run(runs["answered"])).status is RunStatus.SENT
    assert (await store.run(runs["escalated"])).status is RunStatus.NEEDS_REVIEW
    return runs


async def again(desk: Path) -> tuple[Replayed, RecordedChat]:
    return await replayed(desk.parent / "desk.db", desk)


def lines(found: Replayed, run: str) -> list[str]:
    [one] = [one for one in found.runs if one["run"] == run]
    return [divergence_in_words(place) for place in one["apart"]]


async def test_an_agents_runs_replay_identically_without_a_key(
    desk: tuple[Path, dict[str, str]],
) -> None:
    folder, runs = desk
    found, chat = await again(folder)
    assert verdicts(found) == dict.fromkeys(runs.values(), "identical")
    assert (chat.tally.recorded, chat.tally.all_missing, found.tool_results_missing) == (6, 0, 0)


async def test_a_machine_with_a_key_replays_the_same(
    desk: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the run that was worked while there was none."""
    folder, runs = desk
    monkeypatch.setenv(KEY, "k")
    found, chat = await again(folder)
    assert verdicts(found) == dict.fromkeys(runs.values(), "identical")
    assert chat.tally.all_missing == 0


async def test_a_changed_prompt_is_told_at_the_first_turn(
    desk: tuple[Path, dict[str, str]],
) -> None:
    folder, runs = desk
    (folder / "config/prompts/parcels.txt").write_text("You find parcels, quickly.")
    found, _ = await again(folder)
    for name in ("answered", "by_tool", "escalated"):
        assert verdicts(found)[runs[name]] == "unknown"
        assert lines(found, runs[name]) == [
            "agent, turn 1: the system prompt changed; what the model would say is not known"
        ]
    assert verdicts(found)[runs["stand_in"]] == "identical"
    assert "route" not in changes_of(found, runs["answered"])


async def test_a_changed_tool_is_told_at_the_first_turn(desk: tuple[Path, dict[str, str]]) -> None:
    folder, runs = desk
    tools = (folder / "tools.py").read_text()
    (folder / "tools.py").write_text(
        tools.replace("As on the label.", "As it stands on the label.")
    )
    found, _ = await again(folder)
    assert lines(found, runs["answered"]) == [
        "agent, turn 1: the tools it may call changed; what the model would say is not known"
    ]


async def test_a_changed_policy_is_told_at_the_turn_that_would_hear_of_it(
    desk: tuple[Path, dict[str, str]],
) -> None:
    folder, runs = desk
    text = (folder / "desk.yaml").read_text()
    denied = "then: deny, why: Nobody looks., say: Not today."
    (folder / "desk.yaml").write_text(
        text.replace("{tool: find_parcel}, then: allow", f"{{tool: find_parcel}}, {denied}")
    )
    found, _ = await again(folder)
    assert verdicts(found)[runs["answered"]] == "unknown"
    assert lines(found, runs["answered"]) == [
        "agent, turn 2: the result of find_parcel (turn 1) changed; what the model would say is not"
        " known"
    ]
    assert verdicts(found)[runs["escalated"]] == "identical"
    assert changes_of(found, runs["answered"])["verdicts"][1] == [
        {"tool": "find_parcel", "verdict": "deny", "rule": "look"}
    ]


async def test_what_is_done_with_the_agents_words_is_done_anew(
    desk: tuple[Path, dict[str, str]],
) -> None:
    """A mode that lets nothing leave by itself: the turns stand, what comes of them changes."""
    folder, runs = desk
    text = (folder / "desk.yaml").read_text()
    (folder / "desk.yaml").write_text(text.replace("mode: auto\n", "mode: draft\n"))
    found, chat = await again(folder)
    assert verdicts(found)[runs["answered"]] == verdicts(found)[runs["by_tool"]] == "changed"
    assert changes_of(found, runs["answered"])["status"] == ("sent", "waiting_review")
    assert chat.tally.all_missing == 0


def evaluated(folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(command_line(), ["eval", str(folder), "--json", *more])
    return result.exit_code, json.loads(result.stdout)


def added(folder: Path, run: str, name: str) -> None:
    database = str(folder.parent / "desk.db")
    result = CliRunner().invoke(
        command_line(),
        ["eval", "add", run, "--id", name, "--desk", str(folder), "--database", database],
    )
    assert result.exit_code == 0, result.output


def test_a_run_of_an_agent_becomes_a_case_that_passes_without_a_key(
    desk: tuple[Path, dict[str, str]],
) -> None:
    folder, runs = desk
    for name in ("answered", "by_tool", "escalated"):
        added(folder, runs[name], name)
    case = YAML(typ="safe").load((folder / "evals/recorded.yaml").read_text())["cases"][0]
    assert case["given"] == {
        "tools": {"find_parcel": {"number": "P-1001", "status": "on its way"}},
        "agent": [{"call": {"find_parcel": {"number": "P-1001"}}}, {"say": "It is on its way."}],
    }
    code, report = evaluated(folder)
    assert (code, report["passed"], report["total"]) == (0, 3, 3)
    text = (folder / "desk.yaml").read_text()
    denied = "{tool: find_parcel}, then: deny, why: Nobody looks., say: Not today."
    (folder / "desk.yaml").write_text(text.replace("{tool: find_parcel}, then: allow", denied))
    code, report = evaluated(folder)
    assert (code, [one["id"] for one in report["cases"] if one["passed"]]) == (1, ["escalated"])


def test_a_case_that_gives_too_few_turns_says_so(desk: tuple[Path, dict[str, str]]) -> None:
    folder, runs = desk
    added(folder, runs["answered"], "short")
    path = folder / "evals/recorded.yaml"
    path.write_text(path.read_text().replace("- {say: It is on its way.}", ""))
    code, report = evaluated(folder)
    assert code == 1
    assert "gives 1 turns of the agent" in report["cases"][0]["run"]["reason"]


async def test_an_agents_last_words_sent_back_by_a_reviewer_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "k")
    async with FakeOpenAI(otherwise=Model()) as server:
        drafts = f"mode: draft\n{brain(server)}"
        folder = a_desk(
            tmp_path / "desk", brain=drafts, model="local/small", more=STAND_IN, flow=BY_HAND
        )
        async with recording(folder, tmp_path / "desk.db") as recorder:
            run = await recorder.say("Where is P-1001?", subject="My parcel")
            await recorder.decide(run, Decision.REVISE, note="Warmer.")
            await recorder.decide(run, Decision.APPROVE)
            assert (await recorder.desk.store.run(run)).status is RunStatus.SENT
    monkeypatch.delenv(KEY)
    found, chat = await replayed(tmp_path / "desk.db", folder)
    assert verdicts(found) == {run: "identical"}
    assert chat.tally.recorded == 3
