"""Reads everyday YAML with the parser written in C: ten times as fast as the one in Python.

Every command reads a desk's files when it starts, so this is most of what some commands do. Only
what both parsers read alike is read here: blocks, lists, quoted and plain text, whole and decimal
numbers. Whatever else stands in a file, mistakes first of all, is left to `yaml_any`.
"""

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

_MOST_VALUES = 200_000
_DEEPEST = 60

_Place = tuple[str | int, ...]

_OUT_OF_THE_ORDINARY = re.compile(
    r"""[\t\x85\u2028\u2029\ufeff] | ^% | (?<=\n)(?:---|\.\.\.) | [|>][-+0-9]*\#
    | ["'\]}]:[,\]}]""",
    re.MULTILINE | re.VERBOSE,
)
"""Where the two parsers part: characters that break lines for one of them only, directives, ends
of documents, comments right behind `|`, and keys in quotes without a value."""
_ODD_NAME = re.compile(r"[&*][0-9A-Za-z_-]*[^0-9A-Za-z_\-\s]")
"""What may be an anchor or an alias whose name ends elsewhere for the other reader."""
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{1,17}")
_OTHER_NUMBER = re.compile(
    r"""[-+]?0b[0-1_]+ | [-+]?0o?[0-7_]+ | [-+]?[0-9_]+ | [-+]?0x[0-9a-fA-F_]+
    | [-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)? | [-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    | [-+]?\.[0-9_]+(?:[eE][-+][0-9]+)? | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN)""",
    re.VERBOSE,
)
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_MAY_BE_NO_TEXT = re.compile("[0-9]|=$")
"""Keys that are dates, or the sign for a value: mistakes, unless they stand in quotes."""
_STEPS = {
    "MappingStartEvent": 1,
    "SequenceStartEvent": 1,
    "MappingEndEvent": -1,
    "SequenceEndEvent": -1,
}
"""How far an event leads into what is nested, or out of it."""
_START_OF_NUMBERS = frozenset("-+.0123456789")


class _NotPlain(Exception):
    """Something that is left to the other reader."""


def read_plain_yaml(text: str) -> tuple[dict[str, Any], dict[_Place, int]] | None:
    """The mapping in `text` and the line of every key and item; None if something in it is not
    plain, is wrong, or the parser in C is not installed."""
    if _OUT_OF_THE_ORDINARY.search(text):
        return None
    try:
        from yaml import YAMLError
        from yaml.cyaml import CParser
    except ImportError:
        return None
    try:
        reader = _PlainReader(CParser(text).get_event)
        data, lines = reader.document()
    except (_NotPlain, YAMLError, UnicodeError):
        return None
    if reader.anchors and _ODD_NAME.search(text):
        return None
    return data, lines


def is_nested_deeper(text: str, levels: int) -> bool:
    """Whether a text opens more mappings and sequences inside one another than this; False where
    the parser in C stops before or is not installed."""
    try:
        from yaml import YAMLError
        from yaml.cyaml import CParser
    except ImportError:
        return False
    depth = 0
    try:
        next_event = CParser(text).get_event
        while depth <= levels and (event := next_event()) is not None:
            depth += _STEPS.get(type(event).__name__, 0)
    except (YAMLError, UnicodeError):
        return False
    return depth > levels


@dataclass(frozen=True)
class _Anchored:
    """What an anchor (`&name`) stands before, for the aliases that repeat it."""

    value: Any
    place: _Place
    line: int
    lines: slice
    """Which of the reader's lines lie inside it."""
    count: int


class _PlainReader:
    """Turns the parser's events into plain data as they come."""

    def __init__(self, next_event: Callable[[], Any]) -> None:
        self._next_event = next_event
        self._lines: list[tuple[_Place, int]] = [((), 1)]
        self.anchors: dict[str, _Anchored] = {}
        self._count = 0

    def document(self) -> tuple[dict[str, Any], dict[_Place, int]]:
        self._expect("StreamStartEvent")
        self._expect("DocumentStartEvent")
        root = self._expect("MappingStartEvent")
        if root.anchor is not None or root.tag is not None:
            raise _NotPlain
        data = self._mapping(())
        self._expect("DocumentEndEvent")
        self._expect("StreamEndEvent")
        return data, dict(self._lines)

    def _expect(self, kind: str) -> Any:
        event = self._next_event()
        if type(event).__name__ != kind:
            raise _NotPlain
        return event

    def _value(self, event: Any, place: _Place) -> Any:
        if type(event).__name__ == "AliasEvent":
            return self._repeated(self._anchored(event), place)
        if event.anchor is None:
            return self._new(event, place)
        if event.anchor in self.anchors:
            raise _NotPlain
        first, before = len(self._lines), self._count
        value = self._new(event, place)
        inside = slice(first, len(self._lines))
        line = event.start_mark.line + 1
        self.anchors[event.anchor] = _Anchored(value, place, line, inside, self._count - before)
        return value

    def _new(self, event: Any, place: _Place) -> Any:
        self._counted(1, place)
        if event.tag is not None:
            raise _NotPlain
        kind = type(event).__name__
        if kind == "ScalarEvent":
            return _scalar(event)
        if kind == "MappingStartEvent":
            return self._mapping(place)
        return self._sequence(place)

    def _mapping(self, place: _Place) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while type(event := self._next_event()).__name__ != "MappingEndEvent":
            key = _key(event)
            if key in data:
                raise _NotPlain
            inside = (*place, key)
            self._lines.append((inside, event.start_mark.line + 1))
            data[key] = self._value(self._next_event(), inside)
        return data

    def _sequence(self, place: _Place) -> list[Any]:
        data: list[Any] = []
        while type(event := self._next_event()).__name__ != "SequenceEndEvent":
            inside = (*place, len(data))
            self._lines.append((inside, self._line(event)))
            data.append(self._value(event, inside))
        return data

    def _line(self, event: Any) -> int:
        """Where an item stands; what an alias repeats stands where it was written."""
        if type(event).__name__ == "AliasEvent":
            return self._anchored(event).line
        return int(event.start_mark.line) + 1

    def _anchored(self, event: Any) -> _Anchored:
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            raise _NotPlain
        return anchored

    def _repeated(self, anchored: _Anchored, place: _Place) -> Any:
        self._counted(anchored.count, place)
        for inside, line in self._lines[anchored.lines]:
            moved = (*place, *inside[len(anchored.place) :])
            self._counted(0, moved)
            self._lines.append((moved, line))
        return deepcopy(anchored.value)

    def _counted(self, values: int, place: _Place) -> None:
        self._count += values
        if self._count > _MOST_VALUES or len(place) > _DEEPEST:
            raise _NotPlain


def _key(event: Any) -> str:
    if type(event).__name__ != "ScalarEvent" or event.anchor is not None or event.tag is not None:
        raise _NotPlain
    key = _scalar(event)
    if not isinstance(key, str) or (event.implicit[0] and _MAY_BE_NO_TEXT.match(key)):
        raise _NotPlain
    return key


def _scalar(event: Any) -> str | int | float | bool | None:
    text: str = event.value
    if event.implicit[0]:
        return _plain_scalar(text)
    if event.style in "|>" and text[:1] in ("", "\n"):
        raise _NotPlain  # the two disagree on how far it is indented
    return text


def _plain_scalar(text: str) -> str | int | float | bool | None:
    """What text without quotes is: a word of YAML, a number, or text."""
    if text in _WORDS:
        return _WORDS[text]
    if text == "<<":
        raise _NotPlain
    if text[0] not in _START_OF_NUMBERS:
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _OTHER_NUMBER.fullmatch(text):
        raise _NotPlain
    return text
