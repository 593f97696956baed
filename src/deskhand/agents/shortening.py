"""A tool result in fewer characters: the head of what is long, and what later calls name."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

NOTE = "_shortened"
"""A field that a shortened result gets: why there is less in it than the tool returned."""
SHORTEST_NAMED = 3
"""Characters that a text needs to be looked for; a shorter one stands everywhere."""
_AROUND = 40


@dataclass(frozen=True, slots=True)
class Measure:
    """How much of a result stays."""

    items: int
    """How many items of a list or a mapping stay."""
    characters: int
    """How many characters of a text stay."""


def shortened(content: str, measure: Measure, named: Iterable[str]) -> str:
    """The result, as JSON, cut to this measure; what is `named` in later calls stays, wherever
    it stands."""
    try:
        value: Any = json.loads(content)
    except ValueError:
        value = content
    cut = _Cut(measure, tuple(named)).value(value)
    whole = cast(dict[str, Any], cut) if isinstance(cut, dict) else {"result": cut}
    note = f"{len(content)} characters in full; call the tool again if you need all of it"
    return _written({NOTE: note, **whole})


def dropped(content: str) -> str:
    """What stands in the place of a result for which there is no room at all."""
    return _written(
        {NOTE: f"{len(content)} characters, left out; call the tool again if you need it"}
    )


def names_in(arguments: str) -> Iterator[str]:
    """What a call speaks of: the values of its arguments that can be looked for in a result."""
    try:
        value: Any = json.loads(arguments or "{}")
    except ValueError:
        return
    for leaf in _leaves(value):
        text = str(leaf)
        if not isinstance(leaf, bool) and len(text) >= SHORTEST_NAMED:
            yield text


@dataclass(frozen=True, slots=True)
class _Cut:
    measure: Measure
    named: tuple[str, ...]

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._mapping(cast(dict[str, Any], value))
        if isinstance(value, list):
            return self._list(value)
        return self._text(value) if isinstance(value, str) else value

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Few fields all stay, each cut by itself; of many, as of a list, the first and those
        that are named."""
        most = self.measure.items * 8
        kept = self._kept([f"{key} {_written(item)}" for key, item in value.items()], most)
        shortened = {
            key: self.value(item)
            for place, (key, item) in enumerate(value.items())
            if place in kept
        }
        left = len(value) - len(shortened)
        return shortened | ({"…": f"{left} more"} if left else {})

    def _list(self, value: Sequence[Any]) -> list[Any]:
        kept = self._kept([_written(item) for item in value], self.measure.items)
        shortened = [self.value(item) for place, item in enumerate(value) if place in kept]
        left = len(value) - len(shortened)
        return [*shortened, f"… {left} more"] if left else shortened

    def _kept(self, written: Sequence[str], most: int) -> set[int]:
        """Places of the first few, and of as many others that hold something named."""
        kept = set(range(min(most, len(written))))
        left = most
        for place in range(most, len(written)):
            if left and any(name in written[place] for name in self.named):
                kept.add(place)
                left -= 1
        return kept

    def _text(self, text: str) -> str:
        most = self.measure.characters
        if len(text) <= most:
            return text
        pieces = [text[:most]]
        for name in self.named:
            at = text.find(name, max(most - len(name), 0))
            if at >= 0:
                pieces.append(text[max(at - _AROUND, 0) : at + len(name) + _AROUND])
        left = len(text) - sum(map(len, pieces))
        return " … ".join([*pieces, f"{left} more characters"]) if left > 0 else text


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
