"""A key from the environment, beside those of the database: for a desk that one program calls."""

import hmac
from collections.abc import Iterable, Sequence

from deskhand.errors import ConfigError
from deskhand.model.access import ApiKey, Scope
from deskhand.ports import ApiKeys

API_KEY = "DESKHAND_API_KEY"
SCOPES = frozenset(
    {
        Scope.MESSAGES_WRITE,
        Scope.RUNS_READ,
        Scope.TICKETS_READ,
        Scope.TICKETS_WRITE,
        Scope.CUSTOMERS_ASSERT,
    }
)
"""What whoever hands tickets in needs; no more."""
_SHORTEST = 20
_LONGEST = 400


class KeysWithEnvironment:
    """The keys of a database, and the one that the environment holds for the served desks. It is
    stored nowhere and listed nowhere; who has it is called `DESKHAND_API_KEY`."""

    def __init__(self, keys: ApiKeys, secret: str, desks: Iterable[str]) -> None:
        """ConfigError for a secret that is too short or cannot stand in a header."""
        if not _SHORTEST <= len(secret) <= _LONGEST or not secret.isascii() or " " in secret:
            raise ConfigError(
                f"{API_KEY} is no key: at least {_SHORTEST} signs, without spaces",
                fix=f"write {API_KEY}=dh_$(openssl rand -hex 32)",
            )
        self._keys, self._secret = keys, secret.encode()
        self._key = ApiKey("key_environment", API_KEY, SCOPES, tuple(desks), 0.0)

    async def find(self, secret: str) -> ApiKey | None:
        """The key that has this secret. Compares in constant time, so that nobody can guess it sign
        by sign."""
        if hmac.compare_digest(secret.encode(), self._secret):
            return self._key
        return await self._keys.find(secret)

    async def add(
        self, name: str, scopes: Iterable[str], desks: Iterable[str]
    ) -> tuple[ApiKey, str]:
        return await self._keys.add(name, scopes, desks)

    async def list(self) -> Sequence[ApiKey]:
        return await self._keys.list()

    async def revoke(self, key_id: str) -> ApiKey:
        return await self._keys.revoke(key_id)
