"""What stores need of a database, and what every store of a desk begins with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

T = TypeVar("T")
CoreOp = Callable[[sa.Connection], T]


class CoreDatabase(Protocol):
    """Runs a function on a connection of SQLAlchemy Core; writes are a transaction each."""

    async def write_core(self, op: CoreOp[T]) -> T: ...

    async def read_core(self, op: CoreOp[T]) -> T: ...

    async def read_in_transaction(self, op: CoreOp[T]) -> T:
        """As `read_core`, for what is only possible within a transaction: a cursor over many rows,
        a setting."""
        ...

    async def glance(self, op: CoreOp[T]) -> T:
        """Read a few rows that an index finds, in this thread where that is quick."""
        ...

    async def ask(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """All rows of a statement in plain SQL whose values are named (`:desk`)."""
        ...

    async def ask_quickly(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """As `ask`, for a few rows that an index finds, in this thread where that is quick."""
        ...

    async def look_up(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Sequence[Any]:
        """A few rows, as `glance` reads them, of a query that was put together once for all."""
        ...

    async def check_writes(self) -> None:
        """Raise StoreUnavailable while what is written does not get there."""
        ...


class SqlDesk:
    """One desk's rows in a database. The parts of its store derive from it."""

    def __init__(self, database: CoreDatabase, desk: str, now: Callable[[], float]) -> None:
        self.desk = desk
        self._database = database
        self._now = now


def insert_if_new(core: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same key is there; returns whether it was inserted."""
    insert = _insert_of(core.dialect.name)
    return bool(core.execute(insert(table).values(**values).on_conflict_do_nothing()).rowcount)


def _insert_of(dialect: str) -> Any:
    """Only the words of the database that is used: importing the other's takes long."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert
    from sqlalchemy.dialects import sqlite

    return sqlite.insert
