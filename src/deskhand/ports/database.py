"""A database as a whole: a desk's own tables, and who may use the desks in it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from deskhand.model.access import ApiKey, ConsoleAction, Session, User
from deskhand.model.audited import ConsoleLog, DeskRecords, Journaled, LoweredTotal, Seal
from deskhand.own_tables import OwnTables

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")


class Backup(NamedTuple):
    """What was backed up, and how far it reaches."""

    files: tuple[Path, ...]
    size: int
    runs: int
    newest_run_at: float | None
    """When the newest message was accepted that the backup holds."""


class Archive(Protocol):
    """What an auditor reads and leaves behind."""

    desk: str

    async def journals(self, *, after: int = 0, limit: int = 200) -> list[Journaled]:
        """Runs with all their rows in order of acceptance, from position `after` on."""
        ...

    async def desk_records(self) -> DeskRecords:
        """What belongs to the desk and to no run of it, with what was stated about it."""
        ...

    async def account_records(self) -> DeskRecords:
        """Users and API keys of the database, with what was stated about them."""
        ...

    async def changed_files(self) -> Sequence[tuple[str, str]]:
        """Run and file of each attachment whose content is not what its digest says."""
        ...

    async def changed_projections(self) -> Sequence[tuple[str, str]]:
        """What is made from records and is not what they say: the run, or nothing, and what it
        is in words."""
        ...

    async def console_log(self, numbers: Collection[int] = ()) -> ConsoleLog:
        """The log of the console, with the links of these rows of it."""
        ...

    async def lowered_totals(self, since: float) -> Sequence[LoweredTotal]:
        """Totals that are smaller than what the effects since then added to them, or gone."""
        ...

    async def save_seal(self, at: float, heads: bytes, mac: str) -> Seal: ...

    async def seals(self) -> list[Seal]: ...


class ApiKeys(Protocol):
    """Keys to the API; secrets are shown once and never stored."""

    async def add(
        self, name: str, scopes: Iterable[str], desks: Iterable[str]
    ) -> tuple[ApiKey, str]: ...

    async def find(self, secret: str) -> ApiKey | None:
        """The key in use that this is the secret of."""
        ...

    async def list(self) -> Sequence[ApiKey]: ...

    async def revoke(self, key_id: str) -> ApiKey: ...


class Users(Protocol):
    """People who log in, and their sessions. Of passwords and session secrets only digests are
    stored."""

    async def add(
        self,
        name: str,
        password: str,
        desks: Iterable[str],
        *,
        role: str = ...,
        limit: str | None = None,
        mail: str | None = None,
    ) -> User: ...

    async def list(self) -> Sequence[User]: ...

    async def set_rights(self, name: str, **values: str | None) -> User:
        """Change `role`, `limit`, `mail` or `desks`; every session of the user ends."""
        ...

    async def setup_link(self) -> str | None:
        """A secret with which the first person makes an account; None where somebody has one."""
        ...

    async def is_setup_link(self, secret: str) -> bool: ...

    async def set_up(self, secret: str, name: str, password: str) -> User:
        """The first person, who may do everything; NotFound where the link is of no use."""
        ...

    async def set_password(self, name: str, password: str) -> User:
        """Every session of the user ends."""
        ...

    async def remove(self, name: str) -> User:
        """Shut a user out at once; the name stays taken, since decisions are signed with it."""
        ...

    async def log_in(
        self, name: str, password: str, client: str, device: str | None = None
    ) -> str | None:
        """The secret of a new session; None for a wrong name or password.

        TooManyLogins after many of those, before the password is looked at. `device` is what
        `device` gave out at an earlier login.
        """
        ...

    async def device(self, secret: str) -> str | None:
        """What a browser keeps, so that its owner is not kept out by others who guess; None
        where there is no such session."""
        ...

    async def session(self, secret: str) -> Session | None:
        """The session in use that this is the secret of."""
        ...

    async def log_out(self, secret: str) -> None: ...


class ConsoleActions(Protocol):
    """What people did in the console; nothing of it is ever changed."""

    async def record(self, who: str, client: str, method: str, path: str, status: int) -> None: ...

    async def list(self, *, limit: int = 100, before: int | None = None) -> Sequence[ConsoleAction]:
        """Lists what people did in the console, the newest first."""
        ...

    async def first_changed(self) -> int | None:
        """The first row that was changed or whose predecessor is gone; None where all is well."""
        ...


class DeskDatabase(Protocol):
    """Tables of a desk's own. `work` is a plain function of a SQLAlchemy connection, called in one
    transaction.

    Other desks' tables and the engine's are out of its sight. Whatever it raises undoes the
    transaction.
    """

    async def read(self, tables: OwnTables, work: "Callable[[Connection], T]") -> T: ...

    async def write(self, tables: OwnTables, work: "Callable[[Connection], T]") -> T:
        """Committed when it returns; undone again in a rehearsal."""
        ...

    async def once(
        self, tables: OwnTables, key: str, work: "Callable[[Connection], dict[str, Any]]"
    ) -> dict[str, Any]:
        """The same, done once a key: who comes again, or at the same time, is given what the
        first one returned."""
        ...

    def rehearsal(self) -> "DeskDatabase":
        """The same tables, where nothing that is written stays."""
        ...
