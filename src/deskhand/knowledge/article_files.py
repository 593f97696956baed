"""Which files are a desk's articles."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from deskhand.errors import ConfigError
from deskhand.knowledge.articles import READERS, ArticleFile

FOLDER = "knowledge"
"""The folder of a desk whose files are its articles without being named."""


def find_articles(paths: Sequence[Path], home: Path) -> tuple[list[ArticleFile], list[ConfigError]]:
    """The files named and those in the folders named, each once; what cannot be one is told, not
    skipped."""
    files: dict[str, ArticleFile] = {}
    problems: list[ConfigError] = []
    for given in paths:
        if given.is_dir():
            candidates: Iterable[Path] = _files_in(given)
            base = given
        elif given.exists():
            candidates, base = [given], given.parent
        else:
            problems.append(
                ConfigError("there is no such file or folder", file=given, fix="correct the name")
            )
            continue
        for path in candidates:
            file = _article_file(path, home, base)
            if isinstance(file, ConfigError):
                problems.append(file)
            else:
                files.setdefault(file.source, file)
    return list(files.values()), problems


def source_path(source: str, home: Path) -> Path:
    """Where a file lies that the index knows by this name."""
    return home / source


def _files_in(folder: Path) -> list[Path]:
    """Sorted; hidden files and folders are nobody's articles."""
    paths: list[Path] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        readable = (
            name
            for name in names
            if not name.startswith(".") and Path(name).suffix.lower() in READERS
        )
        paths += [Path(here, name) for name in readable]
    return sorted(paths)


def _article_file(path: Path, home: Path, base: Path) -> ArticleFile | ConfigError:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return ConfigError("the file's name is not UTF-8", file=repr(str(path)), fix="rename it")
    absolute, root = path.resolve(), home.resolve()
    inside = absolute.is_relative_to(root)
    source = absolute.relative_to(root).as_posix() if inside else absolute.as_posix()
    below = root if inside else base.resolve()
    named = absolute.relative_to(below) if absolute.is_relative_to(below) else Path(path.name)
    default_id = "-".join(named.with_suffix("").as_posix().split())
    return ArticleFile(path, source, default_id[-200:])
