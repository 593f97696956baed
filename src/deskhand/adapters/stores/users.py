"""People who log in, and their sessions: of all secrets only digests are stored."""

import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.api_keys import checked_desks
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.passwords import fits, hashed
from deskhand.errors import ConfigError, Conflict, NotFound, TooManyLogins
from deskhand.model.access import Session, User

SESSION_SECONDS = 12 * 3600.0
"""A session ends after this time, and after a third of it without a request."""
WINDOW = 300.0
SHORTEST, LONGEST = 10, 200

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,99}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class SqlUserStore:
    """The accounts of a database, whichever of its desks they are for."""

    def __init__(self, database: CoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    async def add(self, name: str, password: str, desks: Iterable[str]) -> User:
        """ConfigError says what to write instead; Conflict when the name is taken, also by
        somebody removed."""
        user = User(_name(name), checked_desks(desks), self._now())
        stored = await hashed(_password(password))

        def op(core: sa.Connection) -> None:
            taken = sa.select(t.users.c.name).where(
                sa.func.lower(t.users.c.name) == user.name.lower()
            )
            if core.execute(taken).first() is not None:
                raise Conflict(
                    f"there is a user {user.name!r} already; set a new password, or choose another"
                    " name"
                )
            values = {"name": user.name, "password": stored, "desks": " ".join(user.desks)}
            core.execute(t.users.insert().values(**values, created_at=user.created_at))

        await self._database.write_core(op)
        return user

    async def list(self) -> Sequence[User]:
        query = sa.select(t.users).order_by(t.users.c.created_at, t.users.c.name)
        return await self._database.read_core(
            lambda core: [_user(row) for row in core.execute(query)]
        )

    async def set_password(self, name: str, password: str) -> User:
        stored = await hashed(_password(password))
        return await self._change(name, {"password": stored, "removed_at": None})

    async def remove(self, name: str) -> User:
        return await self._change(name, {"removed_at": self._now()})

    async def _change(self, name: str, values: dict[str, Any]) -> User:
        """Whatever changes about an account, its sessions end."""

        def op(core: sa.Connection) -> User:
            this = t.users.c.name == name
            if core.execute(t.users.update().where(this).values(**values)).rowcount == 0:
                raise NotFound(f"there is no user {name!r}")
            core.execute(t.sessions.delete().where(t.sessions.c.name == name))
            return _user(core.execute(sa.select(t.users).where(this)).one())

        return await self._database.write_core(op)

    # --- sessions

    async def log_in(self, name: str, password: str, client: str) -> str | None:
        name, keys = name.strip()[:100], _guessing(name, client)
        await self._check_pace(keys)
        query = sa.select(t.users).where(t.users.c.name == name, t.users.c.removed_at.is_(None))
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        right = await fits(password[:LONGEST], None if row is None else row.password)
        if row is None or not right:
            await self._database.write_core(lambda core: _count_failure(core, keys, self._now()))
            return None
        secret, now = secrets.token_urlsafe(32), self._now()

        def op(core: sa.Connection) -> None:
            core.execute(t.sessions.delete().where(t.sessions.c.created_at < now - SESSION_SECONDS))
            core.execute(t.login_failures.delete().where(t.login_failures.c.since < now - WINDOW))
            values = {"digest": _digest(secret), "name": name, "csrf": secrets.token_urlsafe(32)}
            core.execute(t.sessions.insert().values(**values, created_at=now, seen_at=now))

        await self._database.write_core(op)
        return secret

    async def session(self, secret: str) -> Session | None:
        if _SECRET.fullmatch(secret) is None:
            return None
        digest, now = _digest(secret), self._now()
        query = (
            sa.select(
                t.users,
                t.sessions.c.csrf,
                t.sessions.c.created_at.label("began"),
                t.sessions.c.seen_at,
            )
            .join(t.users, t.users.c.name == t.sessions.c.name)
            .where(t.sessions.c.digest == digest, t.users.c.removed_at.is_(None))
        )
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        if row is None or now > min(row.began + SESSION_SECONDS, row.seen_at + SESSION_SECONDS / 3):
            return None
        if now - row.seen_at > 60:
            seen = t.sessions.update().where(t.sessions.c.digest == digest).values(seen_at=now)
            await self._database.write_core(lambda core: core.execute(seen).close())
        return Session(_user(row), row.csrf, row.began + SESSION_SECONDS)

    async def log_out(self, secret: str) -> None:
        gone = t.sessions.delete().where(t.sessions.c.digest == _digest(secret))
        await self._database.write_core(lambda core: core.execute(gone).close())

    async def _check_pace(self, keys: dict[str, int]) -> None:
        query = sa.select(t.login_failures).where(
            t.login_failures.c.key.in_(keys), t.login_failures.c.since > self._now() - WINDOW
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        if any(row.failures >= keys[row.key] for row in rows):
            raise TooManyLogins("too many wrong passwords; try again in a few minutes")


def _guessing(name: str, client: str) -> dict[str, int]:
    """What failures are counted under, and how many are let pass within the window."""
    return {_key("pair", name, client): 5, _key("client", client): 20, _key("name", name): 50}


def _key(*parts: str) -> str:
    return sha256(
        "\0".join(part.strip().casefold() for part in parts).encode(errors="replace")
    ).hexdigest()


def _count_failure(core: sa.Connection, keys: Iterable[str], now: float) -> None:
    for key in keys:
        this = t.login_failures.c.key == key
        core.execute(
            t.login_failures.delete().where(this, t.login_failures.c.since <= now - WINDOW)
        )
        more = (
            t.login_failures.update().where(this).values(failures=t.login_failures.c.failures + 1)
        )
        if core.execute(more).rowcount == 0:
            core.execute(t.login_failures.insert().values(key=key, failures=1, since=now))


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _user(row: sa.Row[Any]) -> User:
    return User(row.name, tuple(row.desks.split()), row.created_at, row.removed_at)


def _name(name: str) -> str:
    if _NAME.fullmatch(name) is None or name != name.strip():
        fix = "write 1 to 100 letters, digits, spaces or . _ @ -, as ida or ida@acme.example"
        raise ConfigError(f"{name!r} cannot name a user", fix=fix)
    return name


def _password(password: str) -> str:
    if not SHORTEST <= len(password) <= LONGEST:
        raise ConfigError(
            "this cannot be a password", fix=f"choose one of {SHORTEST} to {LONGEST} characters"
        )
    return password
