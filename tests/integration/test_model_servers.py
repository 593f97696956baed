"""Deskhand's requests at real model servers: none is refused.

The model writes nonsense, for its weights are chance; what it is held to (a schema, a tool's
parameters) the server really holds it to.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.agents.loop import AgentLoop
from deskhand.agents.standalone import Standalone
from deskhand.brain.llm import LlmBrain
from deskhand.errors import ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.envelope import Envelope
from deskhand.model.tasks import Task, TaskKind
from deskhand.ports import ChatModel
from deskhand.tools.closing import built_in_tools
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry
from deskhand.wiring import LoadedDesk, read_desk
from tests.kit import a_message
from tests.loop_kit import a_profile
from tests.memory_ledger import MemoryLedger
from tests.model_servers import LITELLM_KEY, litellm_proxy, llama_server

TEXT = "Where is my parcel P-1002? The teapot arrived broken, I want my money back."


class Counted:
    """A model whose answered requests are counted; whatever is refused is raised."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.completions: list[Completion] = []

    async def complete(self, request: ChatRequest) -> Completion:
        completion = await self._inner.complete(request)
        self.completions.append(completion)
        return completion

    def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        return self._inner.stream(request)


@pytest.fixture(params=["llamacpp", "litellm"])
def provider(request: pytest.FixtureRequest) -> tuple[str, str]:
    start: Callable[[], str] = {"llamacpp": llama_server, "litellm": litellm_proxy}[request.param]
    return request.param, start()


@pytest.fixture(autouse=True)
def nothing_is_refused(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A parameter or schema that a server refuses would be left out, and logged."""
    caplog.set_level(logging.WARNING, "deskhand.models")
    yield
    assert [record.message for record in caplog.records] == []


@asynccontextmanager
async def chat_at(provider: tuple[str, str], **params: Any) -> AsyncIterator[Counted]:
    name, address = provider
    own = {"base_url": address, "params": {"*": params}, "max_tokens": 100}
    model = HttpChatModel(provider_table({name: own}), environ={"LITELLM_API_KEY": LITELLM_KEY})
    try:
        yield Counted(model)
    finally:
        await model.aclose()


def tasks_of(loaded: LoadedDesk, registry: ToolRegistry) -> list[Task]:
    """One task for each stage that a brain answers, as the stage would give it."""
    stages = [stage for flow in loaded.spec.flows.values() for stage in flow.stages.values()]
    tasks: list[Task] = []
    for stage in stages:
        if stage.task is None:
            continue
        known = [name for name in stage.plans_with if name in registry]
        task = Task(
            kind=TaskKind(stage.task),
            stage=stage.name,
            text=TEXT,
            inputs={"message": {"subject": "Teapot"}},
            choices=stage.choices,
            tools=tuple(registry.specs(known)),
            required=stage.required_output_fields,
        )
        tasks.append(task)
    return tasks


@pytest.mark.real
@pytest.mark.parametrize("desk", ["shipped:inbox", "shipped:pharmacy"])
async def test_tasks_of_a_desk_are_answered(provider: tuple[str, str], desk: str) -> None:
    loaded = read_desk(desk)
    registry = ToolRegistry(loaded.code.tools)
    tasks = tasks_of(loaded, registry)
    async with chat_at(provider) as chat:
        brain = LlmBrain(chat, {}, f"{provider[0]}/tiny")
        for task in tasks:
            try:
                await brain.answer(task)
            except ModelAnswerInvalid:
                continue
    assert len(chat.completions) >= len(tasks) > 0


@pytest.mark.real
async def test_every_kind_of_task_is_answered(provider: tuple[str, str]) -> None:
    registry = ToolRegistry(read_desk("shipped:sample").code.tools)
    tools = tuple(registry.specs())
    async with chat_at(provider) as chat:
        brain = LlmBrain(chat, {}, f"{provider[0]}/tiny")
        for kind in TaskKind:
            task = Task(kind=kind, stage="s", text=TEXT, choices=("a", "b"), tools=tools)
            try:
                await brain.answer(task)
            except ModelAnswerInvalid:
                continue
    assert len(chat.completions) >= len(TaskKind)


@pytest.mark.real
async def test_an_agent_works_with_the_tools_of_a_desk(provider: tuple[str, str]) -> None:
    """The model is made to call tools: what it calls fits a tool's parameters, and the turns go on
    with the results."""
    tools = (*read_desk("shipped:pharmacy").code.tools, *built_in_tools(MemoryLedger().effects, 1))
    gate = Gate(ToolRegistry(tools), MemoryLedger(), desk="test", mode="capture")
    profile = a_profile(tools, model=f"{provider[0]}/tiny", max_iterations=2, max_tokens=1000)
    ctx = Standalone(Envelope.of(a_message(1, body=TEXT), run_id="run_1"))
    async with chat_at(provider, tool_choice="required") as chat:
        loop = AgentLoop(profile, chat, gate, tools)
        await loop.run(TEXT, ctx)
    called = [call.name for completion in chat.completions for call in completion.tool_calls]
    assert called
    assert set(called) <= {tool.name for tool in tools}
