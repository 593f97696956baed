"""Looks for damage in a SQLite file: every page, every index."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from deskhand.adapters.stores.own_tables_copy import own_files

MOST_TOLD = 5


class Integrity(NamedTuple):
    """What was looked at, and what is wrong there."""

    looked_at: str
    problems: tuple[str, ...]


def check_files(path: Path) -> Integrity:
    """Check a SQLite file and the files of desks' own beside it: every page, every index."""
    files = [path, *own_files(path).values()]
    problems = [f"{file}: {problem}" for file in files for problem in damage_of(file)]
    pages = sum(file.stat().st_size for file in files) // 1024
    counted = f"{len(files)} file{'s' * (len(files) != 1)} of {pages:,} KB"
    return Integrity(f"every page of {counted}", tuple(problems))


def damage_of(file: Path, parameters: str = "mode=ro") -> list[str]:
    """What SQLite finds wrong with a file; empty where it is sound."""
    uri = f"{file.absolute().as_uri()}?{parameters}"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as raw:
            rows = raw.execute(f"PRAGMA integrity_check({MOST_TOLD})").fetchall()
    except sqlite3.Error as error:
        return [str(error)]
    return [line for (text,) in rows for line in str(text).splitlines() if text != "ok"]
