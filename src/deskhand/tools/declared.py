"""Where a desk's decorated functions stand, and a record of them while its tools.py is read."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from deskhand.errors import ConfigError


class SourcePlace(NamedTuple):
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def error(self, problem: str, fix: str | None = None) -> ConfigError:
        return ConfigError(problem, file=self.file, line=self.line, fix=fix)


class Declared(Protocol):
    """Anything a decorator of ours makes."""

    @property
    def place(self) -> SourcePlace: ...


Thing = TypeVar("Thing", bound=Declared)

_reading: ContextVar[list[Declared] | None] = ContextVar("deskhand_reading", default=None)


def place_of(function: Callable[..., Any]) -> SourcePlace:
    """File and line of a function, even behind decorators."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (
        SourcePlace("<unknown>", 0)
        if code is None
        else SourcePlace(code.co_filename, code.co_firstlineno)
    )


def declare(thing: Thing) -> Thing:
    """Note what was decorated, since a second function of the same name hides the first."""
    seen = _reading.get()
    if seen is not None:
        seen.append(thing)
    return thing


@contextmanager
def recording() -> Iterator[list[Declared]]:
    """Everything declared inside the block, in order."""
    seen: list[Declared] = []
    token = _reading.set(seen)
    try:
        yield seen
    finally:
        _reading.reset(token)
