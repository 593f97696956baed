"""A model's endpoint: its address, its key and its settings, worked out once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.adapters.chat_models.providers import EVERY_MODEL, Api, Provider, TokenPrice
from deskhand.errors import ConfigError, ModelNotUsable

if TYPE_CHECKING:
    from yarl import URL

_PATHS: dict[Api, str] = {
    "chat_completions": "chat/completions",
    "responses": "responses",
    "messages": "messages",
    "ollama": "api/chat",
}


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """Everything a call of one model needs, worked out once. Its repr never shows the key."""

    name: str
    """`provider/model`, as configured."""
    model: str
    provider: Provider
    url: "URL" = field(repr=False)
    shown_url: str
    headers: Mapping[str, str] = field(repr=False)
    key: str | None = field(default=None, repr=False)
    price: TokenPrice | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the desk writes into this model's requests."""
    key_hint: str = ""
    """What to do about a key that is missing or refused."""
    url_variable: str = ""

    @property
    def provider_name(self) -> str:
        return self.name.partition("/")[0]


def endpoint_for(
    name: str,
    providers: Mapping[str, Provider],
    environ: Mapping[str, str] = os.environ,
    prices: Mapping[str, TokenPrice] | None = None,
) -> ModelEndpoint:
    """Address and key of `provider/model`; raises ConfigError, or ModelNotUsable without a key.

    `prices` are by `provider/model`, for models to which the provider gives no price.
    """
    provider_name, provider, model = named_provider(name, providers)
    url_variable = f"DESKHAND_{provider_name.upper().replace('-', '_')}_BASE_URL"
    address = environ.get(url_variable) or provider.base_url
    if not address:
        raise ConfigError(
            f"the provider {provider_name!r} has no address of its own",
            fix=(
                f"write `providers: {{{provider_name}: {{base_url: https://...}}}}`, or set"
                f" {url_variable}"
            ),
        )
    base = _base_url(address, url_variable, provider)
    key, hint = _key(name, provider, environ)
    path = (provider.path or _PATHS[provider.api]).format(model=model)
    return ModelEndpoint(
        name=name,
        model=model,
        provider=provider,
        url=(base if key is None else base.with_user(None))
        .joinpath(*path.split("/"))
        .with_query(base.query),
        shown_url=str(base.with_user(None).with_query(None)),
        headers=_headers(provider, key),
        key=key,
        price=provider.prices.get(model) or (prices or {}).get(name),
        params={**provider.params.get(EVERY_MODEL, {}), **provider.params.get(model, {})},
        key_hint=hint,
        url_variable=url_variable,
    )


def named_provider(name: str, providers: Mapping[str, Provider]) -> tuple[str, Provider, str]:
    """The provider's name, the provider and the model of `provider/model`; raises ConfigError."""
    provider_name, _, model = name.partition("/")
    if not provider_name or not model:
        raise ConfigError(
            f"model {name!r} names no provider",
            fix="write it as provider/model, e.g. openai/gpt-6-luna",
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
    return provider_name, provider, model


def _base_url(text: str, variable: str, provider: Provider) -> "URL":
    from yarl import URL

    text = text.strip().rstrip("/")
    if provider.api == "ollama":
        text = text.removesuffix("/v1")  # its other protocol, which cannot set the context
    try:
        url = URL(text)
        valid = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"{variable} is not the address of an HTTP server", fix="write https://host/v1"
        )
    return url


def _headers(provider: Provider, key: str | None) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "deskhand",
        **provider.headers,
    }
    if key is not None:
        bearer = provider.api_key_header.lower() == "authorization"
        headers[provider.api_key_header] = f"Bearer {key}" if bearer else key
    return headers


def _key(name: str, provider: Provider, environ: Mapping[str, str]) -> tuple[str | None, str]:
    """The key and where it comes from: the environment first, then the file."""
    if provider.key_env is None and provider.key_file is None:
        hint = "this provider is configured without a key; give it key_env or key_file if it needs"
        return None, f"{hint} one"
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
    if not key and provider.key_optional:
        return None, hint
    if not key:
        raise ModelNotUsable(f"{name} needs a key and none was found: {hint}")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelNotUsable(f"the key of {name} holds characters that no key has: {hint}")
    return key, hint


def _key_from(file: Path, name: str, hint: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "is not text"
    raise ModelNotUsable(f"the key file of {name}, {file}, cannot be read ({problem}): {hint}")
