"""People who log in, and their sessions: of all secrets only digests are stored."""

import hmac
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
from deskhand.adapters.stores.login_pace import count_try, limits_for, take_back
from deskhand.adapters.stores.passwords import fits, hashed, is_outdated
from deskhand.adapters.stores.rows import user_of
from deskhand.adapters.stores.statements import mark_user
from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.access import DEVICE_SECONDS, Role, Session, User
from deskhand.model.money import Money

SESSION_SECONDS = 12 * 3600.0
"""A session ends after this time, and after a third of it without a request."""
SHORTEST, LONGEST = 10, 200
SETUP_SECONDS = 24 * 3600.0
"""How long the link to the first login lasts."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,99}")
_ADDRESS = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class SqlUserStore:
    """The accounts of a database, whichever of its desks they are for."""

    def __init__(self, database: CoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    async def add(
        self,
        name: str,
        password: str,
        desks: Iterable[str],
        *,
        role: str = Role.APPROVER,
        limit: str | None = None,
        mail: str | None = None,
    ) -> User:
        """ConfigError says what to write instead; Conflict when the name is taken, also by
        somebody removed."""
        user = User(
            account_name(name),
            checked_desks(desks),
            self._now(),
            role=_role(role),
            limit=_limit(limit),
            mail=_mail(mail),
        )
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
            rights = {"role": user.role, "limit": _written(user.limit), "mail": user.mail}
            core.execute(t.users.insert().values(**values, **rights, created_at=user.created_at))
            mark_user(core, user.name)

        await self._database.write_core(op)
        return user

    async def list(self) -> Sequence[User]:
        query = sa.select(t.users).order_by(t.users.c.created_at, t.users.c.name)
        return await self._database.read_core(
            lambda core: [user_of(row) for row in core.execute(query)]
        )

    async def set_password(self, name: str, password: str) -> User:
        stored = await hashed(_password(password))
        return await self._change(name, {"password": stored, "removed_at": None})

    async def set_rights(self, name: str, **values: str | None) -> User:
        """Change `role`, `limit`, `mail` or `desks`; what is not given stays. The person's
        sessions end. Conflict where nobody would be left who may change this."""
        checks = {"role": _role, "limit": _limit, "mail": _mail, "desks": _desks}
        checked: dict[str, Any] = {}
        for field, value in values.items():
            checked[field] = checks[field](value or "")
        if not checked:
            raise Conflict("there is nothing to change; name a role, a limit, an address or desks")
        if "limit" in checked:
            checked["limit"] = _written(checked["limit"])
        if checked.get("role", Role.ADMIN) is not Role.ADMIN:
            await self._keep_an_admin(name)
        return await self._change(name, checked)

    async def _keep_an_admin(self, name: str) -> None:
        in_use = [user for user in await self.list() if user.removed_at is None]
        admins = [user.name for user in in_use if user.role is Role.ADMIN]
        if admins == [name]:
            raise Conflict(f"{name} is the only admin; make somebody else one first")

    async def remove(self, name: str) -> User:
        return await self._change(name, {"removed_at": self._now()})

    async def _change(self, name: str, values: dict[str, Any]) -> User:
        """Whatever changes about an account, its sessions end."""

        def op(core: sa.Connection) -> User:
            this = t.users.c.name == name
            if core.execute(t.users.update().where(this).values(**values)).rowcount == 0:
                raise NotFound(f"there is no user {name!r}")
            mark_user(core, name)
            core.execute(t.sessions.delete().where(t.sessions.c.name == name))
            return user_of(core.execute(sa.select(t.users).where(this)).one())

        return await self._database.write_core(op)

    # --- the first login

    async def setup_link(self) -> str | None:
        """A secret with which the first person makes an account; None where somebody has one.

        It replaces earlier ones."""
        if any(user.removed_at is None for user in await self.list()):
            return None
        secret = secrets.token_urlsafe(32)
        values = {"digest": _digest(secret), "made_at": self._now()}

        def op(core: sa.Connection) -> None:
            core.execute(t.setup_links.delete())
            core.execute(t.setup_links.insert().values(**values))

        await self._database.write_core(op)
        return secret

    async def is_setup_link(self, secret: str) -> bool:
        """Whether the secret still opens the first login."""
        if _SECRET.fullmatch(secret) is None:
            return False
        here = t.setup_links.c
        fresh = (here.digest == _digest(secret), here.made_at > self._now() - SETUP_SECONDS)
        query = sa.select(here.made_at).where(*fresh)
        link = await self._database.read_core(lambda core: core.execute(query).first())
        in_use = [user for user in await self.list() if user.removed_at is None]
        return link is not None and not in_use

    async def set_up(self, secret: str, name: str, password: str) -> User:
        """The first person, who may do everything; NotFound where the link was used or is old."""
        if not await self.is_setup_link(secret):
            raise NotFound("the link was used already or is too old; start the server again")
        gone = t.setup_links.delete().where(t.setup_links.c.digest == _digest(secret))
        user = await self.add(name, password, ["*"], role=Role.ADMIN)
        await self._database.write_core(lambda core: core.execute(gone).close())
        return user

    # --- sessions

    async def log_in(
        self, name: str, password: str, client: str, device: str | None = None
    ) -> str | None:
        name = name.strip()[:100]
        query = sa.select(t.users).where(t.users.c.name == name, t.users.c.removed_at.is_(None))
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        stored = None if row is None else row.password
        known_device = device if _is_known(device, name, stored, self._now()) else None
        limits = limits_for(name, client, known_device)
        await self._database.write_core(lambda core: count_try(core, limits, self._now()))
        if not await fits(password[:LONGEST], stored, is_known=known_device is not None):
            return None
        now = self._now()
        newer = await hashed(password[:LONGEST]) if stored and is_outdated(stored) else None

        def op(core: sa.Connection) -> str:
            take_back(core, limits)
            if newer is not None:
                mine = (t.users.c.name == name, t.users.c.password == stored)
                core.execute(t.users.update().where(*mine).values(password=newer))
                mark_user(core, name)
            return open_session(core, name, now)

        return await self._database.write_core(op)

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
        row = await self._database.glance(lambda core: core.execute(query).one_or_none())
        if row is None or now > min(row.began + SESSION_SECONDS, row.seen_at + SESSION_SECONDS / 3):
            return None
        if now - row.seen_at > 60:
            seen = t.sessions.update().where(t.sessions.c.digest == digest).values(seen_at=now)
            await self._database.write_core(lambda core: core.execute(seen).close())
        return Session(user_of(row), row.csrf, row.began + SESSION_SECONDS)

    async def log_out(self, secret: str) -> None:
        gone = t.sessions.delete().where(t.sessions.c.digest == _digest(secret))
        await self._database.write_core(lambda core: core.execute(gone).close())

    async def device(self, secret: str) -> str | None:
        query = (
            sa.select(t.users.c.name, t.users.c.password)
            .join(t.sessions, t.sessions.c.name == t.users.c.name)
            .where(t.sessions.c.digest == _digest(secret))
        )
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        if row is None:
            return None
        begun = f"{self._now():.0f}.{secrets.token_urlsafe(16)}"
        return f"{begun}.{_device_proof(row.name, begun, row.password)}"


def open_session(core: sa.Connection, name: str, now: float) -> str:
    """The secret of a new session of somebody who proved who they are."""
    secret = secrets.token_urlsafe(32)
    core.execute(t.sessions.delete().where(t.sessions.c.created_at < now - SESSION_SECONDS))
    values = {"digest": _digest(secret), "name": name, "csrf": secrets.token_urlsafe(32)}
    core.execute(t.sessions.insert().values(**values, created_at=now, seen_at=now))
    return secret


def _is_known(device: str | None, name: str, stored: str | None, now: float) -> bool:
    """Whether this person has logged in with the device, since she last changed her password."""
    begun, _, proof = (device or "").rpartition(".")
    since = begun.partition(".")[0]
    if stored is None or not since.isdecimal() or len(since) > 12:
        return False
    if not 0 <= now - int(since) + 1 <= DEVICE_SECONDS:
        return False
    return hmac.compare_digest(proof.encode(), _device_proof(name, begun, stored).encode())


def _device_proof(name: str, begun: str, stored: str) -> str:
    """Only we can make it: the stored password is the key, and never leaves the database."""
    said = f"device\0{name}\0{begun}".encode(errors="replace")
    return hmac.new(stored.encode(), said, sha256).hexdigest()


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _role(role: str) -> Role:
    if role not in list(Role):
        raise ConfigError(f"there is no role {role!r}", fix=f"choose from {', '.join(Role)}")
    return Role(role)


def _limit(written: str | None) -> Money | None:
    if not written:
        return None
    try:
        return Money.of(written)
    except ValueError as error:
        raise ConfigError(f"{written!r} is no limit: {error}", fix="write `500 EUR`") from None


def _written(limit: Money | None) -> str | None:
    return None if limit is None else f"{limit.amount} {limit.currency}"


def _mail(written: str | None) -> str | None:
    address = (written or "").strip().lower()
    if not address:
        return None
    if _ADDRESS.fullmatch(address) is None:
        raise ConfigError(f"{written!r} is no address", fix="write ida@acme.example")
    return address


def _desks(written: str) -> str:
    return " ".join(checked_desks(written.replace(",", " ").split()))


def account_name(name: str) -> str:
    """A name that somebody can have; ConfigError says what to write instead."""
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
