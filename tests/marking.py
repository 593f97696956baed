"""Which tests are `real`: they start a process, use a server or wait for a state.

Found by what a test reaches: its own code, its fixtures, and whatever of tests/ these call. So no
such test can be forgotten. `@pytest.mark.real` marks what cannot be seen this way.
"""

from collections.abc import Iterator
from functools import cache
from inspect import isclass, isfunction, unwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests import waiting

_REAL_MODULES = {"subprocess", "multiprocessing", "signal", "socket", "uvicorn", "aiohttp.web"}
"""A test that reaches one of these is real; named, since importing them all takes a while."""
_REAL_NAMES = {"PATIENCE", "Popen", "create_subprocess_exec", "create_subprocess_shell"}
_WAITS = {"timeout", "wait_for", "start_server"}
"""Of asyncio."""


def is_real(item: pytest.Item) -> bool:
    """Whether the test, one of its fixtures or a helper of theirs starts a process, uses a server
    or waits for a state."""
    if not isinstance(item, pytest.Function):
        return False
    if hasattr(item, "callspec") and "postgres" in item.callspec.params.values():
        return True
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = [item.function]
    functions += [definition.func for definitions in fixtures for definition in definitions]
    return any(_reaches_real(_plain(function)) for function in functions)


def _plain(function: Any) -> Any:
    return unwrap(getattr(function, "__func__", function))


@cache
def _reaches_real(start: Any) -> bool:
    seen: set[Any] = set()
    waiting_for_a_look = [start]
    while waiting_for_a_look:
        thing = waiting_for_a_look.pop()
        if thing in seen:
            continue
        seen.add(thing)
        for function in _functions_of(thing):
            if _is_real_itself(function):
                return True
            waiting_for_a_look += _called_helpers(function)
    return False


def _functions_of(thing: Any) -> Iterator[FunctionType]:
    if isfunction(thing):
        yield thing
    elif isclass(thing):
        for value in vars(thing).values():
            method = getattr(value, "fget", None) or _plain(value)
            if isfunction(method):
                yield method


def _is_real_itself(function: FunctionType) -> bool:
    names = set(_names(function.__code__))
    if names & _REAL_NAMES:
        return True
    values = [function.__globals__.get(name) for name in names]
    if any(value is waiting.until for value in values):
        return True
    modules = {value.__name__ for value in values if isinstance(value, ModuleType)}
    waits = "asyncio" in modules and not names.isdisjoint(_WAITS)
    return waits or not modules.isdisjoint(_REAL_MODULES)


def _called_helpers(function: FunctionType) -> list[Any]:
    """The functions and classes of tests/ that it names."""
    helpers = []
    for name in _names(function.__code__):
        value = _plain(function.__globals__.get(name))
        is_callable = isfunction(value) or isclass(value)
        if is_callable and value.__module__.startswith("tests."):
            helpers.append(value)
    return helpers


def _names(code: CodeType) -> Iterator[str]:
    """All names that it uses, those of functions within it as well."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
