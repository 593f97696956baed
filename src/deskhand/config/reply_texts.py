"""The texts in a desk's folder `replies`: `free_times.en.txt` is the text `free_times` in English.

`thanks.txt` is the text `thanks` in every language that has no file of its own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deskhand.config.sections.reply_text import (
    ANY_LANGUAGE,
    LANGUAGE_CODE,
    LONGEST_TEXT,
    TEXT_NAME,
    TextsByName,
)
from deskhand.config.yaml import read_text
from deskhand.errors import ConfigError

FOLDER = "replies"
_FILE_NAME = re.compile(rf"({TEXT_NAME})(?:\.({LANGUAGE_CODE}))?\.txt")
_LARGEST_FILE = 100_000


@dataclass(frozen=True, slots=True)
class ReplyFile:
    path: Path
    text: str
    """What the file holds, without blank space around it."""
    first_line: int = 1
    """The line of the file on which the text begins."""

    def line_of(self, piece: str) -> int:
        """The line of the file on which this piece of the text stands."""
        return self.first_line + self.text.partition(piece)[0].count("\n")


ReplyFiles = Mapping[str, Mapping[str, ReplyFile]]
"""By name, then by language (ANY_LANGUAGE for all)."""


def read_reply_texts(desk_folder: Path) -> tuple[ReplyFiles, list[ConfigError]]:
    """Returns the texts of a desk, and the problems of files that cannot be used."""
    files: dict[str, dict[str, ReplyFile]] = {}
    problems: list[ConfigError] = []
    folder = desk_folder / FOLDER
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        if path.name.startswith("."):
            continue
        named = _FILE_NAME.fullmatch(path.name)
        if named is None:
            problems.append(_misnamed(path))
            continue
        file, problem = _read(path)
        files.setdefault(named[1], {})[named[2] or ANY_LANGUAGE] = file
        if problem is not None:
            problems.append(problem)
    return files, problems


def texts_in(files: ReplyFiles, languages: Sequence[str]) -> TextsByName:
    """Returns the texts of files, each in the order of the desk's languages."""
    order = [ANY_LANGUAGE, *(language.partition("-")[0] for language in languages)]
    texts: dict[str, dict[str, str]] = {}
    for name, by_language in files.items():
        spoken = [language for language in order if language in by_language]
        texts[name] = {language: by_language[language].text for language in spoken}
    return texts


def _misnamed(path: Path) -> ConfigError:
    return ConfigError(
        f"`{path.name}` is no name for a reply text",
        file=path,
        fix="write NAME.LANGUAGE.txt, as `free_times.en.txt`, or NAME.txt for all languages",
    )


def _read(path: Path) -> tuple[ReplyFile, ConfigError | None]:
    """The file, and what is wrong with it. One that cannot be read is empty here, not missing."""
    try:
        written = read_text(path, largest=_LARGEST_FILE)
    except ConfigError as error:
        return ReplyFile(path, ""), error
    text = written.strip()
    blank = written[: len(written) - len(written.lstrip())]
    file = ReplyFile(path, text, 1 + blank.count("\n"))
    if not text:
        fix = "write the text, or delete the file"
        return file, ConfigError("the reply text is empty", file=path, line=1, fix=fix)
    if len(text) > LONGEST_TEXT:
        problem = f"the reply text has {len(text)} characters; the most is {LONGEST_TEXT}"
        return file, ConfigError(problem, file=path, line=1, fix="shorten it")
    return file, None
