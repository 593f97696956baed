"""Posting webhooks, signed as in the Standard Webhooks specification."""

import json
import os
import socket
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from deskhand.adapters.channels.mail_connection import read_secret
from deskhand.adapters.webhook_addresses import AllowedAddresses, is_address, private_address
from deskhand.adapters.webhook_secrets import WebhookSecrets, signatures
from deskhand.config.sections.notify import WebhookSpec
from deskhand.errors import ConfigError
from deskhand.model.webhook import Attempt, Endpoint

LONGEST_WAIT = 24 * 3600.0

_TIMEOUT = aiohttp.ClientTimeout(total=15)


class _CheckedResolver(AbstractResolver):
    """Names lead only to allowed machines: what was looked at is what is connected to."""

    def __init__(self, allowed: AllowedAddresses, encrypted: bool) -> None:
        self._allowed = allowed
        self._encrypted = encrypted
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        resolved = await self._resolver.resolve(host, port, family)
        allowed = [result for result in resolved if self._may_reach(result["host"])]
        if not allowed:
            raise NotAllowed(private_address(host))
        return allowed

    def _may_reach(self, address: str) -> bool:
        return self._allowed.allows(address, encrypted=self._encrypted)

    async def close(self) -> None:
        await self._resolver.close()


class NotAllowed(OSError):
    """A name leads to a machine that webhooks may not reach."""


class WebhookPost:
    """Posts to one address and to no other: redirections are not followed, no proxy is used."""

    def __init__(
        self, allowed: AllowedAddresses | None, secrets_for: Callable[[float], list[str]], url: str
    ) -> None:
        """Without `allowed`, every machine may be posted to: an operator wrote the address."""
        self._allowed = allowed
        self._secrets_for = secrets_for
        self._url = url
        self._encrypted = url.lower().startswith("https:")

    async def post(self, event_id: str, at: float, payload: dict[str, Any]) -> Attempt:
        """Never raises for what the other side does; ConfigError where there is no secret."""
        stamp = str(int(at))
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "deskhand",
            "webhook-id": event_id,
            "webhook-timestamp": stamp,
            "webhook-signature": signatures(self._secrets_for(at), event_id, stamp, body),
        }
        host = urlsplit(self._url).hostname or ""
        if not self._may_reach(host):
            return Attempt(error=private_address(host))
        try:
            return await self._send(body, headers)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            return Attempt(error=_reason(error))

    def _may_reach(self, host: str) -> bool:
        """What is written as an address is never looked up, so it is looked at here."""
        if self._allowed is None or not is_address(host):
            return True
        return self._allowed.allows(host, encrypted=self._encrypted)

    async def _send(self, body: bytes, headers: dict[str, str]) -> Attempt:
        resolver = None
        if self._allowed is not None:
            resolver = _CheckedResolver(self._allowed, self._encrypted)
        connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False)
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, connector=connector) as session,
            session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            if 200 <= answer.status < 300:
                return Attempt(answer.status)
            wait = _wait(answer.headers.get("Retry-After", ""))
            return Attempt(answer.status, f"the webhook answered {answer.status}", wait)


def _reason(error: BaseException) -> str:
    """Why a delivery failed, without any words of the other side."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, NotAllowed):
            return str(inner)
        inner = inner.__cause__ or inner.__context__
    return f"the webhook could not be reached: {type(error).__name__}"


def _wait(written: str) -> float | None:
    """Seconds that `Retry-After` asks for; None where it says nothing that can be read."""
    if written.isdecimal() and len(written) < 10:
        return min(float(written), LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(written).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(until - time.time(), 0.0), LONGEST_WAIT)


def post_of_endpoint(
    endpoint: Endpoint, secrets: WebhookSecrets, allowed: AllowedAddresses
) -> WebhookPost:
    """How an address is posted to that an admin named."""
    return WebhookPost(allowed, lambda at: secrets.in_use(endpoint, at), endpoint.url)


def post_of_desk_file(spec: WebhookSpec) -> WebhookPost:
    """How the address of a desk.yaml is posted to. Its secret is read when needed, so that a new
    one needs no restart."""
    return WebhookPost(None, lambda at: [_written_secret(spec)], spec.url)


def _written_secret(spec: WebhookSpec) -> str:
    if spec.secret_env is not None:
        secret = os.environ.get(spec.secret_env, "")
        if not secret:
            raise ConfigError(
                f"the environment variable {spec.secret_env} is not set", fix="set it"
            )
        return secret
    assert spec.secret_file is not None  # one of the two is checked for
    return read_secret(spec.secret_file)
