"""People who log in with an OpenID provider: logins that were begun, and whose account it is."""

import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.passwords import hashed
from deskhand.adapters.stores.statements import mark_user
from deskhand.adapters.stores.users import account_name, open_session
from deskhand.errors import ConfigError, LoginRefused
from deskhand.model.access import Admission, Identity, Role

BEGUN_FOR = 600.0
"""Seconds within which a login must be finished."""
MOST_BEGUN = 20_000
"""Logins that may be under way; the oldest makes room for one more. To refuse new ones would let
anybody keep everybody out."""
_REMOVED = "your account was removed; ask an admin"
_NO_GROUP = "none of your groups may use this desk; ask an admin"
_NO_ACCOUNT = "nobody has made an account for you yet; ask an admin"
_NOT_VERIFIED = "your provider does not say that your address is verified"
_TAKEN = "your address belongs to another account; ask an admin"
WORDS = (_REMOVED, _NO_GROUP, _NO_ACCOUNT, _NOT_VERIFIED, _TAKEN)
"""Why somebody whom the provider knows is not let in."""
_USERS, _BEGUN = t.users.c, t.begun_logins.c


class SqlOpenIdLogins:
    """The accounts of a database, for whoever a provider vouches for."""

    def __init__(self, database: CoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._now = now

    async def begin(self, to: str) -> str:
        """The secret of a login, which the browser keeps; `to` is where it leads."""
        secret, now = secrets.token_urlsafe(32), self._now()
        values = {"digest": _digest(secret), "to": to, "begun_at": now}

        def op(core: sa.Connection) -> None:
            core.execute(t.begun_logins.delete().where(_BEGUN.begun_at < now - BEGUN_FOR))
            newest_first = sa.select(_BEGUN.digest).order_by(_BEGUN.begun_at.desc())
            too_many = newest_first.offset(MOST_BEGUN - 1).limit(100)
            for digest in list(core.execute(too_many).scalars()):
                core.execute(t.begun_logins.delete().where(_BEGUN.digest == digest))
            core.execute(t.begun_logins.insert().values(**values))

        await self._database.write_core(op)
        return secret

    async def take(self, secret: str) -> str | None:
        """Where a login leads; None where there is none, or it was finished or is too old. It is
        used up by this."""
        this = _BEGUN.digest == _digest(secret)
        oldest = self._now() - BEGUN_FOR

        def op(core: sa.Connection) -> str | None:
            row = core.execute(sa.select(t.begun_logins).where(this)).one_or_none()
            taken = core.execute(t.begun_logins.delete().where(this)).rowcount
            return row.to if row is not None and taken and row.begun_at >= oldest else None

        return await self._database.write_core(op)

    async def log_in(self, identity: Identity, admission: Admission) -> tuple[str, str]:
        """The person's name and the secret of a new session; LoginRefused in words for them."""
        password = await hashed(secrets.token_urlsafe(32))  # nobody knows it

        def op(core: sa.Connection) -> tuple[str, str]:
            name = self._account(core, identity, admission, password)
            return name, open_session(core, name, self._now())

        return await self._database.write_core(op)

    def _account(
        self, core: sa.Connection, identity: Identity, admission: Admission, password: str
    ) -> str:
        """Whose account it is: known by the provider's name for the person, else by a verified
        address, else a new one."""
        role = admission.role_of(identity)
        row = _account_of(core, identity)
        if row is None:
            return self._new(core, identity, admission, role, password)
        if row.removed_at is not None:
            raise LoginRefused(_REMOVED)
        if admission.roles:
            role = role or admission.unknown
            if role is None:
                raise LoginRefused(_NO_GROUP)
        _keep(core, row, identity, role)
        return str(row.name)

    def _new(
        self,
        core: sa.Connection,
        identity: Identity,
        admission: Admission,
        role: Role | None,
        password: str,
    ) -> str:
        role = role or admission.unknown
        if role is None:
            raise LoginRefused(_NO_ACCOUNT)
        if identity.address is None:
            raise LoginRefused(_NOT_VERIFIED)
        try:
            name = account_name(identity.address)
        except ConfigError:
            raise LoginRefused("your address cannot be the name of an account") from None
        values = {"name": name, "password": password, "desks": " ".join(admission.desks)}
        rights = {"role": role, "mail": identity.address, "identity": identity.key}
        core.execute(t.users.insert().values(**values, **rights, created_at=self._now()))
        mark_user(core, name)
        return name


def _account_of(core: sa.Connection, identity: Identity) -> Any | None:
    """The account of a person. One that was linked is not found by its address any more: addresses
    are given to other people, a provider's own names are not."""
    linked = sa.select(t.users).where(_USERS.identity == identity.key)
    row = core.execute(linked).one_or_none()
    if row is not None or identity.address is None:
        return row
    address = identity.address
    theirs = sa.or_(sa.func.lower(_USERS.name) == address, _USERS.mail == address)
    rows = core.execute(sa.select(t.users).where(theirs)).all()
    if len(rows) > 1 or any(row.identity is not None for row in rows):
        raise LoginRefused(_TAKEN)
    return rows[0] if rows else None


def _keep(core: sa.Connection, row: Any, identity: Identity, role: Role | None) -> None:
    """Link the account, and give it the role that the provider's groups say. The only admin stays
    one: somebody must be left who can mend the groups."""
    values: dict[str, Any] = {"identity": identity.key}
    if role is not None and role != row.role and not _is_only_admin(core, row):
        values["role"] = role
        core.execute(t.sessions.delete().where(t.sessions.c.name == row.name))
    if all(getattr(row, name) == value for name, value in values.items()):
        return
    core.execute(t.users.update().where(_USERS.name == row.name).values(**values))
    mark_user(core, row.name)


def _is_only_admin(core: sa.Connection, row: Any) -> bool:
    here = (_USERS.role == Role.ADMIN, _USERS.removed_at.is_(None), _USERS.name != row.name)
    others = core.execute(sa.select(_USERS.name).where(*here).limit(1)).first()
    return row.role == Role.ADMIN and others is None


def _digest(secret: str) -> bytes:
    return sha256(f"login\0{secret}".encode()).digest()
