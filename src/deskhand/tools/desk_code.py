"""Reading a desk's tools.py."""

import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from deskhand.errors import ConfigError
from deskhand.tools.authority import Authority, Resolver
from deskhand.tools.brought_code import DeskCode as DeskCode
from deskhand.tools.declared import Declared, recording
from deskhand.tools.message_facts import MessageFact
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.services import Hook, Preprocessor, Service

_modules = count(1)
_KINDS = (Tool, Service, Hook, Resolver, MessageFact, Preprocessor)


Key = TypeVar("Key")
Thing = TypeVar("Thing", bound=Declared)

_FIXES: Mapping[type, str] = {Resolver: "make one of the two", Hook: "make one hook of the two"}
"""What to do about two that declare the same; for every other kind, rename one."""


def load_tools(path: Path) -> DeskCode:
    """Run the file in a namespace of its own and take what it decorates or imports; a mistake is a
    ConfigError.

    The folder is a package: `from .stock import reserve` finds stock.py beside tools.py, on every
    desk its own.
    """
    module = ModuleType(f"deskhand_desk_{next(_modules)}")
    module.__file__, module.__package__, module.__path__ = (
        str(path),
        module.__name__,
        [str(path.parent)],
    )
    sys.modules[module.__name__] = module  # dataclasses and pydantic look their names up there
    try:
        with recording() as declared:
            _execute(path, module)
        own = [thing for thing in declared if thing.place.file == str(path)]
        brought = [thing for thing in vars(module).values() if isinstance(thing, _KINDS)]
        return replace(_sorted_out([*own, *brought]), declared=tuple(own))
    except BaseException:
        for name in [
            loaded for loaded in sys.modules if loaded.partition(".")[0] == module.__name__
        ]:
            del sys.modules[name]
        raise


def _execute(path: Path, module: ModuleType) -> None:
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))  # noqa: S102 the desk's own code
    except ConfigError:
        raise
    except OSError as error:
        if error.filename != str(path):
            raise _at_failing_line(error, path) from error
        raise ConfigError(f"cannot be read: {error.strerror}", file=path) from None
    except SyntaxError as error:
        file = error.filename or str(path)
        raise ConfigError(f"not Python: {error.msg}", file=file, line=error.lineno) from None
    except (Exception, SystemExit) as error:
        raise _at_failing_line(error, path) from error


def _at_failing_line(error: BaseException, path: Path) -> ConfigError:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    return ConfigError(words, file=path, line=lines[-1] if lines else None)


def _sorted_out(things: Iterable[Declared]) -> DeskCode:
    """What a desk's code declares, by kind; ConfigError where two declare the same."""
    tools = ToolRegistry()
    services: dict[str, Service] = {}
    hooks: dict[tuple[str, str], Hook] = {}
    resolvers: dict[type, Resolver] = {}
    facts: dict[str, MessageFact] = {}
    preprocessors: dict[str, Preprocessor] = {}
    for thing in {id(thing): thing for thing in things}.values():
        match thing:
            case Tool():
                tools.register(thing)
            case Service():
                _add(services, thing.name, thing, f"service {thing.name!r}")
            case MessageFact():
                _add(facts, thing.name, thing, f"fact {thing.name!r}")
            case Preprocessor():
                _add(preprocessors, thing.name, thing, f"preprocessor {thing.name!r}")
            case Resolver():
                _add(resolvers, thing.kind, thing, f"resolver of {thing.kind.__name__}")
            case Hook():
                where = (thing.when, thing.stage)
                _add(hooks, where, thing, f"hook {thing.when} {thing.stage!r}")
            case _:
                continue
    _check_resolvers(tools, resolvers)
    return DeskCode(
        tools=tuple(tools),
        services=services,
        before=_hooks_at("before", hooks),
        after=_hooks_at("after", hooks),
        resolvers=tuple(resolvers.values()),
        message_facts=tuple(facts.values()),
        preprocessors={name: preprocessor.function for name, preprocessor in preprocessors.items()},
    )


def _add(things: dict[Key, Thing], key: Key, thing: Thing, what: str) -> None:
    """Keep a declared thing under its key; ConfigError where the key is taken."""
    first = things.setdefault(key, thing)
    if first is thing:
        return
    problem = f"there is a {what} already, at {first.place}"
    fix = _FIXES.get(type(thing), "rename one")
    raise thing.place.error(problem, fix=fix)


def _hooks_at(when: str, hooks: Mapping[tuple[str, str], Hook]) -> dict[str, Any]:
    return {stage: hook.function for (at, stage), hook in hooks.items() if at == when}


def _check_resolvers(tools: ToolRegistry, resolvers: Mapping[type, Resolver]) -> None:
    for tool in tools:
        for parameter, bound in tool.signature.bound.items():
            if issubclass(bound.kind, Authority) and bound.kind not in resolvers:
                name = bound.kind.__name__
                problem = f"tool {tool.name!r}: nothing finds the {name} that {parameter!r} names"
                fix = f"write `@resolver({name})` on an async function `(key, principal, ctx)`"
                raise tool.place.error(problem, fix=fix)
