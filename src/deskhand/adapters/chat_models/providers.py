"""Where models live: the known providers as a table, and those that a desk adds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from deskhand.errors import ConfigError
from deskhand.model.frozen import Frozen

JsonMode = Literal["json_schema", "json_object", "none"]
Api = Literal["chat_completions", "responses", "messages", "ollama"]
"""The wire protocol of a provider; each has a module of its own beside this one."""
EVERY_MODEL = "*"
"""Stands for all models of a provider where settings are by model."""


class TokenPrice(Frozen):
    """What a model costs per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """For tokens that the provider had read before; as `input` if absent."""
    cache_write: float | None = Field(default=None, ge=0)
    """For tokens that the provider keeps for later; as `input` if absent."""


class Provider(Frozen):
    """How a provider's models are asked; with neither `key_env` nor `key_file` it needs no key."""

    base_url: str | None = Field(default=None, pattern=r"^https?://[^/\s]+")
    """None where each customer has an address of his own, as with Azure."""
    api: Api = "chat_completions"
    path: str | None = Field(default=None, pattern=r"^[^/].*")
    """Below the base address; `{model}` is filled in. If absent, the usual one of the `api`."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: Path | None = None
    """A file with the key alone, as a mounted secret; the environment goes before it."""
    key_optional: bool = False
    """The server may have been started without a key: one is sent where there is one."""
    api_key_header: str = Field(default="Authorization", pattern=r"^[A-Za-z0-9-]+$")
    """`Authorization` carries the key as `Bearer KEY`, any other header the key alone."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with every request."""
    params: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Fields of the request by model name, `*` for all; null leaves a field out."""
    prices: dict[str, TokenPrice] = Field(default_factory=dict)
    """By model name; they go before those of the models table."""
    costs: Literal["by_price", "told", "nothing"] = "by_price"
    """Whether the provider's answers tell what they cost, or asking it costs nothing."""
    context_tokens: int | None = Field(default=None, gt=0)
    """How much the server is told to keep in view, for one that would cut a longer prompt."""
    timeout: float = Field(default=60, gt=0)
    """Seconds for one whole answer; for a stream, between two pieces of it."""
    connect_timeout: float = Field(default=10, gt=0)
    max_tokens: int = Field(default=8192, gt=0)
    """The longest answer where nothing else is written, thoughts included."""
    json_mode: JsonMode = "json_schema"
    """How far the endpoint can be held to a schema."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    """Whether a stream is asked for its usage; Mistral refuses the question and tells anyway."""
    assistant_after_tool: bool = False
    """A user's turn may not follow a tool's result: an empty turn of the model goes in between."""
    short_call_ids: bool = False
    """Ids of tool calls have nine letters and digits."""


# A server at home may have a small window: it refuses more than fits.
_LOCAL = {"key_optional": True, "costs": "nothing", "timeout": 300, "max_tokens": 2048}

PROVIDERS: Mapping[str, Provider] = {
    # Responses: current models of OpenAI refuse tools over chat completions while they reason.
    "openai": Provider(
        base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY", api="responses"
    ),
    "openai-chat": Provider(
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        max_tokens_field="max_completion_tokens",
    ),
    "anthropic": Provider(
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        api="messages",
        api_key_header="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
    ),
    "gemini": Provider(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai", key_env="GEMINI_API_KEY"
    ),
    "mistral": Provider(
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        stream_usage=False,
        assistant_after_tool=True,
        short_call_ids=True,
    ),
    "groq": Provider(
        base_url="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        max_tokens_field="max_completion_tokens",
    ),
    "openrouter": Provider(
        base_url="https://openrouter.ai/api/v1", key_env="OPENROUTER_API_KEY", costs="told"
    ),
    "azure": Provider(key_env="AZURE_OPENAI_API_KEY", api_key_header="api-key", api="responses"),
    "azure-deployments": Provider(
        key_env="AZURE_OPENAI_API_KEY",
        api_key_header="api-key",
        path="deployments/{model}/chat/completions",
        max_tokens_field="max_completion_tokens",
    ),
    "litellm": Provider(
        base_url="http://127.0.0.1:4000/v1", key_env="LITELLM_API_KEY", key_optional=True
    ),
    "ollama": Provider.model_validate(
        {
            **_LOCAL,
            "base_url": "http://127.0.0.1:11434",
            "api": "ollama",
            "key_env": "OLLAMA_API_KEY",
            "context_tokens": 32768,
        }
    ),
    "vllm": Provider.model_validate(
        {**_LOCAL, "base_url": "http://127.0.0.1:8000/v1", "key_env": "VLLM_API_KEY"}
    ),
    "llamacpp": Provider.model_validate(
        {**_LOCAL, "base_url": "http://127.0.0.1:8080/v1", "key_env": "LLAMA_API_KEY"}
    ),
    "lmstudio": Provider.model_validate(
        {**_LOCAL, "base_url": "http://127.0.0.1:1234/v1", "key_env": "LM_API_TOKEN"}
    ),
}


def provider_table(
    configured: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Provider]:
    """The known providers with a desk's own laid over them, field by field."""
    table = dict(PROVIDERS)
    for name, fields in (configured or {}).items():
        shipped = table[name].model_dump() if name in table else {}
        headers = {**shipped.get("headers", {}), **fields.get("headers", {})}
        if not shipped and not fields.get("base_url"):
            raise ConfigError(f"provider {name!r}: base_url: Field required", fix=_PROVIDER_FIX)
        try:
            table[name] = Provider.model_validate({**shipped, **fields, "headers": headers})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ConfigError(
                f"provider {name!r}: {place}: {first['msg']}", fix=_PROVIDER_FIX
            ) from None
    return table


_PROVIDER_FIX = (
    "write `base_url: https://host/v1` and, where a key is needed, `key_env: NAME` or `key_file:"
    " PATH`"
)
