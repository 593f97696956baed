"""Reads any YAML 1.2 into plain data, and says of what is wrong on which line and what to do."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deskhand.config.yaml_plain import is_nested_deeper
from deskhand.errors import ConfigError

_MOST_VALUES = 200_000
_DEEPEST = 60
_HOPELESS = 200
"""Levels from which a text is not read at all: the parser takes the square of them."""
_TAG = "tag:yaml.org,2002:"

_Place = tuple[str | int, ...]


def read_any_yaml(path: Path, text: str) -> tuple[Any, dict[_Place, int]]:
    """What `text` holds, None where it is empty, and the line of every key and item; ConfigError
    for whatever is wrong with it."""
    too_deep = ConfigError("it is nested too deeply", file=path, fix="write it flatter")
    if is_nested_deeper(text, _HOPELESS):
        raise too_deep
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
        raise too_deep from None
    return data, reader.lines


class _Reader:
    """Turns composed nodes into plain data, counting what aliases multiply."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[_Place, int] = {(): 1}
        self._scalars = YAML(typ="safe", pure=True)
        self._count = 0

    def value(self, node: Node, place: _Place) -> Any:
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

    def _item(self, node: Node, place: _Place) -> Any:
        self.lines[place] = node.start_mark.line + 1
        return self.value(node, place)

    def _mapping(self, node: MappingNode, place: _Place) -> dict[str, Any]:
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
