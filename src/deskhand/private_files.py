"""Files and folders with what customers wrote: nobody but their owner may read them."""

import os
from pathlib import Path

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


def write_private_file(path: Path, content: bytes) -> None:
    """Write a file as a whole; a new one is for its owner alone.

    One that is there keeps its rights: somebody chose them.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE), "wb") as file:
        file.write(content)
