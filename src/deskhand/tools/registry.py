"""Tools: typed functions a model may ask for, declared with what they can change, and never
called directly."""

import copy
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, NoReturn

from deskhand.config.tool_shape import ToolShape
from deskhand.errors import ConfigError
from deskhand.model.money import Money
from deskhand.model.outcome import EffectClass, IdempotencyClass, RiskLevel
from deskhand.tools.authority import Authority, declared_fields
from deskhand.tools.declared import SourcePlace, declare, place_of
from deskhand.tools.docstring import read_docstring
from deskhand.tools.handlers import keep_handler
from deskhand.tools.json_schema import closed_schema
from deskhand.tools.schema import Signature, signature_of

Effect = Literal["read", "reversible", "keyed", "irreversible"]
Risk = Literal["low", "medium", "high", "critical"]
Probe = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]
"""Asks the other side whether the effect with this key and these arguments has happened: what it
made, or None."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tool:
    """A tool as everybody but the gate sees it: what it is called, takes and may change, but no
    way to run it."""

    name: str
    description: str
    effect: EffectClass
    risk: RiskLevel
    timeout: float
    signature: Signature = field(repr=False)
    place: SourcePlace
    probe: Probe | None = None
    public: bool = False
    """Whether it may act for a sender nobody vouched for; of a tool that reads, whether what it
    returns is for anybody who has the number."""
    rehearsable: bool = False
    """Whether all it changes lies in `ctx.database`: where effects are captured it runs, and
    what it did is undone."""
    outside: bool = False
    """Whether strangers may have written what it returns (a web page, another company's server)."""
    open_amount: tuple[str, str] | None = None
    """What a call moves that names no amount: a parameter, and the field of its object that holds
    the money."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return copy.deepcopy(self.signature.schema)

    @property
    def idempotency(self) -> IdempotencyClass:
        return self.effect.idempotency_with(self.risk)

    @property
    def changes_something(self) -> bool:
        return self.effect is not EffectClass.READ

    @property
    def may_repeat(self) -> bool:
        """Doing it again under the same key is harmless by its class (a probe may allow it as
        well)."""
        return self.effect in (EffectClass.REVERSIBLE, EffectClass.KEYED)

    @property
    def spec(self) -> dict[str, Any]:
        """The tool in the OpenAI function-calling format."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": closed_schema(self.signature.schema),
        }
        return {"type": "function", "function": function}

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError(
            f"{self.name} is a tool ({self.place}): only the gate may run it, as `await"
            " gate.call(...)`"
        )


