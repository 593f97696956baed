"""API keys: only their digests are stored, so a stolen database opens nothing."""

import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.statements import mark_key
from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.access import ANY_DESK, ApiKey, Scope
from deskhand.model.ids import new_id

_NO_DIGEST = bytes(32)
_SECRET = re.compile(r"dh_([0-9a-z]{20})_[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,99}")
_SCOPES = frozenset(map(str, Scope))
_DESK = re.compile(r"[a-z][a-z0-9-]{0,59}")
_BY_ID = sa.select(t.api_keys).where(t.api_keys.c.id == sa.bindparam("id"))
"""Asked with every request, so it is put together once."""


class SqlKeyStore:
    """The keys of a database, whichever of its desks they are for."""

    def __init__(self, database: CoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    async def add(
        self, name: str, scopes: Iterable[str], desks: Iterable[str]
    ) -> tuple[ApiKey, str]:
        """A new key and its secret, readable only now; ConfigError says what to write instead."""
        key = ApiKey(new_id("key"), _name(name), _scopes(scopes), checked_desks(desks), self._now())
        secret = f"dh_{key.id.removeprefix('key_')}_{secrets.token_hex(32)}"

        def op(core: sa.Connection) -> None:
            in_use = sa.select(t.api_keys.c.id).where(
                t.api_keys.c.name == key.name, t.api_keys.c.revoked_at.is_(None)
            )
            if core.execute(in_use).first() is not None:
                raise Conflict(
                    f"there is a key {key.name!r} already; revoke it or choose another name"
                )
            core.execute(
                t.api_keys.insert().values(
                    id=key.id,
                    digest=_digest(secret),
                    name=key.name,
                    scopes=" ".join(sorted(key.scopes)),
                    desks=" ".join(key.desks),
                    created_at=key.created_at,
                )
            )
            mark_key(core, key.id)

        await self._database.write_core(op)
        return key, secret

    async def find(self, secret: str) -> ApiKey | None:
        """The key in use that this is the secret of; compared in constant time."""
        shape = _SECRET.fullmatch(secret)
        if shape is None:
            return None
        values = {"id": f"key_{shape[1]}"}
        rows = await self._database.look_up(_BY_ID, values)
        row = rows[0] if rows else None
        matches = hmac.compare_digest(
            _digest(secret), _NO_DIGEST if row is None else bytes(row.digest)
        )
        if row is None or not matches or row.revoked_at is not None:
            return None
        return _key(row)

    async def list(self) -> Sequence[ApiKey]:
        """Oldest first, revoked ones too."""
        query = sa.select(t.api_keys).order_by(t.api_keys.c.created_at, t.api_keys.c.id)
        return await self._database.read_core(
            lambda core: [_key(row) for row in core.execute(query)]
        )

    async def revoke(self, key_id: str) -> ApiKey:
        """Shut a key out from its next request on; doing it again changes nothing."""

        def op(core: sa.Connection) -> ApiKey:
            this = t.api_keys.c.id == key_id
            in_use = (this, t.api_keys.c.revoked_at.is_(None))
            revoked = t.api_keys.update().where(*in_use).values(revoked_at=self._now())
            if core.execute(revoked).rowcount:
                mark_key(core, key_id)
            row = core.execute(sa.select(t.api_keys).where(this)).one_or_none()
            if row is None:
                raise NotFound(f"there is no key {key_id}")
            return _key(row)

        return await self._database.write_core(op)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _key(row: Any) -> ApiKey:
    """Scopes that this version does not know give nothing."""
    scopes = frozenset(Scope(scope) for scope in row.scopes.split() if scope in _SCOPES)
    return ApiKey(
        row.id, row.name, scopes, tuple(row.desks.split()), row.created_at, row.revoked_at
    )


def _name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ConfigError(
            f"{name!r} cannot name a key",
            fix="write 1 to 100 letters, digits, spaces or . _ @ -, as shop-backend",
        )
    return name


def _scopes(scopes: Iterable[str]) -> frozenset[Scope]:
    wanted = list(scopes)
    unknown = [scope for scope in wanted if scope not in _SCOPES]
    if unknown or not wanted:
        problem = (
            f"there is no scope {unknown[0]!r}"
            if unknown
            else "a key without scopes may do nothing"
        )
        raise ConfigError(problem, fix=f"choose from {', '.join(Scope)}")
    return frozenset(Scope(scope) for scope in wanted)


def checked_desks(desks: Iterable[str]) -> tuple[str, ...]:
    """Whose desks a key or a user may touch; ConfigError says what to write instead."""
    wanted = tuple(dict.fromkeys(desks))
    wrong = [desk for desk in wanted if desk != ANY_DESK and _DESK.fullmatch(desk) is None]
    if wrong or not wanted:
        problem = (
            f"{wrong[0]!r} is not the name of a desk"
            if wrong
            else "without a desk nothing may be touched"
        )
        raise ConfigError(
            problem, fix=f"name desks as their desk.yaml does, or {ANY_DESK!r} for all of them"
        )
    return wanted
