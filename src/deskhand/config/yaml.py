"""Reads YAML into plain data and remembers on which line everything was written."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from deskhand.config.yaml_plain import read_plain_yaml
from deskhand.errors import ConfigError

YamlPlace = tuple[str | int, ...]

_LARGEST_FILE = 5_000_000
_A_FILE = "the file"
_A_DESK = "desk: my-desk"


@dataclass(frozen=True)
class YamlFile:
    """A mapping read from `path`, in plain types, with the line of every key and item."""

    path: Path
    data: dict[str, Any]
    lines: dict[YamlPlace, int]
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    """Where the parts come from that stand in a file of their own, by key."""

    def with_part(self, key: str, other: "YamlFile") -> "YamlFile":
        """This file with one key as `other` has it; what is wrong with it is told with the other
        file's lines."""
        kept = {place: line for place, line in self.lines.items() if place[:1] != (key,)}
        taken = {place: line for place, line in other.lines.items() if place[:1] == (key,)}
        data = {**self.data, key: other.data[key]}
        return YamlFile(self.path, data, kept | taken, {**self.files, key: other.path})

    def line(self, place: Iterable[str | int]) -> int:
        """The line of `place`, or of the nearest thing around it that was written; unknown parts
        are skipped."""
        written: YamlPlace = ()
        for part in place:
            if (*written, part) in self.lines:
                written = (*written, part)
        return self.lines[written]

    def problem(
        self, place: Iterable[str | int], problem: str, fix: str | None = None
    ) -> ConfigError:
        where = tuple(place)
        return ConfigError(problem, file=self._file(where), line=self.line(where), fix=fix)

    def _file(self, place: YamlPlace) -> Path:
        return self.files.get(str(place[0]), self.path) if place else self.path


def read_yaml(path: Path) -> YamlFile:
    """Read one YAML document whose top level is a mapping; whatever is wrong with the file is a
    ConfigError."""
    return parse_yaml(path, read_text(path))


def read_shared_yaml(path: Path) -> YamlFile:
    """The same for who changes nothing in it: whoever else reads it holds the same data."""
    return _parsed(path, read_text(path), _A_FILE, _A_DESK)


def parse_yaml(path: Path, text: str, *, what: str = _A_FILE, example: str = _A_DESK) -> YamlFile:
    """The same for text that was read from `path`; `what` and `example` are for its complaints."""
    parsed = _parsed(path, text, what, example)
    return YamlFile(path, deepcopy(parsed.data), dict(parsed.lines))


def _parsed(path: Path, text: str, what: str, example: str) -> YamlFile:
    data, lines = _plain(text) or _read_any_yaml(path, text)
    if not isinstance(data, dict):
        problem = (
            f"{what} is empty" if data is None else f"{what} is not a mapping of keys to values"
        )
        raise ConfigError(problem, file=path, line=1, fix=f"start with a line such as `{example}`")
    return YamlFile(path, data, lines)


@lru_cache(maxsize=256)
def _plain(text: str) -> tuple[Any, dict[YamlPlace, int]] | None:
    """Kept for whoever reads the same again: the examples of intents are checked, then learned, the
    heads of articles are read for their ids, then for what they say, and copies of a desk, such as
    those of its evals, hold the same files."""
    return read_plain_yaml(text)


@lru_cache(maxsize=256)
def _read_any_yaml(path: Path, text: str) -> tuple[Any, dict[YamlPlace, int]]:
    from deskhand.config.yaml_any import read_any_yaml

    return read_any_yaml(path, text)


def read_text(path: Path, *, largest: int = _LARGEST_FILE) -> str:
    """Read UTF-8 with any line ends; a file that is missing, too large or not UTF-8 is a
    ConfigError."""
    try:
        with path.open("rb") as file:
            raw = file.read(largest + 1)
    except FileNotFoundError:
        raise ConfigError(
            "there is no such file", file=path, fix="create it, or correct the name"
        ) from None
    except OSError as error:
        fix = "make it a readable file"
        raise ConfigError(f"cannot be read: {error.strerror}", file=path, fix=fix) from None
    if len(raw) > largest:
        fix = "move the bulk of it elsewhere"
        raise ConfigError(f"the file is larger than {largest / 1e6:g} MB", file=path, fix=fix)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = f"byte {error.start} (0x{raw[error.start]:02x}) is not valid UTF-8"
        raise ConfigError(
            problem, file=path, line=line, fix="save the file with the encoding UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
