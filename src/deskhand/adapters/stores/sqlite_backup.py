"""A backup of SQLite files while they are served: one moment of each, checked before it is shown.

A plain copy of the file misses what lies in its write-ahead log, and may mix two moments.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from deskhand.adapters.stores.integrity import damage_of
from deskhand.adapters.stores.sqlite_lookup import own_files
from deskhand.errors import ConfigError, StoreUnavailable
from deskhand.model.ids import new_id
from deskhand.ports.database import Backup
from deskhand.private_files import make_private_file

PAGES = 500
"""Copied at once, between two looks at the progress."""

Progress = Callable[[str, int, int], None]
"""Called with the file, the pages copied so far and the pages in all."""


def backup_files(path: Path, target: Path, progress: Progress) -> Backup:
    """Copy a database, then the files of desks' own beside it, under names that go together.

    Raises ConfigError where a file of that name exists, StoreUnavailable where a copy could not be
    written or does not read as sound. Nothing is left behind then.

    The desks' own files come last. So they may know of an effect that the database does not: it is
    asked about or repeated under its key, as after a crash. The other way round it would be lost.
    """
    copies = {path: target}
    for desk, file in own_files(path).items():
        copies[file] = target.with_name(f"{target.stem}.{desk}{target.suffix}")
    _refuse_existing(copies.values())
    parts = {
        file: copy.with_name(f".{copy.name}.{new_id('part')}") for file, copy in copies.items()
    }
    try:
        for file, part in parts.items():
            _copy(file, part, progress)
        runs, newest = _newest_run(parts[path])
        _publish({parts[file]: copy for file, copy in copies.items()})
    except (OSError, sqlite3.Error) as error:
        raise StoreUnavailable(f"the backup {target} could not be written: {error}") from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    files = tuple(copies.values())
    return Backup(files, sum(file.stat().st_size for file in files), runs, newest)


def _refuse_existing(targets: Iterable[Path]) -> None:
    for target in targets:
        if target.exists():
            raise ConfigError(f"{target} exists", fix="name another file, or move that one away")
        if not target.absolute().parent.is_dir():
            raise ConfigError(f"there is no folder {target.absolute().parent}", fix="create it")


def _copy(file: Path, part: Path, progress: Progress) -> None:
    """The transaction keeps one moment of the file, however long the copy takes; writers go on."""
    make_private_file(part)
    with (
        closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(part)) as copy,
    ):
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()

        def tell(status: int, remaining: int, total: int) -> None:
            progress(file.name, total - remaining, total)

        source.backup(copy, pages=PAGES, progress=tell)
    with part.open("rb+") as written:
        os.fsync(written.fileno())
    damage = damage_of(part, "mode=ro&immutable=1")
    if damage:
        raise StoreUnavailable(f"the copy of {file} is damaged: {damage[0]}; check the disk")


def _newest_run(part: Path) -> tuple[int, float | None]:
    uri = f"{part.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as raw:
        runs, newest = raw.execute("SELECT count(*), max(created_at) FROM runs").fetchone()
    return runs, newest


def _publish(copies: Mapping[Path, Path]) -> None:
    """Give every copy its name, all of them or none; a file that appeared meanwhile stays."""
    done: list[Path] = []
    try:
        for part, target in copies.items():
            _name(part, target)
            done.append(target)
    except OSError:
        for target in done:
            with suppress(OSError):
                target.unlink()
        raise
    folder = os.open(next(iter(copies.values())).absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _name(part: Path, target: Path) -> None:
    """Never over a file that is there; on disks without hard links, as nearly as can be."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        if target.exists():
            raise
        part.rename(target)
