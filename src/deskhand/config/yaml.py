"""Reads YAML into plain data and remembers on which line everything was written."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deskhand.errors import ConfigError

YamlPlace = tuple[str | int, ...]

_LARGEST_FILE = 5_000_000
_MOST_VALUES = 200_000
_DEEPEST = 60
_TAG = "tag:yaml.org,2002:"


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


def parse_yaml(
    path: Path, text: str, *, what: str = "the file", example: str = "desk: my-desk"
) -> YamlFile:
    """The same for text that was read from `path`; `what` and `example` are for its complaints."""
    parsed = _parsed(path, text, what, example)
    return YamlFile(path, deepcopy(parsed.data), dict(parsed.lines))


@lru_cache(maxsize=16)
def _parsed(path: Path, text: str, what: str, example: str) -> YamlFile:
    """Kept for whoever reads the same again: the examples of intents are checked, then learned."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        reader = _Reader(path)
        data = reader.value(root, ()) if root is not None else None
    except ConfigError:
        raise
    except MarkedYAMLError as error:
        raise _syntax_error(path, text, error) from None
    except YAMLError as error:
        raise _odd_character(path, text, error) from None
    except RecursionError:
        raise ConfigError("it is nested too deeply", file=path, fix="write it flatter") from None
    if not isinstance(data, dict):
        problem = (
            f"{what} is empty" if data is None else f"{what} is not a mapping of keys to values"
        )
        raise ConfigError(problem, file=path, line=1, fix=f"start with a line such as `{example}`")
    return YamlFile(path, data, reader.lines)


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


class _Reader:
    """Turns composed nodes into plain data, counting what aliases multiply."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[YamlPlace, int] = {(): 1}
        self._scalars = YAML(typ="safe", pure=True)
        self._count = 0

    def value(self, node: Node, place: YamlPlace) -> Any:
        self._counted(node)
        if len(place) > _DEEPEST:
            raise self._error(node, f"it is nested more than {_DEEPEST} deep", "write it flatter")
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            return [self._item(item, (*place, index)) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _counted(self, node: Node) -> None:
        self._count += 1
        if self._count > _MOST_VALUES:
            fix = "remove the aliases (`*name`) that repeat large parts"
            raise self._error(
                node,
                f"it holds more than {_MOST_VALUES:,} values once its aliases are followed",
                fix,
            )

    def _item(self, node: Node, place: YamlPlace) -> Any:
        self.lines[place] = node.start_mark.line + 1
        return self.value(node, place)

    def _mapping(self, node: MappingNode, place: YamlPlace) -> dict[str, Any]:
        own: dict[str, tuple[Node, Node]] = {}
        merged: dict[str, tuple[Node, Node]] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                merged = {**self._merged(value_node, 0), **merged}
                continue
            key = self._key(key_node)
            if key in own:
                first = own[key][0].start_mark.line + 1
                problem = f"the key `{key}` is here twice; it was first written on line {first}"
                raise self._error(key_node, problem, "keep one of the two")
            own[key] = (key_node, value_node)
        result: dict[str, Any] = {}
        for key, (key_node, value_node) in {**merged, **own}.items():
            self.lines[(*place, key)] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, (*place, key))
        return result

    def _merged(self, node: Node, depth: int) -> dict[str, tuple[Node, Node]]:
        """The pairs that `<<: *name` brings in; earlier mappings of a list win, as YAML says."""
        self._counted(node)
        if depth > _DEEPEST:
            raise self._error(node, "`<<` refers to itself", "remove one of the references")
        if isinstance(node, SequenceNode):
            pairs: dict[str, tuple[Node, Node]] = {}
            for item in reversed(node.value):
                pairs.update(self._merged(item, depth + 1))
            return pairs
        if not isinstance(node, MappingNode):
            raise self._error(
                node, "`<<` needs a mapping", "write `<<: *name` with the name of a mapping"
            )
        inherited: dict[str, tuple[Node, Node]] = {}
        own: dict[str, tuple[Node, Node]] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                inherited = {**self._merged(value_node, depth + 1), **inherited}
            else:
                own[self._key(key_node)] = (key_node, value_node)
        return {**inherited, **own}

    def _key(self, node: Node) -> str:
        if isinstance(node, ScalarNode) and node.tag == f"{_TAG}str":
            return str(node.value)
        if isinstance(node, ScalarNode):
            raise self._error(
                node, f"the key {node.value} is not text", f'put it in quotes: `"{node.value}":`'
            )
        raise self._error(node, "a key must be text", "write `name: value`")

    def _scalar(self, node: Node) -> Any:
        kind = str(node.tag).removeprefix(_TAG)
        if kind in (
            "str",
            "timestamp",
            "value",
        ):  # a date is text here: nothing in a desk computes with it
            return str(node.value)
        if kind not in ("int", "float", "bool", "null"):
            raise self._error(
                node, f"the tag {node.tag} means nothing here", "remove the word after the `!`"
            )
        try:
            return self._scalars.constructor.construct_object(node)
        except (YAMLError, ValueError, KeyError):
            fix = "put it in quotes if it is text"
            raise self._error(node, f"`{str(node.value)[:40]}` is no {kind}", fix) from None

    def _error(self, node: Node, problem: str, fix: str) -> ConfigError:
        return ConfigError(problem, file=self.path, line=node.start_mark.line + 1, fix=fix)


_FIXES = (
    ("'\\t'", "indent with spaces, never with tabs"),
    ("found character", "put the value in quotes"),
    (
        "mapping values are not allowed",
        "put a value that contains `: ` in quotes, or check the indentation",
    ),
    ("expected <block end>", "line this up with the keys above it"),
    ("undefined alias", "define it first with `&name`, or put the value in quotes"),
    ("another document", "keep one document: remove the second `---`"),
    ("found unexpected end of stream", "close the quotes"),
    ("stream end", "close the bracket or the brace"),
    ("expected ',' or", "close the bracket or the brace, and put commas between the items"),
    ("could not find expected ':'", "write `key: value`, with a space after the colon"),
)


def _syntax_error(path: Path, text: str, error: MarkedYAMLError) -> ConfigError:
    said = str(error.problem or error)
    mark = error.problem_mark or error.context_mark
    line = min(mark.line, text.rstrip("\n").count("\n")) + 1 if mark is not None else None
    fix = next(
        (fix for words, fix in _FIXES if words in said), "check the indentation and the quotes"
    )
    if "\t" in said or "\\t" in said:
        said = "a tab where only spaces may stand"
    if error.context and error.context_mark is not None and error.context_mark.line + 1 != line:
        said += f" ({error.context} that began on line {error.context_mark.line + 1})"
    return ConfigError(f"this is not YAML: {said}", file=path, line=line, fix=fix)


def _odd_character(path: Path, text: str, error: YAMLError) -> ConfigError:
    position = getattr(error, "position", None)
    line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
    character = getattr(error, "character", None)
    name = (
        f"the control character U+{character:04X}"
        if isinstance(character, int)
        else "a control character"
    )
    return ConfigError(f"{name} may not stand in YAML", file=path, line=line, fix="delete it")
