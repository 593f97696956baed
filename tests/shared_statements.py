"""The engines of all PostgreSQL databases of the test process share what SQLAlchemy wrote down.

It remembers the SQL of a statement with its engine. A process opens one database, its tests open
hundreds, and each would write the same statements down anew: a tenth of a second of CPU for a page
or an audit. Those of SQLite files share an engine anyway.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import LRUCache

from deskhand.adapters.stores import postgres_database

STATEMENTS = 2_000
REAL_ENGINE = postgres_database._engine_for


class SharedStatements(LRUCache[Any, Any]):
    """SQL by statement, whichever engine asks: its key begins with the engine's dialect, and those
    differ in nothing."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_any_engine(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_of_any_engine(key), value)


def _of_any_engine(key: Any) -> Any:
    dialect, *statement = key
    return type(dialect), *statement


@contextmanager
def share_statements() -> Iterator[None]:
    shared = SharedStatements(STATEMENTS)

    def engine_for(url: str, **options: Any) -> AsyncEngine:
        engine = REAL_ENGINE(url, **options)
        engine.sync_engine._compiled_cache = shared
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_database, "_engine_for", engine_for)
        yield
