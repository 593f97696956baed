"""Every provider's requests and answers, as its own reference prints them (tests/data/wire)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from deskhand.adapters.chat_models.faults import RetryPolicy
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import PROVIDERS, provider_table
from deskhand.agents.transcript import Transcript, turn_of
from deskhand.model.chat import ChatRequest, Completion
from tests import fake_openai as fake
from tests.fake_openai import FakeOpenAI, Reply

FOLDER = Path(__file__).parents[3] / "data" / "wire"
SYSTEM = "You are a desk."
RESULT = {"temperature": 21}


def exchange_of(provider: str) -> dict[str, Any]:
    exchange: dict[str, Any] = yaml.safe_load((FOLDER / f"{provider}.yaml").read_text())
    return exchange


def reply(printed: dict[str, Any]) -> Reply:
    return replace(fake.body(printed["answer"]), status=printed.get("status", 200))


def model_at(server: FakeOpenAI, exchange: dict[str, Any], **more: Any) -> HttpChatModel:
    """The provider as Deskhand ships it, at the address of this server."""
    name = exchange["model"].partition("/")[0]
    root = server.base_url.removesuffix("/v1")
    own = {name: {"base_url": root + exchange.get("base", "/v1"), **more}}
    environ = {str(PROVIDERS[name].key_env): "the-key"}
    retries = RetryPolicy(first_pause=0.0)
    return HttpChatModel(provider_table(own), environ=environ, retries=retries)


def asked(exchange: dict[str, Any], talk: Transcript, *heard: str) -> ChatRequest:
    messages = tuple(talk.messages(SYSTEM, heard))
    return ChatRequest(messages, exchange["model"], (exchange["tool"],))


def test_every_provider_has_an_exchange_with_page_and_date() -> None:
    files = {path.stem for path in FOLDER.glob("*.yaml")}
    assert files == set(PROVIDERS)
    for name in files:
        exchange = exchange_of(name)
        assert "http" in exchange["page"]
        assert str(exchange["read"]).startswith("20")
        assert exchange["seen"]


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_an_agent_asks_and_answers_as_the_reference_prints_it(provider: str) -> None:
    exchange = exchange_of(provider)
    script = [reply(exchange[name]) for name in ("first",) if name in exchange]
    async with FakeOpenAI([*script, reply(exchange), reply(exchange)]) as server:
        model = model_at(server, exchange)
        talk = Transcript()
        user = exchange["user"]
        completion = await model.complete(asked(exchange, talk, user))
        talk.add_turn(_kept(turn_of(completion, 1, (user,), ())))
        talk.add_result({"tool": completion.tool_calls[0].name, "iteration": 1, "data": RESULT})
        await model.complete(asked(exchange, talk, *_then(exchange)))
        await model.aclose()

    first, second = server.received[-2:]
    sends = exchange["sends"]
    assert first.path == sends["path"]
    assert sends["headers"].items() <= first.headers.items()
    assert {name: first.body.get(name) for name in sends["body"]} == sends["body"]
    _check_reading(completion, exchange["reads"])
    for name, tail in _expected_tail(exchange).items():
        assert second.body[name][-len(tail) :] == tail
    assert "native" not in json.dumps(second.body)


def _kept(turn: dict[str, Any]) -> dict[str, Any]:
    """The turn as a row of the store gives it back."""
    kept: dict[str, Any] = json.loads(json.dumps(turn))
    return kept


def _then(exchange: dict[str, Any]) -> list[str]:
    return [exchange["then"]] if "then" in exchange else []


def _expected_tail(exchange: dict[str, Any]) -> dict[str, Any]:
    """What goes back, with the tool's result as the transcript writes it."""
    text = json.dumps(exchange["goes_back"]).replace('{\\"temperature\\": 21}', _RESULT_TEXT)
    tail: dict[str, Any] = json.loads(text)
    return tail


_RESULT_TEXT = json.dumps(json.dumps(RESULT, separators=(",", ":")))[1:-1]


def _check_reading(completion: Completion, reads: dict[str, Any]) -> None:
    calls = [[call.id, call.name, json.loads(call.arguments)] for call in completion.tool_calls]
    usage = completion.usage
    assert calls == reads["calls"]
    assert completion.text == reads.get("text", "")
    assert completion.finish_reason == reads["finish"]
    assert [
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
    ] == reads["tokens"]
    assert usage.cost == reads.get("cost", 0.0)
