"""Bad input through the whole engine: the run it belongs to says what is wrong, and every other
run goes on."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.replying.services import dispatch_through
from deskhand.brain.llm import LlmBrain
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.engine.journal import fold, result_of
from deskhand.engine.loop import Flow
from deskhand.errors import ModelUnavailable
from deskhand.mail import parse
from deskhand.mail.message_files import message_from
from deskhand.model.chat import ChatRequest
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.run import ReviewKind, RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.tools import Gate, tool
from tests.kit import Engine, a_flow, a_message, chain_of, engine
from tests.waiting import PATIENCE

BAD = "POISON"


@tool(effect="read", timeout=5)
async def look(order: str) -> Any:
    """Look an order up."""
    if order == "raises":
        raise RuntimeError("no such carrier")
    if order == "hangs":
        await asyncio.sleep(3600)
    if order == "exits":
        raise SystemExit(3)
    junk: dict[str, Any] = {
        "junk": {"x": object()},
        "huge": {"x": "y" * 300_000},
        "nothing": None,
        "text": "plain words",
    }
    return junk.get(order, {"order": order})


def a_desk(
    answer: Callable[[ChatRequest], Any], chat: list[ScriptedChatModel] | None = None
) -> Callable[[Gate], Flow]:
    """Plan by model, act by tools, answer by model, send."""

    def build(gate: Gate) -> Flow:
        model = ScriptedChatModel(answer)
        if chat is not None:
            chat.append(model)
        parts = Parts(
            brain=LlmBrain(model, {}, "house/model"),
            tools=gate,
            prompts=PromptRegistry({"plan": "Plan for: {{ raw_input }}"}),
            services={"dispatch": dispatch_through(gate)},
        )
        stages = {
            "plan": AgentSpec(
                name="plan",
                has_llm=True,
                prompt_key="plan",
                output_key="plan",
                required_output_fields=("steps",),
                default_next="act",
            ),
            "act": AgentSpec(
                name="act",
                has_tools=True,
                tools=("look",),
                output_key="acted",
                default_next="draft",
            ),
            "draft": AgentSpec(
                name="draft", has_llm=True, task="draft", output_key="draft", default_next="send"
            ),
            "send": AgentSpec(name="send", service="dispatch", output_key="sent"),
        }
        spec = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        return Flow(
            spec,
            {name: Agent(stage, parts).process for name, stage in stages.items()},
            backoff=0.01,
        )

    return build


def good(request: ChatRequest, order: str = "O-1") -> str:
    if request.origin.stage == "plan":
        return json.dumps({"steps": [{"tool": "look", "parameters": {"order": order}}]})
    return json.dumps({"text": "Thank you for your message.", "language": "en"})


async def among_others(desk: Engine, poison: Message) -> tuple[str, list[RunStatus]]:
    """Work the poisonous message in the middle of ordinary ones."""
    accepted = [await desk.dispatcher.submit(a_message(number)) for number in range(3)]
    bad = await desk.dispatcher.submit(poison)
    accepted += [await desk.dispatcher.submit(a_message(number)) for number in range(3, 6)]
    async with asyncio.timeout(PATIENCE):
        await desk.dispatcher.wait(bad.run_id)
        return bad.run_id, [await desk.dispatcher.wait(one.run_id) for one in accepted]


# --- models


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (
            "<!DOCTYPE html><html><h1>502 Bad Gateway</h1></html>",
            "model_answer_invalid",
            "web page or markup",
        ),
        ('{"steps": [{"tool": "lo', "model_answer_invalid", "not valid JSON"),
        ("", "model_answer_empty", "the answer is empty"),
        ("I am sorry, I cannot help with that.", "model_answer_invalid", "no JSON object"),
        ('{"steps": "look"}', "plan_invalid", "a plan needs `steps`"),
        (ModelUnavailable("house is down"), "model_unavailable", "house is down"),
    ],
)
async def test_a_model_that_answers_nonsense_ends_its_run_with_a_person(
    tmp_path: Path, answer: Any, code: str, words: str
) -> None:
    chat: list[ScriptedChatModel] = []

    def speak(request: ChatRequest) -> Any:
        return answer if BAD in str(request.messages) else good(request)

    async with engine(tmp_path / "d.db", a_desk(speak, chat), tools=(look,)) as desk:
        run_id, others = await among_others(desk, a_message("bad", body=BAD))
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
        reviews = await desk.store.find_reviews()
        texts = [reply.text for _, reply in desk.outbox.sent]
    assert set(others) == {RunStatus.SENT}
    assert texts == ["Thank you for your message."] * 6
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, code)
    [review] = reviews
    assert (review.run_id, review.kind) == (run_id, ReviewKind.HAND_OVER)
    assert words in review.payload["error"]["message"]
    assert fold(Envelope(), rows).errors[-1].code == code
    asked = [request for request in chat[0].requests if BAD in str(request.messages)]
    if code.startswith("model_answer"):
        assert [row.attempt for row in rows] == [1, 2, 3]
        assert len(asked) == 6, "three attempts, each with one repair"


async def test_a_model_that_mends_itself_costs_one_repair_and_no_attempt(tmp_path: Path) -> None:
    script = iter(['{"steps": [', json.dumps({"steps": []}), json.dumps({"text": "Hi"})])
    async with engine(
        tmp_path / "d.db", a_desk(lambda request: next(script)), tools=(look,)
    ) as desk:
        run_id = await desk.work(a_message())
        rows = await desk.store.rows(run_id)
        assert (await desk.store.run(run_id)).status is RunStatus.SENT
    assert {row.attempt for row in rows} == {1}


async def test_a_model_that_hangs_is_cut_off(tmp_path: Path) -> None:
    async def think(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        await asyncio.sleep(3600 if env.raw_input == BAD else 0)
        return {}

    stages = chain_of(["think"], timeout=5, attempts=1)
    parts = Parts(services={"think": think})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(stages, parts)) as desk:
        run_id, others = await among_others(desk, a_message("bad", body=BAD))
        run = await desk.store.run(run_id)
    assert set(others) == {RunStatus.DONE}
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "stage_timeout")


# --- tools


@pytest.mark.parametrize(
    ("order", "error"),
    [
        ("raises", "tool_failed"),
        ("hangs", "tool_timeout"),
        ("exits", "tool_failed"),
        ("junk", "tool_result_invalid"),
        ("huge", "tool_result_invalid"),
        ("nothing", None),
        ("text", None),
    ],
)
async def test_a_tool_that_misbehaves_is_an_error_in_the_plan_and_the_run_goes_on(
    tmp_path: Path, order: str, error: str | None
) -> None:
    def speak(request: ChatRequest) -> str:
        return good(request, order if BAD in str(request.messages) else "O-1")

    async with engine(tmp_path / "d.db", a_desk(speak), tools=(look,)) as desk:
        run_id, others = await among_others(desk, a_message("bad", body=BAD))
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert set(others) == {RunStatus.SENT}
    assert run.status is RunStatus.SENT
    [acted] = [row for row in rows if row.name == "act"]
    assert acted.outcome == ("success" if error is None else "partial")
    [result] = fold(Envelope(), rows).outputs["acted"]["results"]
    assert result["status"] == ("success" if error is None else "error")
    assert error is None or result["error"]["error_type"] == error
    [call] = [
        found
        for row in rows
        if (found := result_of(row).call) is not None and found["tool"] == "look"
    ]
    assert (call["ok"], call["verdict"]) == (error is None, "allow")


# --- messages


async def test_a_message_of_fifty_megabytes_is_worked_and_disturbs_nobody(tmp_path: Path) -> None:
    """The desk's limit stands before the engine (mail.files, the API); what got in is worked,
    and stored once."""

    async def measure(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"characters": len(env.raw_input)}

    parts = Parts(services={"one": measure, "two": measure})
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(chain_of(["one", "two"]), parts)
    ) as desk:
        run_id, others = await among_others(desk, a_message("big", body="x" * 50_000_000))
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
        again = await desk.dispatcher.submit(a_message("big", body="x" * 50_000_000))
    assert set(others) == {RunStatus.DONE}
    assert run.status is RunStatus.DONE
    assert fold(Envelope(), rows).outputs["two"] == {"characters": 50_000_000}
    assert sum(len(row.body or b"") for row in rows) < 1000, "no row repeats the message"
    assert (again.run_id, again.duplicate) == (run_id, True)


@pytest.mark.parametrize(
    "message",
    [
        parse(b"Message-ID: <a@b.c>\r\nFrom: \xff\xfe\r\nSubject: \xff\r\n\r\ncaf\xe9 \xff\0"),
        parse(b""),
        message_from({"from": "a@b.c", "id": "m", "body": "half \ud83d and \0"}),
        message_from({"from": "a@b.c\0", "id": "x" * 1000, "conversation": "c\0c"}),
        a_message("odd", body="\x00\x01\u2028\ufeff\U0001f4a9"),
    ],
    ids=["not utf-8", "empty", "half a character", "nul", "control characters"],
)
async def test_odd_bytes_go_through_a_whole_run(tmp_path: Path, message: Message) -> None:
    def speak(request: ChatRequest) -> str:
        return good(request)

    async with engine(tmp_path / "d.db", a_desk(speak), tools=(look,)) as desk:
        run_id, others = await among_others(desk, message)
        assert (await desk.store.run(run_id)).status is RunStatus.SENT
        assert await desk.store.message(run_id) == message
    assert set(others) == {RunStatus.SENT}


async def test_a_message_whose_words_are_a_template_is_only_words(tmp_path: Path) -> None:
    seen: list[str] = []

    def speak(request: ChatRequest) -> str:
        seen.append(str(request.messages[1]["content"]))
        return good(request)

    hostile = "{{ outputs }} {% for x in y %} {{ ''.__class__ }}"
    async with engine(tmp_path / "d.db", a_desk(speak), tools=(look,)) as desk:
        run_id = await desk.work(a_message(body=hostile))
        assert (await desk.store.run(run_id)).status is RunStatus.SENT
    assert hostile in seen[0]


# --- desk code


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([1, 2], "gave list; return a dict"),
        ({"x": object()}, "cannot be stored"),
        ({"x": "half \ud83d"}, "cannot be stored"),
        (ValueError("half \ud83d"), "half ?"),
    ],
    ids=["list", "object", "half a character", "an error with half a character"],
)
async def test_a_service_that_makes_nonsense_is_named_on_its_run(
    tmp_path: Path, made: Any, words: str
) -> None:
    async def serve(env: Envelope, ctx: Any, settings: Any) -> Any:
        if env.raw_input != BAD:
            return {}
        if isinstance(made, Exception):
            raise made
        return made

    stages = chain_of(["serve"], attempts=1)
    parts = Parts(services={"serve": serve})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(stages, parts)) as desk:
        run_id, others = await among_others(desk, a_message("bad", body=BAD))
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert set(others) == {RunStatus.DONE}
    assert run.status is RunStatus.NEEDS_REVIEW
    assert words in (run.reason or "")
    assert [row.outcome for row in rows] == ["error"], "the failure has a row of its own"
