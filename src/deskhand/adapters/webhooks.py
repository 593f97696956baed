"""Webhooks, signed as in the Standard Webhooks specification."""

import base64
import binascii
import hmac
import json
import os
from hashlib import sha256
from typing import Any

import aiohttp

from deskhand.adapters.channels.mail_connection import read_secret
from deskhand.config.sections.notify import WebhookSpec
from deskhand.errors import ConfigError, RetryableError

_TIMEOUT = aiohttp.ClientTimeout(total=15)
_PREFIX = "whsec_"


class Webhook:
    """Posts to the operator's address and to no other: redirections are not followed."""

    def __init__(self, spec: WebhookSpec) -> None:
        self._spec = spec

    async def post(self, notice_id: str, at: float, payload: dict[str, Any]) -> None:
        """RetryableError unless the other side says that it has it."""
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "deskhand",
            **self._signed(notice_id, at, body),
        }
        try:
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT) as session,
                session.post(
                    self._spec.url, data=body, headers=headers, allow_redirects=False
                ) as answer,
            ):
                if not 200 <= answer.status < 300:
                    raise RetryableError(f"the webhook answered {answer.status}")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise RetryableError(
                f"the webhook could not be reached: {type(error).__name__}"
            ) from None

    def _signed(self, notice_id: str, at: float, body: bytes) -> dict[str, str]:
        stamp = str(int(at))
        signature = hmac.digest(
            self._key(), b".".join((notice_id.encode(), stamp.encode(), body)), sha256
        )
        signed = f"v1,{base64.b64encode(signature).decode()}"
        return {"webhook-id": notice_id, "webhook-timestamp": stamp, "webhook-signature": signed}

    def _key(self) -> bytes:
        """Read when needed, so that a new secret needs no restart."""
        if self._spec.secret_env is not None:
            secret = os.environ.get(self._spec.secret_env, "")
            if not secret:
                raise ConfigError(
                    f"the environment variable {self._spec.secret_env} is not set", fix="set it"
                )
        else:
            assert self._spec.secret_file is not None  # one of the two is checked for
            secret = read_secret(self._spec.secret_file)
        if not secret.startswith(_PREFIX):
            return secret.encode()
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            raise ConfigError(
                "the webhook's secret is not base64 after whsec_", fix="copy it again"
            ) from None
