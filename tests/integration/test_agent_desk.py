"""A desk with an agent, from its folder to its records: routes, models, stand-ins, and what is
refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.engine.story import read_records, story_of
from deskhand.errors import ConfigError
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk, open_database, open_desk, open_sandbox, read_desk, with_brain
from tests.agent_desk import BY_HAND, STAND_IN, a_desk
from tests.fake_openai import FakeOpenAI, completion, tool_call
from tests.kit import a_message


@asynccontextmanager
async def opened(folder: Path, loaded: Any = None) -> AsyncIterator[Desk]:
    async with (
        open_database(str(folder / "desk.db")) as database,
        open_desk(
            loaded or read_desk(str(folder)), database, outbox=folder / "out", live=False
        ) as desk,
    ):
        yield desk


async def story(desk: Desk, body: str = "Where is P-1001?") -> dict[str, Any]:
    accepted = await desk.dispatcher.submit(a_message(1, body=body))
    await desk.dispatcher.wait(accepted.run_id)
    return story_of(await read_records(desk.store, accepted.run_id))


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)


async def test_rules_under_chat_play_the_model(tmp_path: Path) -> None:
    async with opened(a_desk(tmp_path, brain="brain: {scripted: brain.yaml}")) as desk:
        told = await story(desk)
        calls = await desk.store.calls(told["run"])
    assert (told["status"], told["route"], told["profile"], told["flow"]) == (
        "sent",
        "agent",
        "parcels",
        "parcels",
    )
    assert told["reply"]["text"] == "P-1001 is on its way."
    assert [(call["tool"], call["verdict"], call["ok"]) for call in told["tool_calls"]] == [
        ("find_parcel", "allow", True)
    ]
    assert [(call.call_type, call.stage) for call in calls] == [("agent", "agent")] * 2


async def test_an_agent_asks_an_openai_shaped_server(tmp_path: Path) -> None:
    first = completion(
        None,
        tool_calls=[tool_call("find_parcel", '{"number": "P-1001"}')],
        finish_reason="tool_calls",
    )
    async with FakeOpenAI([first, completion("It is on its way.")]) as server:
        more = f"providers: {{local: {{base_url: '{server.base_url}'}}}}"
        folder = a_desk(tmp_path, brain=more, model="local/small")
        async with opened(folder) as desk:
            told = await story(desk)
            calls = await desk.store.calls(told["run"])
        asked = [request.body for request in server.received]
    assert told["reply"]["text"] == "It is on its way."
    function = asked[0]["tools"][0]["function"]
    assert asked[0]["tools"][0]["type"] == "function"
    assert (function["name"], function["description"]) == ("find_parcel", "Find a parcel.")
    assert function["parameters"]["properties"]["number"]["description"] == "As on the label."
    assert function["parameters"]["required"] == ["number"]
    answer = asked[1]["messages"][-1]
    assert (answer["role"], answer["tool_call_id"]) == ("tool", "call_1")
    assert answer["content"].startswith("<data result ")
    assert '\n{"number":"P-1001","status":"on its way"}\n</data ' in answer["content"]
    assert [(call.call_type, call.prompt_tokens) for call in calls] == [("agent", 100)] * 2


async def test_without_a_model_the_named_flow_works_the_agents_messages(tmp_path: Path) -> None:
    async with opened(a_desk(tmp_path, more=STAND_IN, flow=BY_HAND)) as desk:
        told = await story(desk)
    assert (told["status"], told["route"], told["profile"], told["flow"]) == (
        "needs_review",  # the reply has left, and says that somebody will answer
        "agent",
        "parcels",
        "by_hand",
    )
    assert "no model" in told["why"]
    assert told["reply"]["text"] == "A colleague will answer."


async def test_a_key_makes_the_agent_work_unless_the_brain_is_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_desk(tmp_path, more=STAND_IN, flow=BY_HAND)
    assert read_desk(str(folder)).spec.stand_ins == {"parcels": "by_hand"}
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    loaded = read_desk(str(folder))
    assert loaded.spec.stand_ins == {}
    assert with_brain(loaded, "embedded").spec.stand_ins == {"parcels": "by_hand"}
    assert with_brain(with_brain(loaded, "embedded"), "scripted").spec.stand_ins == {}


async def test_without_a_model_and_without_a_flow_in_its_place_the_desk_is_refused(
    tmp_path: Path,
) -> None:
    loaded = read_desk(str(a_desk(tmp_path)))
    with pytest.raises(
        ConfigError, match=r"the agent `parcels` has no model to ask.*GEMINI_API_KEY"
    ):
        async with opened(tmp_path, loaded):
            pass
    with pytest.raises(ConfigError, match="without_model"):
        async with open_sandbox(loaded):
            pass


async def test_a_message_of_another_kind_takes_the_usual_flow(tmp_path: Path) -> None:
    async with opened(a_desk(tmp_path, brain="brain: {scripted: brain.yaml}")) as desk:
        accepted = await desk.dispatcher.submit(
            a_message(1).model_copy(update={"subject": "Hello"})
        )
        await desk.dispatcher.wait(accepted.run_id)
        run = await desk.store.run(accepted.run_id)
    assert run.flow == "plain"
    assert run.status in (RunStatus.NEEDS_REVIEW, RunStatus.DONE)


async def test_an_agent_is_told_what_was_said_before(tmp_path: Path) -> None:
    answers = [completion("Which parcel do you mean?"), completion("Which one is it?")]
    async with FakeOpenAI(answers) as server:
        more = f"providers: {{local: {{base_url: '{server.base_url}'}}}}"
        folder = a_desk(tmp_path, brain=more, model="local/small")
        for number, body in enumerate(("Where is P-1001?", "And when does it arrive?"), 1):
            async with opened(folder) as desk:
                message = a_message(number, conversation="c", body=body)
                accepted = await desk.dispatcher.submit(message)
                await desk.dispatcher.wait(accepted.run_id)
        first, second = [request.body["messages"][-1]["content"] for request in server.received]
    assert "Earlier in this conversation" not in first
    assert "the customer: Where is P-1001?" in second
    assert second.index("<data conversation ") < second.index("Where is P-1001?")
    assert second.index("Where is P-1001?") < second.index("\nAnd when does it arrive?\n</data ")
