"""The secrets of webhooks that admins make: each is made from one key, and none is stored.

The key is in the environment, like every secret that the server must know again. A stolen database
signs nothing, and a rotation is the next number.
"""

import base64
import hmac
import os
from hashlib import sha256

from deskhand.errors import ConfigError
from deskhand.model.webhook import Endpoint

KEY_VARIABLE = "DESKHAND_SECRET_KEY"
SHORTEST = 32
PREFIX = "whsec_"
BOTH_FOR = 24 * 3600.0
"""Seconds after a rotation in which deliveries carry the signature of the earlier secret too."""

_FIX = "set it to a random text, as `openssl rand -base64 32` prints one, wherever desks are served"


class WebhookSecrets:
    def __init__(self, key: str | None) -> None:
        self._key = key

    @classmethod
    def from_environment(cls) -> "WebhookSecrets":
        return cls(os.environ.get(KEY_VARIABLE))

    def secret_of(self, endpoint_id: str, generation: int) -> str:
        """`whsec_...`; ConfigError where there is no key to make it from."""
        if not self._key:
            raise ConfigError(f"{KEY_VARIABLE} is not set: webhooks have no secret", fix=_FIX)
        if len(self._key) < SHORTEST:
            problem = f"{KEY_VARIABLE} is shorter than {SHORTEST} characters"
            raise ConfigError(problem, fix=_FIX)
        said = f"webhook\0{endpoint_id}\0{generation}".encode()
        made = hmac.digest(self._key.encode(), said, sha256)
        return PREFIX + base64.b64encode(made).decode()

    def check_of(self, endpoint_id: str, generation: int) -> str:
        """What is stored of a secret: enough to see whether it is still the same."""
        secret = self.secret_of(endpoint_id, generation)
        return sha256(f"check\0{secret}".encode()).hexdigest()[:16]

    def in_use(self, endpoint: Endpoint, now: float) -> list[str]:
        """The secrets that a delivery is signed with now, the newest first; ConfigError where the
        key is not the one that the address's owner was given a secret of."""
        if self.check_of(endpoint.id, endpoint.generation) != endpoint.key_check:
            raise ConfigError(
                f"{KEY_VARIABLE} is not the key that this webhook's secret was made from",
                fix="set the earlier key again, or rotate the secret and pass it on",
            )
        secrets = [self.secret_of(endpoint.id, endpoint.generation)]
        rotated_at = endpoint.rotated_at
        if rotated_at is not None and now - rotated_at < BOTH_FOR:
            secrets.append(self.secret_of(endpoint.id, endpoint.generation - 1))
        return secrets


def signing_key(secret: str) -> bytes:
    """The bytes to sign with; ConfigError for what looks like such a secret and is none."""
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        raise ConfigError(
            "the webhook's secret is not base64 after whsec_", fix="copy it again"
        ) from None


def signatures(secrets: list[str], event_id: str, stamp: str, body: bytes) -> str:
    """The header of the Standard Webhooks specification: a signature for each secret."""
    said = b".".join((event_id.encode(), stamp.encode(), body))
    signed = [hmac.digest(signing_key(secret), said, sha256) for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in signed)
