"""Model names to endpoints, and where keys come from."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from deskhand.adapters.chat_models.endpoints import ModelEndpoint, endpoint_for
from deskhand.adapters.chat_models.providers import PROVIDERS, provider_table
from deskhand.errors import ConfigError, ModelNotUsable, ModelRefused


def endpoint(
    name: str, environ: dict[str, str] | None = None, **configured: Mapping[str, object]
) -> ModelEndpoint:
    return endpoint_for(name, provider_table(configured), environ or {})


HOSTED = [
    name for name, provider in PROVIDERS.items() if provider.base_url and not provider.key_optional
]


@pytest.mark.parametrize("name", HOSTED)
def test_a_known_provider_takes_its_key_from_its_usual_variable(name: str) -> None:
    variable = f"{name.removesuffix('-chat').upper()}_API_KEY"
    found = endpoint(f"{name}/some-model", {variable: " k123 \n"})
    provider = PROVIDERS[name]
    is_bearer = provider.api_key_header == "Authorization"
    assert found.headers[provider.api_key_header] == ("Bearer k123" if is_bearer else "k123")
    assert str(found.url).startswith("https://")
    with pytest.raises(
        ModelNotUsable, match=f"needs a key and none was found: put a valid key into .* {variable}"
    ):
        endpoint(f"{name}/some-model")


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("ollama", "http://127.0.0.1:11434/api/chat"),
        ("vllm", "http://127.0.0.1:8000/v1/chat/completions"),
        ("llamacpp", "http://127.0.0.1:8080/v1/chat/completions"),
        ("lmstudio", "http://127.0.0.1:1234/v1/chat/completions"),
        ("litellm", "http://127.0.0.1:4000/v1/chat/completions"),
    ],
)
def test_a_server_at_home_needs_no_key_and_takes_one(name: str, url: str) -> None:
    found = endpoint(f"{name}/qwen3")
    assert str(found.url) == url
    assert "Authorization" not in found.headers
    variable = str(PROVIDERS[name].key_env)
    assert endpoint(f"{name}/qwen3", {variable: "k1"}).headers["Authorization"] == "Bearer k1"


def test_ollamas_other_address_leads_to_its_own_protocol() -> None:
    found = endpoint("ollama/qwen3", {"DESKHAND_OLLAMA_BASE_URL": "http://gpu:11434/v1/"})
    assert str(found.url) == "http://gpu:11434/api/chat"


def test_azure_has_two_forms_and_no_address_of_its_own() -> None:
    environ = {"AZURE_OPENAI_API_KEY": "k1"}
    with pytest.raises(ConfigError, match="has no address of its own") as caught:
        endpoint("azure/luna", environ)
    assert "DESKHAND_AZURE_BASE_URL" in str(caught.value)
    current = {"base_url": "https://acme.openai.azure.com/openai/v1"}
    found = endpoint("azure/luna", environ, azure=current)
    assert str(found.url) == "https://acme.openai.azure.com/openai/v1/responses"
    assert found.headers["api-key"] == "k1"
    dated = {"base_url": "https://acme.openai.azure.com/openai?api-version=2024-10-21"}
    found = endpoint("azure-deployments/luna", environ, **{"azure-deployments": dated})
    assert str(found.url) == (
        "https://acme.openai.azure.com/openai/deployments/luna/chat/completions"
        "?api-version=2024-10-21"
    )
    assert "Authorization" not in found.headers


def test_a_desk_adds_headers_and_parameters_by_model() -> None:
    own = {
        "headers": {"OpenAI-Project": "proj_1"},
        "params": {"*": {"top_p": 0.9}, "m": {"top_p": None, "reasoning_effort": "low"}},
    }
    found = endpoint("anthropic/m", {"ANTHROPIC_API_KEY": "k"}, anthropic=own)
    assert found.headers["anthropic-version"] == "2023-06-01"
    assert found.headers["OpenAI-Project"] == "proj_1"
    assert found.params == {"top_p": None, "reasoning_effort": "low"}
    assert endpoint("anthropic/n", {"ANTHROPIC_API_KEY": "k"}, anthropic=own).params == {
        "top_p": 0.9
    }


def test_everything_behind_the_first_slash_is_the_model() -> None:
    assert (
        endpoint("openrouter/meta/llama-3:free", {"OPENROUTER_API_KEY": "k"}).model
        == "meta/llama-3:free"
    )


def test_the_environment_overrides_the_address() -> None:
    environ = {"DESKHAND_MY_HOST_BASE_URL": "http://10.0.0.1:8000/v1/?api-version=2", "K": "k"}
    found = endpoint(
        "my-host/m", environ, **{"my-host": {"base_url": "https://x.example", "key_env": "K"}}
    )
    assert str(found.url) == "http://10.0.0.1:8000/v1/chat/completions?api-version=2"


@pytest.mark.parametrize("address", ["ftp://x/v1", "nonsense", "http://", "http://[::1"])
def test_a_wrong_address_in_the_environment_is_named(address: str) -> None:
    with pytest.raises(ConfigError, match="DESKHAND_OLLAMA_BASE_URL"):
        endpoint("ollama/x", {"DESKHAND_OLLAMA_BASE_URL": address})


def test_a_key_comes_from_a_secret_file(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("from-file\n")
    house: dict[str, object] = {"base_url": "https://x.example/v1", "key_file": str(secret)}
    assert endpoint("house/m", {}, house=house).key == "from-file"
    assert endpoint("openai/m", {"OPENAI_API_KEY_FILE": str(secret)}).key == "from-file"
    assert (
        endpoint("openai/m", {"OPENAI_API_KEY_FILE": str(secret), "OPENAI_API_KEY": "first"}).key
        == "first"
    )


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match=r"nowhere, cannot be read \(No such file"):
        endpoint("openai/m", {"OPENAI_API_KEY_FILE": str(tmp_path / "nowhere")})


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "klíč"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ModelRefused, match="holds characters that no key has") as caught:
        endpoint("openai/m", {"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


def test_an_address_never_shows_its_password_and_gives_way_to_a_key() -> None:
    house: dict[str, object] = {
        "base_url": "https://me:pa55word@x.example/v1?token=t0ken",
        "key_env": "K",
    }
    found = endpoint("house/m", {"K": "k123456789"}, house=house)
    assert "pa55word" not in str(found.url)
    assert not any(
        secret in repr(found.shown_url) for secret in ("pa55word", "t0ken", "k123456789")
    )


def test_a_known_provider_is_changed_field_by_field() -> None:
    table = provider_table({"openai": {"prices": {"m": {"input": 1, "output": 2}}}})
    assert table["openai"].key_env == "OPENAI_API_KEY"
    assert (
        endpoint_for("openai/m", table, {"OPENAI_API_KEY": "k"}).price
        == table["openai"].prices["m"]
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "base_url: Field required"),
        ({"base_url": "x.example"}, "base_url"),
        ({"base_url": "https://x", "api_key": "sk-123456789"}, "api_key: Extra inputs"),
        ({"base_url": "https://x", "timeout": 0}, "timeout"),
        ({"base_url": "https://x", "prices": {"m": {"input": -1, "output": 1}}}, "prices.m.input"),
    ],
)
def test_a_wrong_provider_is_a_configuration_error(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match="provider 'house': ") as caught:
        provider_table({"house": fields})
    assert words in str(caught.value)
    assert "sk-123456789" not in str(caught.value)
