"""The newest schema of SQLite as statements, kept in the user's cache.

Migrating an empty file takes half a second of CPU: Alembic is imported, and every step from the
first on is taken. Commands that only try something do so each time. So what came out is kept
under a name that says from which scripts, and the next empty file begins with it.
"""

import json
import logging
import os
import sqlite3
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores.migrate import HEAD
from deskhand.private_files import cache_folder, make_private_folder, write_private_file

logger = logging.getLogger(__name__)

_SCRIPTS = Path(__file__).parent / "migrations"
_OWN_TABLES = "sqlite_"
_VIRTUAL = "CREATE VIRTUAL TABLE"
_VERSION_TABLE = "alembic_version"


def is_empty(connection: sa.Connection) -> bool:
    """Whether the database holds nothing at all."""
    count = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
    return count == 0


def create_newest(connection: sa.Connection) -> bool:
    """Give an empty database the schema that was kept; returns whether there was one.

    The caller's transaction makes it whole or undone. A schema that cannot be created leaves
    nothing behind.
    """
    kept = _read()
    if kept is None:
        return False
    connection.exec_driver_sql("SAVEPOINT newest_schema")
    try:
        for statement in kept["statements"]:
            connection.exec_driver_sql(statement)
        connection.execute(
            sa.text(f"INSERT INTO {_VERSION_TABLE} VALUES (:version)"),  # noqa: S608
            {"version": kept["version"]},
        )
    except (sa.exc.DBAPIError, KeyError, TypeError) as error:
        logger.warning("the schema in the cache cannot be created, migrating instead: %s", error)
        connection.exec_driver_sql("ROLLBACK TO newest_schema")
        connection.exec_driver_sql("RELEASE newest_schema")
        return False
    connection.exec_driver_sql("RELEASE newest_schema")
    return True


def keep_newest(connection: sa.Connection) -> None:
    """Keep the schema of a database that was just migrated from nothing. Failing only costs
    time."""
    rows = connection.exec_driver_sql(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    )
    objects = [(str(name), str(sql)) for name, sql in rows]
    virtual = [f"{name}_" for name, sql in objects if sql.upper().startswith(_VIRTUAL)]
    made_by_others = (_OWN_TABLES, *virtual)
    statements = [sql for name, sql in objects if not name.startswith(made_by_others)]
    version = connection.exec_driver_sql(f"SELECT version_num FROM {_VERSION_TABLE}").scalar()  # noqa: S608
    document = json.dumps({"version": version, "statements": statements})
    try:
        path = _path()
        make_private_folder(path.parent)
        unfinished = path.with_suffix(f".{os.getpid()}")
        write_private_file(unfinished, document.encode())
        unfinished.replace(path)
    except (OSError, RuntimeError) as error:
        logger.info("the newest schema could not be kept: %s", error)


def _read() -> dict[str, Any] | None:
    try:
        kept = json.loads(_path().read_bytes())
    except (OSError, RuntimeError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("version") != HEAD:
        return None
    return kept


def _path() -> Path:
    """Where the schema is kept; RuntimeError for a user without a home."""
    return cache_folder() / f"schema-{_digest_of_scripts()}.json"


@cache
def _digest_of_scripts() -> str:
    """Names what the scripts, run by this version of SQLite, lead to."""
    digest = sha256(sqlite3.sqlite_version.encode())
    for script in sorted(_SCRIPTS.rglob("*.py")):
        content = script.read_bytes()
        digest.update(f"\0{script.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]
