"""What a model refuses is left out: parameters from then on, one schema for a while."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from deskhand.adapters.chat_models.faults import RetryPolicy
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.adapters.chat_models.refusals import SCHEMA_REST
from deskhand.errors import ModelAnswerInvalid, ModelNotUsable, ModelRefused, ModelUnavailable
from deskhand.model.chat import ChatRequest
from tests import fake_openai as fake
from tests.fake_openai import FakeOpenAI, Reply

SCHEMA = {
    "type": "object",
    "properties": {"category": {"type": "string", "enum": ["a", "b"]}},
    "required": ["category"],
    "additionalProperties": False,
}
OTHER_SCHEMA = {**SCHEMA, "properties": {"category": {"type": "string"}}}


class TestClock:
    __test__ = False

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


class Bench:
    def __init__(self, server: FakeOpenAI, model: HttpChatModel, clock: TestClock) -> None:
        self.server, self.model, self.clock = server, model, clock

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [received.body for received in self.server.received]

    async def ask(self, **more: Any) -> str:
        messages = ({"role": "user", "content": "Hi"},)
        return (await self.model.complete(ChatRequest(messages, "house/m", **more))).text


@asynccontextmanager
async def bench(*script: Reply, **provider: Any) -> AsyncIterator[Bench]:
    clock = TestClock()
    async with FakeOpenAI(script) as server:
        table = provider_table({"house": {"base_url": server.base_url, **provider}})
        model = HttpChatModel(table, clock=clock, retries=RetryPolicy(random=lambda: 0.5))
        try:
            yield Bench(server, model, clock)
        finally:
            await model.aclose()


def refusal(message: str, **more: Any) -> Reply:
    error = {"message": message, "type": "invalid_request_error", **more}
    return replace(fake.body({"error": error}), status=400)


async def test_temperature_is_sent_only_where_somebody_wrote_it() -> None:
    async with bench() as b:
        await b.ask()
        await b.ask(temperature=0.2)
    assert ["temperature" in body for body in b.bodies] == [False, True]


async def test_a_token_limit_is_sent_by_default() -> None:
    async with bench() as b:
        await b.ask()
        await b.ask(max_tokens=7)
    assert [body["max_tokens"] for body in b.bodies] == [8192, 7]


async def test_params_of_a_model_are_written_into_its_requests() -> None:
    params = {"m": {"reasoning_effort": "low", "max_completion_tokens": 900, "temperature": None}}
    async with bench(params=params) as b:
        await b.ask(temperature=0.3)
    [body] = b.bodies
    assert (body["reasoning_effort"], body["max_completion_tokens"]) == ("low", 900)
    assert "temperature" not in body
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    "refused",
    [
        # OpenAI
        refusal(
            "Unsupported value: 'temperature' does not support 0.3 with this model. Only the"
            " default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        ),
        # Anthropic
        refusal("`temperature` is deprecated for this model."),
        # FastAPI servers: Mistral, vLLM
        replace(
            fake.body(
                {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "temperature"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                }
            ),
            status=422,
        ),
        # Gemini answers with a list
        replace(
            fake.body(
                [
                    {
                        "error": {
                            "code": 400,
                            "message": 'Invalid JSON payload received. Unknown name "temperature":'
                            " Cannot find field.",
                            "status": "INVALID_ARGUMENT",
                        }
                    }
                ]
            ),
            status=400,
        ),
        # LiteLLM
        refusal("litellm.UnsupportedParamsError: x does not support parameters: ['temperature']"),
    ],
    ids=["openai", "anthropic", "fastapi", "gemini", "litellm"],
)
async def test_a_parameter_that_a_model_refuses_is_dropped_from_then_on(
    refused: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with bench(refused) as b:
        assert await b.ask(temperature=0.3)
        assert await b.ask(temperature=0.3)
    assert ["temperature" in body for body in b.bodies] == [True, False, False]
    told = [record.message for record in caplog.records if "'temperature'" in record.message]
    assert len(told) == 1
    assert told[0].startswith("house/m does not take 'temperature'; it is asked without")


async def test_a_token_limit_goes_by_the_name_that_the_model_wants() -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
        " 'max_completion_tokens' instead."
    )
    refused = refusal(words, param="max_tokens", code="unsupported_parameter")
    async with bench(refused) as b:
        await b.ask(max_tokens=50)
        await b.ask(max_tokens=60)
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in b.bodies]
    assert limits == [(50, None), (None, 50), (None, 60)]


async def test_a_refusal_of_something_else_stays_one() -> None:
    async with bench(refusal("The prompt was not allowed.")) as b:
        with pytest.raises(ModelRefused, match="was not allowed"):
            await b.ask(temperature=0.3)
    assert len(b.bodies) == 1


async def test_one_refused_schema_does_not_downgrade_the_model() -> None:
    refused = refusal("Invalid schema for response_format 'answer'")
    async with bench(refused) as b:
        await b.ask(schema=SCHEMA)
        await b.ask(schema=OTHER_SCHEMA)
        await b.ask(schema=SCHEMA)
        b.clock.time += SCHEMA_REST
        await b.ask(schema=SCHEMA)
    kinds = [body["response_format"]["type"] for body in b.bodies]
    assert kinds == ["json_schema", "json_object", "json_schema", "json_object", "json_schema"]


async def test_a_closed_schema_is_asked_for_strictly_and_an_open_one_is_not() -> None:
    async with bench() as b:
        await b.ask(schema=SCHEMA)
        await b.ask(schema={"type": "object"})
    strict = [body["response_format"]["json_schema"]["strict"] for body in b.bodies]
    assert strict == [True, False]


@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed"])
async def test_a_failed_generation_is_tried_again(code: str) -> None:
    failed = refusal("Failed to call a function. Please adjust your prompt.", code=code)
    async with bench(failed) as b:
        assert await b.ask() == "Hello, this is an answer."
    async with bench(*[failed] * 3) as b:
        with pytest.raises(ModelAnswerInvalid, match="could not use what it wrote"):
            await b.ask()


async def test_an_error_inside_a_choice_is_an_error() -> None:
    choice = {
        "finish_reason": "error",
        "error": {"code": 502, "message": "Provider returned error"},
        "message": {"role": "assistant", "content": "half an ans"},
    }
    broken = fake.body({"choices": [choice]})
    async with bench(broken) as b:
        assert await b.ask() == "Hello, this is an answer."
    async with bench(*[broken] * 3) as b:
        with pytest.raises(ModelUnavailable, match="Provider returned error"):
            await b.ask()
    without_code = {**choice, "error": {"message": "gone"}}
    async with bench(fake.body({"choices": [without_code]})) as b:
        with pytest.raises(ModelUnavailable, match="gone"):
            await b.ask()


@pytest.mark.parametrize(
    "refused",
    [
        fake.failure(401),
        fake.failure(402),
        fake.failure(404),
        fake.failure(429, code="insufficient_quota"),
        refusal("Your credit balance is too low to access the Anthropic API."),
    ],
    ids=["key", "unpaid", "model", "quota", "credit"],
)
async def test_a_model_that_cannot_be_asked_at_all_is_told_apart(refused: Reply) -> None:
    async with bench(refused) as b:
        with pytest.raises(ModelNotUsable):
            await b.ask()


STREAMS: dict[str, list[Any]] = {
    "responses": [
        {"type": "response.created", "response": {}},
        {"type": "response.output_text.delta", "delta": "Good "},
        {"type": "response.output_text.delta", "delta": "day"},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [
                    {
                        "type": "message",
                        "content": [{"type": "output_text", "text": "Good day"}],
                    },
                    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
                ],
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
        },
    ],
    "messages": [
        {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Good "},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "day"},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"a":'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": " 1}"},
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ],
}


@pytest.mark.parametrize("api", list(STREAMS))
async def test_streams_of_other_protocols_are_put_together_again(api: str) -> None:
    reply = fake.events(*STREAMS[api], piece=11, ending="eof")
    async with bench(reply, api=api) as b:
        await check_stream(b)


async def test_ollama_streams_lines() -> None:
    call = {"function": {"name": "f", "arguments": {"a": 1}}, "id": "c"}
    lines = [
        {"message": {"content": "Good "}, "done": False},
        {"message": {"content": "day", "tool_calls": [call]}, "done": False},
        {
            "message": {"content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 7,
            "eval_count": 3,
        },
    ]
    pieces = tuple(json.dumps(line).encode() + b"\n" for line in lines)
    reply = Reply(content_type="application/x-ndjson", pieces=pieces, then="stream")
    async with bench(reply, api="ollama") as b:
        await check_stream(b)


async def check_stream(b: Bench) -> None:
    messages = ({"role": "user", "content": "Hi"},)
    chunks = [chunk async for chunk in b.model.stream(ChatRequest(messages, "house/m"))]
    whole = chunks[-1].completion
    assert whole is not None
    assert [chunk.text for chunk in chunks if chunk.text] == ["Good ", "day"]
    assert whole.text == "Good day"
    assert [(call.id, call.name, json.loads(call.arguments)) for call in whole.tool_calls] == [
        ("c", "f", {"a": 1})
    ]
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (7, 3)


async def test_a_prompt_longer_than_ollamas_context_is_refused_and_not_cut() -> None:
    async with bench(api="ollama", context_tokens=100) as b:
        long = ({"role": "user", "content": "word " * 100},)
        with pytest.raises(ModelRefused, match="keeps 100 tokens in view"):
            await b.model.complete(ChatRequest(long, "house/m"))
    assert b.bodies == []


async def test_a_schema_goes_out_in_the_form_of_each_protocol() -> None:
    answers = {
        "responses": {"status": "completed", "output": []},
        "messages": {"content": [], "stop_reason": "end_turn"},
        "ollama": {"message": {"content": ""}, "done": True},
    }
    sent: dict[str, Any] = {}
    for api, answer in answers.items():
        async with bench(fake.body(answer), api=api) as b:
            await b.ask(schema=SCHEMA)
            [sent[api]] = b.bodies
    form = {"type": "json_schema", "schema": SCHEMA}
    assert sent["responses"]["text"] == {"format": {**form, "name": "answer", "strict": True}}
    assert sent["messages"]["output_config"] == {"format": form}
    assert sent["ollama"]["format"] == SCHEMA
