"""Files and folders that nobody but their owner may read: what customers wrote, and the cache."""

import os
from pathlib import Path
from typing import TextIO

CACHE_VARIABLE = "DESKHAND_CACHE"

_FOLDER, _FILE = 0o700, 0o600


def make_private_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing; one that is there stays as it is."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=_FOLDER, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file where there is none; one that is there keeps its content and rights."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, _FILE))


def write_private_file(path: Path, content: bytes, *, on_disk: bool = False) -> None:
    """Write a file as a whole; a new one is for its owner alone. `on_disk`: it outlasts a power
    cut when this returns.

    One that is there keeps its rights: somebody chose them.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE)
    with os.fdopen(handle, "wb", buffering=0) as file:
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
        if on_disk:
            os.fsync(handle)


def open_private_file(path: Path) -> TextIO:
    """The same, to be written piece by piece."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE)
    return os.fdopen(handle, "w", encoding="utf-8", newline="\n")


def cache_folder() -> Path:
    """Where trained models, vectors and the newest schema are kept: `DESKHAND_CACHE`, else the
    user's cache.

    Raises RuntimeError for a user without a home.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    own = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return own / "deskhand" / "intents"