def tool(
    *,
    effect: Effect | EffectClass,
    risk: Risk | RiskLevel = RiskLevel.LOW,
    timeout: float = 30.0,
    name: str | None = None,
    probe: Probe | None = None,
    public: bool = False,
    rehearsable: bool = False,
    outside: bool = False,
    open_amount: str | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function with a docstring, async or not; a mistake is a ConfigError
    with file and line.

    `open_amount="order.refundable"` says how much money a call moves that names no amount itself.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        place = place_of(function)
        _check_function(function, place)
        called = name or function.__name__
        if not _NAME.fullmatch(called):
            raise place.error(
                f"{called!r} is no tool name", fix="letters, digits, _ and -, at most 64"
            )
        documentation = read_docstring(function.__doc__ or "")
        if not documentation.description:
            raise place.error(
                f"tool {called!r} has no docstring",
                fix="say in one sentence what it does, for the model",
            )
        if timeout <= 0:
            raise place.error(
                f"tool {called!r}: timeout must be more than 0 seconds, not {timeout}"
            )
        made = Tool(
            name=called,
            description=documentation.description,
            effect=_one_of(EffectClass, effect, f"tool {called!r}: effect", place),
            risk=_one_of(RiskLevel, risk, f"tool {called!r}: risk", place),
            timeout=timeout,
            signature=signature_of(function, called, documentation.parameters),
            place=place,
            probe=probe,
            public=public,
            rehearsable=rehearsable,
            outside=outside,
            open_amount=_open_amount(open_amount),
        )
        _check_probe(made)
        _check_open_amount(made)
        keep_handler(made, function)
        return declare(made)

    return decorate


def bring(made: Tool, handler: Callable[..., Awaitable[Any]]) -> Tool:
    """A tool that was not made of a function of the desk's, and what runs it."""
    keep_handler(made, handler)
    return made


def tool_probe(function: Probe) -> Probe:
    """Mark an async function `(key, arguments) -> dict | None` as a probe; use it as `@tool(...,
    probe=function)`."""
    place = place_of(function)
    if not inspect.iscoroutinefunction(function):
        raise place.error("a probe must be an async function")
    try:
        inspect.signature(function).bind("key", {})
    except TypeError:
        raise place.error(
            "a probe takes two arguments", fix="write `(key: str, arguments: dict)`"
        ) from None
    return function


def _check_function(function: Callable[..., Any], place: SourcePlace) -> None:
    if not inspect.isfunction(function):
        raise place.error(f"@tool goes on a function, not on {function!r}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise place.error(f"tool {function.__name__!r} yields", fix="return one result")


def _check_probe(made: Tool) -> None:
    if made.probe is None:
        return
    if not made.changes_something:
        raise made.place.error(
            f"tool {made.name!r} only reads and needs no probe", fix="drop `probe=`"
        )
    tool_probe(made.probe)


def _open_amount(written: str | None) -> tuple[str, str] | None:
    if written is None:
        return None
    parameter, _, field_name = written.partition(".")
    return parameter, field_name


def _check_open_amount(made: Tool) -> None:
    """It must be there whenever the tool runs: else nothing would be counted."""
    if made.open_amount is None:
        return
    parameter, field_name = made.open_amount
    required = made.signature.schema["required"]
    bound = made.signature.bound.get(parameter) if parameter in required else None
    if bound is None or not issubclass(bound.kind, Authority):
        raise made.place.error(
            f"tool {made.name!r}: open_amount names no required parameter that stands for an"
            f" object: {parameter!r}",
            fix="write it as `order.refundable`, where `order` has a type such as Owned",
        )
    described = bound.kind.model_fields.get(field_name)
    if described is None or described.annotation is not Money:
        raise made.place.error(
            f"tool {made.name!r}: {bound.kind.__name__} has no field {field_name!r} of type Money",
            fix=f"declare `{field_name or 'refundable'}: Money`",
        )


def _one_of(kind: Any, value: str, what: str, place: SourcePlace) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise place.error(f"{what} cannot be {value!r}", fix=f"one of {', '.join(kind)}") from None


class ToolRegistry:
    """The tools of one desk, by exact name."""

    def __init__(self, tools: Iterable[Tool] = (), absent: Iterable[str] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._absent = frozenset(absent)
        for each in tools:
            self.register(each)

    def register(self, added: Tool) -> None:
        if not isinstance(added, Tool):
            raise ConfigError(
                f"{added!r} is not a tool", fix="decorate the function with @tool(effect=...)"
            )
        taken = self._tools.get(added.name)
        if taken is not None:
            raise added.place.error(
                f"there is a tool {added.name!r} already, at {taken.place}", fix="rename one"
            )
        self._tools[added.name] = added

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def specs(self, subset: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The named tools (all by default) for a model, in the given order; without those that
        are not set up here."""
        named = self.names if subset is None else subset
        return [
            self._tool_named(name).spec
            for name in named
            if name in self._tools or name not in self._absent
        ]

    def _tool_named(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            close = get_close_matches(name, self._tools, n=1)
            fix = (
                f"did you mean {close[0]!r}?"
                if close
                else f"known tools: {', '.join(self._tools) or 'none'}"
            )
            raise ConfigError(f"there is no tool {name!r}", fix=fix)
        return tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __len__(self) -> int:
        return len(self._tools)


def shape_of(tool: Tool) -> ToolShape:
    """The tool as configuration and policies see it."""
    schema = tool.signature.schema
    kinds = {name: bound.kind for name, bound in tool.signature.bound.items()}
    objects = {name: kind for name, kind in kinds.items() if issubclass(kind, Authority)}
    declared = {name: declared_fields(kind) for name, kind in objects.items()}
    return ToolShape(
        name=tool.name,
        effect=str(tool.effect),
        risk=str(tool.risk),
        arguments=schema["properties"],
        required=frozenset(schema["required"]),
        objects=frozenset(objects),
        fields={name: fields for name, fields in declared.items() if fields is not None},
        returns=tool.signature.returns,
    )
