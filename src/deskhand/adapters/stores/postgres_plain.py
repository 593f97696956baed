"""Statements in plain SQL on PostgreSQL, asked of asyncpg itself: that takes a third of the
processor time that SQLAlchemy takes."""

import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import asyncpg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

CONNECTIONS = 4
_NAMED = re.compile(r"(?<![:\w]):([a-z_]+)")
"""A named value of a statement; `::` is a cast."""


class PlainStatements:
    """A pool of connections on which every statement stands alone."""

    def __init__(self, url: str, **options: Any) -> None:
        self._url = url
        self._options = options
        self._pool: Any = None

    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(
            self._url, min_size=0, max_size=CONNECTIONS, reset=_leave_as_it_is, **self._options
        )

    async def ask(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """All rows of a statement whose values are named (`:desk`)."""
        numbered = _numbered(sql)
        return await self._fetch(numbered.sql, [values[name] for name in numbered.names])

    async def look_up(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Sequence[Any]:
        """The rows of a query that SQLAlchemy writes down once; their columns have names."""
        written = _written_down(query)
        given = {**written.constants, **values}
        rows = await self._fetch(written.sql, [given[name] for name in written.names])
        return list(map(written.row, rows))

    async def _fetch(self, sql: str, given: Sequence[Any]) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = await self._pool.fetch(sql, *given)
        return rows

    def close(self) -> None:
        """Cut all connections: nothing is under way on them that must end well."""
        if self._pool is not None:
            self._pool.terminate()


class _Numbered(NamedTuple):
    """A statement with `$1` in the place of its first named value, and the names in order."""

    sql: str
    names: tuple[str, ...]


class _Written(NamedTuple):
    sql: str
    names: tuple[str, ...]
    constants: Mapping[str, Any]
    """The values that stand in the query itself."""
    row: Callable[[Iterable[Any]], Any]
    """Makes a row whose columns have their names."""


@cache
def _numbered(sql: str) -> _Numbered:
    names = tuple(dict.fromkeys(_NAMED.findall(sql)))
    places = {name: f"${number}" for number, name in enumerate(names, start=1)}
    return _Numbered(_NAMED.sub(lambda match: places[match[1]], sql), names)


@lru_cache(maxsize=256)
def _written_down(query: sa.Select[Any]) -> _Written:
    dialect: Any = PGDialect_asyncpg()  # type: ignore[no-untyped-call]
    compiled: Any = query.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    row = namedtuple("Row", query.selected_columns.keys(), rename=True)  # type: ignore[misc]
    return _Written(compiled.string, tuple(compiled.positiontup), compiled.params, row._make)


async def _leave_as_it_is(connection: Any) -> None:
    """Nothing that is asked changes a connection, so there is nothing to put back."""
