"""Streams as providers send them (tests/data/wire/streams): shown piece by piece, read as a whole,
and tried again when they break off."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from deskhand.adapters.chat_models.faults import RetryPolicy
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import PROVIDERS, provider_table
from deskhand.errors import ModelUnavailable
from deskhand.model.chat import ChatRequest, Chunk
from tests.fake_openai import FakeOpenAI, Reply

FOLDER = Path(__file__).parents[3] / "data" / "wire" / "streams"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}
MESSAGES = ({"role": "user", "content": "Where is my parcel?"},)
KINDS = {"openai-chat": "chat_completions", "openai": "responses", "anthropic": "messages"}

END_MARKS = (
    b'"finish_reason":"',
    b"event: response.completed",
    b"event: message_stop",
    b'"done":true',
)
"""Where an answer is whole, whatever becomes of the connection."""


def printed(provider: str) -> dict[str, Any]:
    shown: dict[str, Any] = yaml.safe_load(FILES[provider].read_text(encoding="utf-8"))
    return shown


def reply(stream: dict[str, Any], *, size: int, upto: float = 1.0) -> Reply:
    """The stream in pieces of some bytes; with `upto`, the connection breaks after this share of
    what comes before its end."""
    raw = stream["stream"].encode()
    if upto < 1.0:
        ends = min(place for mark in END_MARKS if (place := raw.find(mark)) >= 0)
        raw = raw[: int(ends * upto)]
    pieces = tuple(raw[start : start + size] for start in range(0, len(raw), size))
    kind = stream.get("content_type", "text/event-stream")
    ending: Any = "stream" if upto == 1.0 else "cut_stream"
    return Reply(content_type=kind, pieces=pieces, then=ending)


@asynccontextmanager
async def model_of(
    provider: str, *replies: Reply, tries: int = 3
) -> AsyncIterator[tuple[HttpChatModel, FakeOpenAI]]:
    async with FakeOpenAI(replies) as server:
        environ = {str(PROVIDERS[provider].key_env): "the-key"}
        table = provider_table({provider: {"base_url": server.base_url}})
        retries = RetryPolicy(tries=tries, first_pause=0.0)
        model = HttpChatModel(table, environ=environ, retries=retries)
        yield model, server
        await model.aclose()


async def heard(model: HttpChatModel, name: str) -> list[Chunk]:
    return [chunk async for chunk in model.stream(ChatRequest(MESSAGES, name))]


def test_every_stream_says_where_its_form_is_described() -> None:
    assert {PROVIDERS[name].api for name in FILES} == {
        "chat_completions",
        "responses",
        "messages",
        "ollama",
    }
    for name in FILES:
        stream = printed(name)
        assert "http" in stream["page"]
        assert str(stream["read"]).startswith("20")
        assert stream["seen"]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("provider", list(FILES))
async def test_a_stream_is_shown_in_pieces_and_read_as_a_whole(provider: str, size: int) -> None:
    stream = printed(provider)
    async with model_of(provider, reply(stream, size=size)) as (model, server):
        chunks = await heard(model, stream["model"])
    sent = server.received[0].body
    assert {name: sent.get(name) for name in stream["sends"]} == stream["sends"]
    assert [chunk.text for chunk in chunks if chunk.text] == stream["shows"]
    whole = chunks[-1].completion
    assert whole is not None
    reads = stream["reads"]
    calls = [[call.id, call.name, json.loads(call.arguments)] for call in whole.tool_calls]
    usage = whole.usage
    assert (whole.text, calls, whole.finish_reason) == (
        reads["text"],
        reads["calls"],
        reads["finish"],
    )
    assert [
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
    ] == reads["tokens"]
    if "cost" in reads:
        assert usage.cost == reads["cost"]
    if "native" in stream:
        assert whole.native is not None
        assert stream["native"].items() <= whole.native.items()


@pytest.mark.parametrize("upto", [0.3, 0.6, 0.85])
@pytest.mark.parametrize("provider", list(FILES))
async def test_a_stream_cut_anywhere_is_tried_again(provider: str, upto: float) -> None:
    stream = printed(provider)
    cut, whole = reply(stream, size=50, upto=upto), reply(stream, size=50)
    async with model_of(provider, cut, whole) as (model, server):
        chunks = await heard(model, stream["model"])
    assert server.count == 2
    anew = [place for place, chunk in enumerate(chunks) if chunk.begins_anew]
    counted = chunks
    if anew:
        counted = chunks[anew[0] + 1 :]
        assert any(chunk.text for chunk in chunks[: anew[0]]), "told where something was shown"
    assert [chunk.text for chunk in counted if chunk.text] == stream["shows"]
    assert chunks[-1].completion is not None
    assert chunks[-1].completion.text == stream["reads"]["text"]


@pytest.mark.parametrize("provider", list(KINDS))
async def test_a_stream_that_always_breaks_off_is_given_up(provider: str) -> None:
    stream = printed(provider)
    cut = reply(stream, size=50, upto=0.7)
    async with model_of(provider, cut, cut, tries=2) as (model, server):
        with pytest.raises(ModelUnavailable, match=r"broke off .* \(after 2 tries\)"):
            await heard(model, stream["model"])
    assert server.count == 2


ERRORS = {
    "openai-chat": 'data: {"error":{"message":"The server is overloaded","code":503}}\n\n',
    "openai": (
        'event: error\ndata: {"type":"error","code":"server_error",'
        '"message":"The server is overloaded","param":null,"sequence_number":5}\n\n'
    ),
    "anthropic": (
        'event: error\ndata: {"type": "error", "error": '
        '{"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    ),
}


@pytest.mark.parametrize("provider", list(ERRORS))
async def test_an_error_inside_a_stream_is_tried_again(provider: str) -> None:
    stream = printed(provider)
    begun = stream["stream"][: stream["stream"].index("it up.")].rpartition("\n\n")[0] + "\n\n"
    broken = {**stream, "stream": begun + ERRORS[provider]}
    async with model_of(provider, reply(broken, size=64), reply(stream, size=64)) as (model, _):
        chunks = await heard(model, stream["model"])
    assert [chunk.begins_anew for chunk in chunks].count(True) == 1
    assert chunks[-1].completion is not None
    assert chunks[-1].completion.text == "I look it up."
