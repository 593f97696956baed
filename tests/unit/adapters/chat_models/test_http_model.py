"""HttpChatModel against a real server on loopback."""

import logging
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest

from deskhand.adapters.chat_models.faults import RetryPolicy
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.errors import (
    ConfigError,
    DeskhandError,
    ModelAnswerInvalid,
    ModelRefused,
    ModelUnavailable,
)
from deskhand.model.chat import ChatRequest, Completion, ToolRequest, Usage
from tests import fake_openai as fake
from tests.fake_openai import FakeOpenAI, Reply

KEY = "sk-very-secret-0123456789"
NOW = 1_800_000_000.0


class StoppedClock:
    """Time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = NOW
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


class Bench:
    """A model wired to a server that plays `script`."""

    def __init__(self, server: FakeOpenAI, model: HttpChatModel, clock: StoppedClock) -> None:
        self.server, self.model, self.clock = server, model, clock


@asynccontextmanager
async def bench(*script: Reply, timeout: float = 5, **more: Any) -> AsyncIterator[Bench]:
    clock = StoppedClock()
    max_bytes = more.pop("max_response_bytes", 20_000_000)
    async with FakeOpenAI(script) as server:
        providers = provider_table(
            {
                "house": {
                    "base_url": server.base_url,
                    "key_env": "HOUSE_KEY",
                    "timeout": timeout,
                    **more,
                }
            }
        )
        model = HttpChatModel(
            providers,
            environ={"HOUSE_KEY": KEY},
            clock=clock,
            retries=RetryPolicy(random=lambda: 0.5),
            max_response_bytes=max_bytes,
        )
        try:
            yield Bench(server, model, clock)
        finally:
            await model.aclose()


def ask(**more: Any) -> ChatRequest:
    return ChatRequest(
        **{
            "messages": ({"role": "user", "content": "Kde je moje zásilka?"},),
            "model": "house/small",
            **more,
        }
    )


async def failing(bench: Bench, request: ChatRequest | None = None) -> DeskhandError:
    with pytest.raises(DeskhandError) as caught:
        await bench.model.complete(request or ask())
    return caught.value


async def test_an_answer_comes_back_with_tokens_and_cost() -> None:
    async with bench(
        fake.completion("Na cestě."), prices={"small": {"input": 2.0, "output": 10.0}}
    ) as b:
        completion = await b.model.complete(ask())
    assert completion == Completion(
        text="Na cestě.",
        model="house/small",
        usage=Usage(100, 20, (100 * 2.0 + 20 * 10.0) / 1_000_000),
    )


async def test_the_request_has_the_openai_shape() -> None:
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    async with bench() as b:
        await b.model.complete(
            ask(tools=(tool,), schema={"type": "object"}, temperature=0.0, max_tokens=50)
        )
    [received] = b.server.received
    assert received.path == "/v1/chat/completions"
    assert received.headers["Authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Kde je moje zásilka?"}],
        "tools": [tool],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": False},
        },
        "temperature": 0.0,
        "max_tokens": 50,
    }


async def test_without_a_price_the_cost_is_what_the_endpoint_says_or_nothing() -> None:
    said = {
        "choices": [{"message": {"content": "x"}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.02},
    }
    async with bench(
        fake.body(said), fake.completion("x"), fake.body({**said, "usage": None})
    ) as b:
        costs = [(await b.model.complete(ask())).usage for _ in range(3)]
    assert costs == [Usage(5, 1, 0.02), Usage(100, 20, 0.0), Usage(0, 0, 0.0)]


async def test_tool_calls_keep_their_arguments_as_text() -> None:
    calls = [
        fake.tool_call("look_up", '{"order": "A1"', "c1"),
        {"function": {"name": "close", "arguments": {"a": 1}}},
    ]
    async with bench(fake.completion(None, tool_calls=calls, finish_reason="tool_calls")) as b:
        completion = await b.model.complete(ask())
    assert completion.tool_calls == (
        ToolRequest("c1", "look_up", '{"order": "A1"'),
        ToolRequest("call_1", "close", '{"a": 1}'),
    )
    assert (completion.text, completion.finish_reason) == ("", "tool_calls")


async def test_content_in_parts_is_joined() -> None:
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": "Do"},
        {"type": "text", "text": "bře"},
    ]
    async with bench(fake.body({"choices": [{"message": {"content": parts}}]})) as b:
        assert (await b.model.complete(ask())).text == "Dobře"


async def test_half_a_surrogate_pair_does_not_stop_a_call() -> None:
    async with bench() as b:
        await b.model.complete(ask(messages=({"role": "user", "content": "oops \ud83d"},)))
    assert b.server.received[0].body["messages"][0]["content"] == "oops ?"


@pytest.mark.parametrize(
    "fault",
    [
        fake.failure(429),
        fake.failure(500),
        fake.html(503),
        fake.failure(529),
        fake.dropped(),
        fake.cut(),
    ],
    ids=["429", "500", "503 page", "529", "dropped", "cut"],
)
async def test_a_passing_fault_is_tried_again(fault: Reply) -> None:
    async with bench(fault, fault, fake.completion("at last")) as b:
        assert (await b.model.complete(ask())).text == "at last"
    assert b.server.count == 3
    assert b.clock.slept == [0.5, 1.0]


async def test_after_three_tries_the_model_is_unavailable() -> None:
    async with bench(*[fake.failure(503, "overloaded")] * 5) as b:
        error = await failing(b)
    assert isinstance(error, ModelUnavailable)
    assert b.server.count == 3
    assert "503: overloaded" in str(error)
    assert "after 3 tries" in str(error)


async def test_a_silent_endpoint_times_out() -> None:
    async with bench(*[fake.hang()] * 3, timeout=0.5) as b:
        error = await failing(b)
    assert isinstance(error, ModelUnavailable)
    assert "did not answer within 0.5 s" in str(error)
    assert b.server.count == 3


async def test_nobody_listening_is_unavailable() -> None:
    async with FakeOpenAI() as gone:
        pass
    model = HttpChatModel(environ={"DESKHAND_VLLM_BASE_URL": gone.base_url}, clock=StoppedClock())
    with pytest.raises(
        ModelUnavailable, match=r"vllm/llama3 at http://127.0.0.1:\d+/v1 cannot be reached"
    ):
        await model.complete(ask(model="vllm/llama3"))
    await model.aclose()


async def test_retry_after_in_seconds_is_waited_for() -> None:
    async with bench(fake.failure(429, retry_after="7"), fake.completion("ok")) as b:
        await b.model.complete(ask())
    assert b.clock.slept == [7.25]


async def test_retry_after_as_a_date_is_waited_for() -> None:
    date = format_datetime(datetime.fromtimestamp(NOW + 12, UTC), usegmt=True)
    async with bench(fake.failure(503, retry_after=date), fake.completion("ok")) as b:
        await b.model.complete(ask())
    assert b.clock.slept == [12.25]


@pytest.mark.parametrize("header", ["soon", "nan", "", "Thu, 99 Foo"])
async def test_an_unreadable_retry_after_means_the_usual_pause(header: str) -> None:
    async with bench(fake.failure(503, retry_after=header), fake.completion("ok")) as b:
        await b.model.complete(ask())
    assert b.clock.slept == [0.5]


@pytest.mark.parametrize("header", ["3600", "inf"])
async def test_a_long_retry_after_gives_up_at_once_and_names_it(header: str) -> None:
    async with bench(fake.failure(429, retry_after=header)) as b:
        error = await failing(b)
    assert isinstance(error, ModelUnavailable)
    assert f"asks to wait {float(header):.0f} s (Retry-After)" in str(error)
    assert (b.server.count, b.clock.slept) == (1, [])


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "does not accept the request (400)"),
        (401, "put a valid key into the environment variable HOUSE_KEY"),
        (403, "does not let this key use the model (403)"),
        (
            404,
            "check the model name 'small' and the address (DESKHAND_HOUSE_BASE_URL overrides it)",
        ),
        (413, "shorten the prompt"),
        (422, "does not accept the request (422)"),
        (402, "top up the account"),
    ],
)
async def test_a_refusal_says_what_to_do_and_is_not_repeated(status: int, advice: str) -> None:
    async with bench(fake.failure(status, "because of this")) as b:
        error = await failing(b)
    assert isinstance(error, ModelRefused)
    assert advice in str(error)
    assert "because of this" in str(error)
    assert b.server.count == 1


async def test_a_redirect_is_not_followed() -> None:
    async with bench(Reply(status=307, headers={"Location": "https://elsewhere.example/"})) as b:
        assert "redirects elsewhere (307)" in str(await failing(b))


async def test_an_account_without_credit_is_not_a_passing_fault() -> None:
    async with bench(fake.failure(429, "You exceeded your quota", code="insufficient_quota")) as b:
        error = await failing(b)
    assert isinstance(error, ModelRefused)
    assert "no credit left" in str(error)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (fake.completion("I cannot", finish_reason="content_filter"), "content filter"),
        (
            fake.completion(None, refusal="I can't help with that"),
            "refused to answer: I can't help",
        ),
        (fake.failure(400, "flagged", code="content_filter"), "refused the content"),
    ],
    ids=["finish reason", "refusal", "status"],
)
async def test_a_content_filter_is_a_refusal(reply: Reply, words: str) -> None:
    async with bench(reply) as b:
        error = await failing(b)
    assert isinstance(error, ModelRefused)
    assert words in str(error)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (fake.html(), "a web page"),
        (fake.half_json(), "not JSON"),
        (fake.empty(), "nothing"),
        (Reply(b"\xff\xfe\x00junk"), "not JSON"),
        (Reply(b"[" * 200_000), "not JSON"),
        (fake.body({"choices": []}), "without choices"),
        (fake.body({"choices": [None]}), "without choices"),
        (fake.body({}), "without choices"),
        (fake.body([1]), "without choices"),
        (fake.body({"error": {"message": "bad day"}}), "without choices: bad day"),
        (fake.completion(None, tool_calls=[{"id": "x"}]), "a tool without naming it"),
    ],
)
async def test_a_200_without_an_answer_is_invalid(reply: Reply, words: str) -> None:
    async with bench(reply) as b:
        error = await failing(b)
    assert isinstance(error, ModelAnswerInvalid)
    assert words in str(error)
    assert b.server.count == 1


async def test_an_error_dressed_as_200_is_judged_by_the_code_inside() -> None:
    overloaded = fake.body({"error": {"code": 502, "message": "upstream down"}})
    async with bench(overloaded, fake.completion("ok")) as b:
        assert (await b.model.complete(ask())).text == "ok"
    assert b.server.count == 2


async def test_an_endless_answer_is_cut_off() -> None:
    async with bench(Reply(b" " * 300_000), max_response_bytes=100_000) as b:
        assert "more than 100,000 bytes" in str(await failing(b))


@pytest.mark.parametrize(
    ("mode", "sent"), [("json_object", {"type": "json_object"}), ("none", None)]
)
async def test_a_provider_that_knows_no_schemas_is_asked_for_json(mode: str, sent: object) -> None:
    async with bench(json_mode=mode) as b:
        await b.model.complete(ask(schema={"type": "object"}))
    assert b.server.received[0].body.get("response_format") == sent


async def test_a_model_that_refuses_schemas_is_asked_for_plain_json_from_then_on() -> None:
    refusal = fake.failure(
        400, "This model does not support response format `json_schema` (response_format)"
    )
    async with bench(refusal, fake.completion("{}"), fake.completion("{}")) as b:
        await b.model.complete(ask(schema={"type": "object"}))
        await b.model.complete(ask(schema={"type": "object"}))
    formats = [received.body["response_format"]["type"] for received in b.server.received]
    assert formats == ["json_schema", "json_object", "json_object"]
    assert b.clock.slept == []


async def test_a_replaced_key_is_picked_up_after_a_401() -> None:
    environ = {"HOUSE_KEY": "old-key"}
    async with FakeOpenAI([fake.failure(401), fake.completion("ok")]) as server:
        providers = provider_table({"house": {"base_url": server.base_url, "key_env": "HOUSE_KEY"}})
        model = HttpChatModel(providers, environ=environ)
        with pytest.raises(ModelRefused):
            await model.complete(ask())
        environ["HOUSE_KEY"] = "new-key"
        assert (await model.complete(ask())).text == "ok"
        await model.aclose()
    assert [received.headers["Authorization"] for received in server.received] == [
        "Bearer old-key",
        "Bearer new-key",
    ]


async def test_a_model_can_be_used_again_after_aclose() -> None:
    async with bench() as b:
        await b.model.complete(ask())
        await b.model.aclose()
        await b.model.aclose()
        await b.model.complete(ask())
    assert b.server.count == 2


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    async with bench() as b:
        await b.model.complete(ask())


async def test_an_unknown_provider_is_a_configuration_error() -> None:
    async with bench() as b:
        for model, words in (
            ("hose/small", "did you mean house/small?"),
            ("small", "write it as provider/model"),
        ):
            with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
                await b.model.complete(ask(model=model))


def echo_key(status: int) -> Reply:
    return fake.failure(status, f"Incorrect key {KEY} in 'Authorization: Bearer {KEY}'")


@pytest.mark.parametrize(
    "reply",
    [
        echo_key(401),
        echo_key(500),
        replace(fake.html(), body=f"<p>{KEY}</p>".encode()),
        fake.completion(None, refusal=f"no {KEY}"),
        fake.dropped(),
        fake.cut(),
        Reply(b"x", headers={"Content-Encoding": "gzip"}),
        fake.events(f"junk {KEY}".encode()),
    ],
    ids=["401", "500", "page", "refusal", "dropped", "cut", "bad encoding", "bad event"],
)
@pytest.mark.parametrize("way", ["complete", "stream"])
async def test_the_key_shows_up_nowhere(
    reply: Reply, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with bench(*[reply] * 3) as b:
        asking = b.model.complete(ask()) if way == "complete" else heard(b)
        with pytest.raises(DeskhandError) as caught:
            await asking
        shown = [
            repr(b.model),
            repr(b.model.endpoint("house/small")),
            repr(vars(b.model)),
            caplog.text,
        ]
    shown += [
        "".join(traceback.format_exception(caught.value)),
        repr(caught.value),
        *_whole_chain(caught.value),
    ]
    assert not [text for text in shown if KEY in text]


def _whole_chain(error: BaseException | None) -> list[str]:
    """Also the errors that a traceback hides."""
    texts: list[str] = []
    while error is not None:
        texts += [repr(error), str(error), repr(vars(error))]
        error = error.__context__
    return texts


# --- streaming
# --------------------------------------------------------------------------------------------------------  # noqa: E501


async def heard(b: Bench, request: ChatRequest | None = None) -> tuple[list[str], Completion]:
    chunks = [chunk async for chunk in b.model.stream(request or ask())]
    completion = chunks[-1].completion
    assert completion is not None
    assert all(chunk.completion is None for chunk in chunks[:-1])
    return [chunk.text for chunk in chunks if chunk.text], completion


async def test_a_stream_gives_its_pieces_and_then_the_whole() -> None:
    async with bench(
        fake.streamed("Vaše zásilka dorazí zítra"), prices={"small": {"input": 1, "output": 1}}
    ) as b:
        texts, completion = await heard(b)
    assert texts == ["Vaše ", "zásilka ", "dorazí ", "zítra"]
    assert completion == Completion(
        text="Vaše zásilka dorazí zítra", model="house/small", usage=Usage(100, 20, 120 / 1_000_000)
    )
    assert b.server.received[0].body["stream"] is True
    assert b.server.received[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
async def test_a_stream_may_be_split_anywhere(piece: int) -> None:
    async with bench(fake.streamed("žluťoučký kůň", piece=piece)) as b:
        assert (await heard(b))[1].text == "žluťoučký kůň"


async def test_comments_other_fields_and_windows_line_ends_are_tolerated() -> None:
    raw = (
        b": keep-alive\r\n\r\nevent: message\r\nid: 7\r\n"
        b'data:{"choices":[{"delta":{"role":"assistant","content":"a"}}]}\r\n\r\n'
        b'data: {"choices":\r\ndata: [{"delta":{"content":"b"},"finish_reason":"stop"}]}\r\n\r\n'
        b"data: [DONE]\r\n\r\n"
    )
    async with bench(Reply(content_type="text/event-stream", pieces=(raw,), then="stream")) as b:
        assert (await heard(b))[1].text == "ab"


async def test_tool_calls_are_put_together_from_their_deltas() -> None:
    def call(index: int | None, **function: str) -> dict[str, Any]:
        identifier = {"id": function.pop("id")} if "id" in function else {}
        return fake.delta(
            tool_calls=[
                {**({} if index is None else {"index": index}), **identifier, "function": function}
            ]
        )

    reply = fake.events(
        call(0, id="c0", name="look_up", arguments=""),
        call(0, arguments='{"order":'),
        call(1, id="c1", name="close", arguments="{}"),
        call(0, arguments=' "A1"}'),
        fake.delta(finish_reason="tool_calls"),
    )
    same_index = fake.events(
        call(0, id="a", name="one", arguments="{}"), call(0, id="b", name="two", arguments="[]")
    )
    no_index = fake.events(call(None, id="a", name="one", arguments="{"), call(None, arguments="}"))
    async with bench(reply, same_index, no_index) as b:
        results = [(await heard(b))[1].tool_calls for _ in range(3)]
    assert results == [
        (ToolRequest("c0", "look_up", '{"order": "A1"}'), ToolRequest("c1", "close", "{}")),
        (ToolRequest("a", "one", "{}"), ToolRequest("b", "two", "[]")),
        (ToolRequest("a", "one", "{}"),),
    ]


@pytest.mark.parametrize(
    "reply",
    [
        fake.events(fake.delta("Vaše "), ending="cut"),
        fake.events(fake.delta("Vaše "), ending="eof"),
        fake.events(fake.delta("Vaše "), ending="hang"),
        Reply(
            content_type="text/event-stream", pieces=(b'data: {"choices": [{"del',), then="stream"
        ),
        Reply(content_type="text/event-stream", then="stream"),
        fake.events(fake.delta("Vaše "), {"error": {"message": "overloaded", "code": 529}}),
    ],
    ids=["cut", "eof", "hang", "half event", "empty", "error event"],
)
async def test_a_stream_that_stops_in_the_middle_is_tried_again(reply: Reply) -> None:
    async with bench(reply, fake.streamed("ok"), timeout=1) as b:
        _, whole = await heard(b)
    assert whole.text == "ok"
    assert b.server.count == 2


async def test_a_stream_that_keeps_stopping_in_the_middle_is_unavailable() -> None:
    cut = fake.events(fake.delta("Vaše "), ending="cut")
    async with bench(cut, cut, cut, timeout=1) as b:
        with pytest.raises(ModelUnavailable, match="after 3 tries"):
            await heard(b)


async def test_a_stream_without_done_is_whole_once_it_has_a_finish_reason() -> None:
    async with bench(
        fake.events(fake.delta("a"), fake.delta(finish_reason="stop"), ending="eof")
    ) as b:
        assert (await heard(b))[1].text == "a"


async def test_a_stream_is_tried_again_before_it_begins() -> None:
    async with bench(fake.failure(503), fake.dropped(), fake.streamed("ok")) as b:
        assert (await heard(b))[1].text == "ok"
    assert b.server.count == 3


async def test_a_server_that_does_not_stream_is_understood() -> None:
    async with bench(fake.completion("whole")) as b:
        assert (await heard(b))[1].text == "whole"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (fake.html(), ModelAnswerInvalid),
        (fake.events(b"not json"), ModelAnswerInvalid),
        (fake.events(fake.delta("x", finish_reason="content_filter")), ModelRefused),
        (fake.events(fake.delta(refusal="no")), ModelRefused),
        (fake.failure(401), ModelRefused),
    ],
)
async def test_a_stream_that_is_no_answer(reply: Reply, kind: type[DeskhandError]) -> None:
    async with bench(reply) as b:
        with pytest.raises(kind):
            await heard(b)


async def test_an_endless_stream_is_cut_off() -> None:
    endless = Reply(content_type="text/event-stream", pieces=(b": x" * 50_000,) * 4, then="stream")
    async with bench(endless, max_response_bytes=100_000) as b:
        with pytest.raises(ModelAnswerInvalid, match="more than 100,000 bytes"):
            await heard(b)


async def test_usage_is_not_asked_of_a_provider_that_refuses_the_question() -> None:
    async with bench(fake.streamed("ok"), stream_usage=False) as b:
        assert (await heard(b))[1].usage.prompt_tokens == 100
    assert "stream_options" not in b.server.received[0].body


async def test_a_reader_may_leave_a_stream_early() -> None:
    async with bench(fake.events(fake.delta("a"), ending="hang"), fake.completion("next")) as b:
        stream = b.model.stream(ask())
        async for chunk in stream:
            assert chunk.text == "a"
            break
        await _close(stream)
        assert (await b.model.complete(ask())).text == "next"


async def _close(stream: AsyncIterator[Any]) -> None:
    close: Callable[[], Any] = stream.aclose  # type: ignore[attr-defined]
    await close()
