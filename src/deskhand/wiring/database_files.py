"""Which database an address means, and looking something up in a file."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from deskhand.errors import ConfigError

if TYPE_CHECKING:
    from deskhand.adapters.stores.sqlite_lookup import LookedInto


def database_file(url: str) -> Path | None:
    """The file behind a SQLite address or a path; None for a PostgreSQL address."""
    path = url.removeprefix("sqlite:///")
    if path.startswith(("postgresql://", "postgres://")):
        return None
    if "://" in path:
        kind = path.partition("://")[0]
        raise ConfigError(
            f"databases of kind {kind!r} are not supported",
            fix="write postgresql://user@host/name, sqlite:///FILE or a path",
        )
    return Path(path)


@contextmanager
def looked_into(url: str) -> "Iterator[LookedInto | None]":
    """A database of which only lists are read, quickly; None where it must be opened whole: it
    lies on PostgreSQL, its schema is not the newest, or something is wrong with it."""
    from deskhand.adapters.stores.sqlite_lookup import look_into

    file = database_file(url)
    looked = None if file is None else look_into(file)
    if looked is None:
        yield None
        return
    with closing(looked):
        yield looked


def without_password(url: str) -> str:
    """An address that may be shown and copied."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=re.sub(r":[^@]*@", "@", parts.netloc)))
