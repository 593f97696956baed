"""Where models live: known providers, those a desk adds, and a model's endpoint."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from deskhand.errors import ConfigError, ModelRefused
from deskhand.model.frozen import Frozen

if TYPE_CHECKING:
    from yarl import URL

JsonMode = Literal["json_schema", "json_object", "none"]


class Price(Frozen):
    """What a model costs per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Provider(Frozen):
    """One OpenAI-shaped endpoint; with neither `key_env` nor `key_file` it needs no key."""

    base_url: str = Field(pattern=r"^https?://[^/\s]+")
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: Path | None = None
    """A file with the key alone, as a mounted secret; the environment goes before it."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """By model name; a model without a price costs what its endpoint says, else 0.0."""
    timeout: float = Field(default=60, gt=0)
    """Seconds for one whole answer; for a stream, between two pieces of it."""
    connect_timeout: float = Field(default=10, gt=0)
    json_mode: JsonMode = "json_schema"
    """How far the endpoint can be held to a schema."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    """Whether a stream is asked for its usage; Mistral refuses the question and tells anyway."""


# Prices change and differ by contract, so none are shipped: without configured prices the cost of a
# call is 0.0.
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        max_tokens_field="max_completion_tokens",
    ),
    "gemini": Provider(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai", key_env="GEMINI_API_KEY"
    ),
    # Anthropic's compatible endpoint ignores response_format; the prompt and our own validation
    # carry the schema.
    "anthropic": Provider(
        base_url="https://api.anthropic.com/v1", key_env="ANTHROPIC_API_KEY", json_mode="none"
    ),
    "groq": Provider(
        base_url="https://api.groq.com/openai/v1", key_env="GROQ_API_KEY", json_mode="json_object"
    ),
    "mistral": Provider(
        base_url="https://api.mistral.ai/v1", key_env="MISTRAL_API_KEY", stream_usage=False
    ),
    "openrouter": Provider(base_url="https://openrouter.ai/api/v1", key_env="OPENROUTER_API_KEY"),
    "ollama": Provider(base_url="http://127.0.0.1:11434/v1", timeout=300),
}


def provider_table(
    configured: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Provider]:
    """The known providers with a desk's own laid over them, field by field."""
    table = dict(PROVIDERS)
    for name, fields in (configured or {}).items():
        shipped = table[name].model_dump() if name in table else {}
        try:
            table[name] = Provider.model_validate({**shipped, **fields})
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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Everything a call of one model needs, worked out once. Its repr never shows the key."""

    name: str
    """`provider/model`, as configured."""
    model: str
    provider: Provider
    url: "URL" = field(repr=False)
    shown_url: str
    headers: Mapping[str, str] = field(repr=False)
    key: str | None = field(default=None, repr=False)
    price: Price | None = None
    key_hint: str = ""
    """What to do about a key that is missing or refused."""
    url_variable: str = ""


def endpoint_for(
    name: str, providers: Mapping[str, Provider], environ: Mapping[str, str] = os.environ
) -> Endpoint:
    """Address and key of `provider/model`; raises ConfigError, or ModelRefused without a key."""
    provider_name, _, model = name.partition("/")
    if not provider_name or not model:
        raise ConfigError(
            f"model {name!r} names no provider",
            fix="write it as provider/model, e.g. openai/gpt-4.1-mini",
        )
    provider = providers.get(provider_name)
    if provider is None:
        near = get_close_matches(provider_name, providers, n=1)
        hint = f"did you mean {near[0]}/{model}? " if near else ""
        fix = (
            f"{hint}known providers: {', '.join(sorted(providers))}; others are configured with a"
            " base_url"
        )
        raise ConfigError(f"model {name!r} names an unknown provider {provider_name!r}", fix=fix)
    url_variable = f"DESKHAND_{provider_name.upper().replace('-', '_')}_BASE_URL"
    base = _base_url(environ.get(url_variable) or provider.base_url, url_variable)
    key, hint = _key(name, provider, environ)
    return Endpoint(
        name=name,
        model=model,
        provider=provider,
        url=(base if key is None else base.with_user(None))
        .joinpath("chat", "completions")
        .with_query(base.query),
        shown_url=str(base.with_user(None).with_query(None)),
        headers=_headers(key),
        key=key,
        price=provider.prices.get(model),
        key_hint=hint,
        url_variable=url_variable,
    )


def _base_url(text: str, variable: str) -> "URL":
    from yarl import URL

    try:
        url = URL(text.strip().rstrip("/"))
        valid = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"{variable} is not the address of an HTTP server", fix="write https://host/v1"
        )
    return url


def _headers(key: str | None) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "deskhand",
    }
    return headers if key is None else {**headers, "Authorization": f"Bearer {key}"}


def _key(name: str, provider: Provider, environ: Mapping[str, str]) -> tuple[str | None, str]:
    """The key and where it comes from: the environment first, then the file."""
    if provider.key_env is None and provider.key_file is None:
        return (
            None,
            (
                "this provider is configured without a key; give it key_env or key_file if it"
                " needs one"
            ),
        )
    key = environ.get(provider.key_env, "") if provider.key_env else ""
    file = provider.key_file or (
        environ.get(f"{provider.key_env}_FILE") if provider.key_env else None
    )
    places = [f"the environment variable {provider.key_env}"] if provider.key_env else []
    places += [f"the file {file}"] if file else [f"a file named by {provider.key_env}_FILE"]
    hint = f"put a valid key into {' or '.join(places)}"
    if not key.strip() and file:
        key = _key_from(Path(file), name, hint)
    key = key.strip()
    if not key:
        raise ModelRefused(f"{name} needs a key and none was found: {hint}")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelRefused(f"the key of {name} holds characters that no key has: {hint}")
    return key, hint


def _key_from(file: Path, name: str, hint: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "is not text"
    raise ModelRefused(f"the key file of {name}, {file}, cannot be read ({problem}): {hint}")
