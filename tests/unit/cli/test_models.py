"""`deskhand models list`, `doctor --call`, and caps on money that need prices."""

import json
from pathlib import Path

import pytest

from deskhand.adapters.chat_models.trial import try_model
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ConfigError, ModelNotUsable
from deskhand.model.chat import Completion, ToolRequest
from deskhand.wiring import read_desk, require_prices
from tests.cli_kit import Cli

DESK = """\
desk: acme
models: {fast: house/m}
providers: {house: {base_url: "http://127.0.0.1:9/v1"PRICES}}
caps: {day: {model_spend: 5}}
flows:
  inbox:
    stages:
      draft: {task: draft}
"""


def desk(folder: Path, text: str) -> str:
    (folder / "desk.yaml").write_text(text)
    return str(folder)


def test_models_are_listed_with_context_prices_and_abilities(cli: Cli) -> None:
    shown = cli("models", "list")
    assert shown.code == 0
    assert "anthropic/claude-sonnet-5-5" in shown.out
    assert "1,000,000" in shown.out
    listed = {model["model"]: model for model in cli("models", "list", "--json").json["models"]}
    assert listed["openai/gpt-6-luna"]["price"]["output"] == 0.5
    assert "tools" in listed["openai/gpt-6-luna"]["can"]


def test_a_file_of_the_desk_extends_the_table(cli: Cli, tmp_path: Path) -> None:
    folder = desk(tmp_path, DESK.replace("PRICES", ""))
    (tmp_path / "models.yaml").write_text(
        "models: {house/m: {context: 4096, price: {input: 1, output: 2}}}\n"
    )
    listed = {model["model"] for model in cli("models", "list", folder, "--json").json["models"]}
    assert {"house/m", "openai/gpt-6-luna"} <= listed
    require_prices(read_desk(folder).spec)


def test_a_cap_on_money_without_a_price_is_an_error(tmp_path: Path) -> None:
    spec = read_desk(desk(tmp_path, DESK.replace("PRICES", ""))).spec
    with pytest.raises(ConfigError, match=r"model_spend` limits what house/m may cost") as caught:
        require_prices(spec)
    assert "prices: {m: {input" in str(caught.value)
    priced = DESK.replace("PRICES", ", prices: {m: {input: 1, output: 2}}")
    require_prices(read_desk(desk(tmp_path, priced)).spec)


async def test_a_model_is_tried_with_a_schema_and_with_a_tool_in_two_turns() -> None:
    call = Completion("", "house/m", (ToolRequest("c1", "find_order", '{"order": "P-1001"}'),))
    chat = ScriptedChatModel([Completion('{"category": "order"}', "house/m"), call, "On its way."])
    assert [trial.problem for trial in await try_model(chat, "house/m")] == [None, None]
    assert [bool(request.schema) for request in chat.requests] == [True, False, False]
    told = chat.requests[-1].messages[-1]
    assert (told["role"], json.loads(told["content"])["status"]) == ("tool", "on its way")


async def test_what_fails_says_what_to_write() -> None:
    chat = ScriptedChatModel(["I think it is an order.", "I cannot call tools."])
    schema, tool = await try_model(chat, "house/m")
    assert "did not answer in JSON" in str(schema.problem)
    assert "json_mode: json_object" in str(schema.fix)
    assert "called no tool" in str(tool.problem)
    assert "deskhand models list" in str(tool.fix)
    refused = ScriptedChatModel([ModelNotUsable("no key")] * 2)
    assert [trial.problem for trial in await try_model(refused, "house/m")] == ["no key"] * 2


def test_doctor_calls_models_only_when_asked(cli: Cli, tmp_path: Path) -> None:
    folder = desk(tmp_path, DESK.replace("PRICES", ", prices: {m: {input: 1, output: 2}}"))
    assert "call " not in cli("doctor", folder, "--database", str(tmp_path / "d.db")).out
    called = cli("doctor", folder, "--call", "--database", str(tmp_path / "d.db"))
    assert called.code == 1
    assert "house/m, structured answer: house/m at http://127.0.0.1:9/v1 cannot be" in called.out
