"""Reading a desk's tools.py."""

import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import ModuleType

from deskhand.errors import ConfigError
from deskhand.mail.preprocess import Preprocess
from deskhand.ports import PostHook, PreHook
from deskhand.tools.authority import Authority, Resolver
from deskhand.tools.declared import Declared, recording
from deskhand.tools.message_facts import MessageFact
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.services import Hook, Preprocessor, Service

_modules = count(1)
_KINDS = (Tool, Service, Hook, Resolver, MessageFact, Preprocessor)


@dataclass(frozen=True, slots=True)
class DeskCode:
    """What a desk brings in Python, by the names its desk.yaml uses."""

    tools: tuple[Tool, ...]
    services: dict[str, Service]
    before: dict[str, PreHook]
    after: dict[str, PostHook]
    resolvers: tuple[Resolver, ...] = ()
    message_facts: tuple[MessageFact, ...] = ()
    preprocessors: dict[str, Preprocess] = field(default_factory=dict[str, Preprocess])
    declared: tuple[Declared, ...] = ()
    """Everything the file decorates, also what other rooms have decorators for."""


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
        for name in [one for one in sys.modules if one.partition(".")[0] == module.__name__]:
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
    tools = ToolRegistry()
    services: dict[str, Service] = {}
    hooks: dict[tuple[str, str], Hook] = {}
    resolvers: dict[type, Resolver] = {}
    facts: dict[str, MessageFact] = {}
    preprocessors: dict[str, Preprocessor] = {}
    for thing in {id(thing): thing for thing in things}.values():
        if isinstance(thing, Tool):
            tools.register(thing)
        elif isinstance(thing, Service):
            if (known := services.setdefault(thing.name, thing)) is not thing:
                raise thing.place.error(
                    f"there is a service {thing.name!r} already, at {known.place}", fix="rename one"
                )
        elif isinstance(thing, MessageFact):
            if (known_fact := facts.setdefault(thing.name, thing)) is not thing:
                problem = f"there is a fact {thing.name!r} already, at {known_fact.place}"
                raise thing.place.error(problem, fix="rename one")
        elif isinstance(thing, Preprocessor):
            if (other := preprocessors.setdefault(thing.name, thing)) is not thing:
                problem = f"there is a preprocessor {thing.name!r} already, at {other.place}"
                raise thing.place.error(problem, fix="rename one")
        elif isinstance(thing, Resolver):
            if (known_resolver := resolvers.setdefault(thing.kind, thing)) is not thing:
                problem = (
                    f"there is a resolver of {thing.kind.__name__} already, at"
                    f" {known_resolver.place}"
                )
                raise thing.place.error(problem, fix="make one of the two")
        elif (
            isinstance(thing, Hook)
            and (known_hook := hooks.setdefault((thing.when, thing.stage), thing)) is not thing
        ):
            problem = f"there is a hook {thing.when} {thing.stage!r} already, at {known_hook.place}"
            raise thing.place.error(problem, fix="make one hook of the two")
    _check_resolvers(tools, resolvers)
    return DeskCode(
        tools=tuple(tools),
        services=services,
        before={stage: hook.function for (when, stage), hook in hooks.items() if when == "before"},
        after={stage: hook.function for (when, stage), hook in hooks.items() if when == "after"},
        resolvers=tuple(resolvers.values()),
        message_facts=tuple(facts.values()),
        preprocessors={name: one.function for name, one in preprocessors.items()},
    )


def _check_resolvers(tools: ToolRegistry, resolvers: Mapping[type, Resolver]) -> None:
    for tool in tools:
        for parameter, bound in tool.signature.bound.items():
            if issubclass(bound.kind, Authority) and bound.kind not in resolvers:
                name = bound.kind.__name__
                problem = f"tool {tool.name!r}: nothing finds the {name} that {parameter!r} names"
                fix = f"write `@resolver({name})` on an async function `(key, principal, ctx)`"
                raise tool.place.error(problem, fix=fix)
