"""SQLAlchemy over open SQLite connections. One engine serves all: a statement becomes SQL once."""

import sqlite3
import threading
from collections import namedtuple
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.pool import NullPool

_handed_over = threading.local()
"""The connection that this thread wraps next."""


@cache
def _engine() -> sa.Engine:
    """The one engine of all SQLite files in this process.

    SQLAlchemy remembers the SQL of a statement with the engine: with an engine for each
    connection, every one of them would write all statements down anew.
    """
    return sa.create_engine(
        "sqlite://", creator=lambda: _handed_over.connection, poolclass=NullPool
    )


def core_connection(raw: sqlite3.Connection) -> sa.Connection:
    """SQLAlchemy's hands on an open connection, which it closes with its own."""
    _handed_over.connection = raw
    try:
        return _engine().connect().execution_options(isolation_level="AUTOCOMMIT")
    finally:
        del _handed_over.connection


class WrittenQuery(NamedTuple):
    """The text of a query, ready to be asked."""

    sql: str
    constants: dict[str, Any]
    """The values that stand in the query itself."""
    row: Callable[[Iterable[Any]], Any]
    """Makes a row whose columns have their names."""


@lru_cache(maxsize=256)
def written_down(query: sa.Select[Any]) -> WrittenQuery:
    """A query as SQLite takes it; written once, however many files are asked."""
    compiled = query.compile(
        dialect=sqlite_dialect(paramstyle="named"), compile_kwargs={"render_postcompile": True}
    )
    names = namedtuple("Row", query.selected_columns.keys(), rename=True)  # type: ignore[misc]
    return WrittenQuery(compiled.string, compiled.params, names._make)
