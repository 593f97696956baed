"""Every call leaves one row."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ModelUnavailable
from deskhand.model.chat import ChatRequest, Chunk, Completion, Origin, ToolRequest, Usage
from deskhand.model.run import LlmCall
from deskhand.ports import ChatModel

REQUEST = ChatRequest(
    messages=({"role": "user", "content": "hi"},),
    model="house/small",
    origin=Origin("run_1", "classify", "repair"),
)
ANSWER = Completion("hello\nthere", "house/small", usage=Usage(100, 20, 0.5, 5, 2))


class TickingClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        self.time += 0.25
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


def recording(inner: ChatModel) -> tuple[RecordingChatModel, list[LlmCall]]:
    rows: list[LlmCall] = []

    async def record(call: LlmCall) -> None:
        await asyncio.sleep(0)
        rows.append(call)

    return RecordingChatModel(inner, record, TickingClock()), rows


def row(error: str | None = None, completion: Completion | None = None) -> LlmCall:
    spent = Usage() if completion is None else completion.usage
    return LlmCall(
        run_id="run_1",
        stage="classify",
        call_type="repair",
        model="house/small",
        request_digest=REQUEST.digest,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        cost=spent.cost,
        latency_ms=250.0,
        error=error,
        at=1000.25,
        answer=None if completion is None else completion.as_record(),
        cached_tokens=spent.cached_tokens,
        reasoning_tokens=spent.reasoning_tokens,
    )


async def test_a_completion_is_booked_on_its_origin() -> None:
    model, rows = recording(ScriptedChatModel([ANSWER]))
    assert await model.complete(REQUEST) == ANSWER
    assert rows == [row(completion=ANSWER)]


async def test_a_recorded_answer_can_be_given_again() -> None:
    said = Completion(
        "", "house/small", (ToolRequest("c1", "find_order", '{"order": 1}'),), "tool_calls"
    )
    model, rows = recording(ScriptedChatModel([said]))
    await model.complete(REQUEST)
    assert rows[0].answer is not None
    assert Completion.of_record(rows[0].answer) == said


async def test_a_failure_is_booked_without_credentials() -> None:
    model, rows = recording(ScriptedChatModel([ModelUnavailable("down, key sk-12345678901")]))
    with pytest.raises(ModelUnavailable):
        await model.complete(REQUEST)
    assert rows == [row("ModelUnavailable: down, key ***")]


async def test_a_cancelled_call_is_booked() -> None:
    class Sleeping:
        async def complete(self, request: ChatRequest) -> Completion:
            await asyncio.Event().wait()
            return ANSWER

        async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
            await asyncio.Event().wait()
            yield Chunk()

    model, rows = recording(Sleeping())
    task = asyncio.create_task(model.complete(REQUEST))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [call.error for call in rows] == ["CancelledError"]


async def test_a_stream_is_booked_once_at_its_end() -> None:
    model, rows = recording(ScriptedChatModel([ANSWER]))
    texts = [chunk.text async for chunk in model.stream(REQUEST)]
    assert "".join(texts) == ANSWER.text
    assert rows == [row(completion=ANSWER)]


async def test_a_stream_that_fails_is_booked() -> None:
    model, rows = recording(ScriptedChatModel([ModelUnavailable("cut")]))
    with pytest.raises(ModelUnavailable):
        [chunk async for chunk in model.stream(REQUEST)]
    assert rows == [row("ModelUnavailable: cut")]


async def test_a_stream_that_is_left_early_is_booked() -> None:
    model, rows = recording(ScriptedChatModel([ANSWER]))
    stream = model.stream(REQUEST)
    assert (await anext(stream)).text == "hello\n"
    await stream.aclose()  # type: ignore[attr-defined]
    assert rows == [row("the reader stopped before the end")]
