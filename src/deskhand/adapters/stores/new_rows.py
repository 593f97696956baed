"""Rows that are written unless they are there already, in the words of either database."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa


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
