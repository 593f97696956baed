"""A tool's parameters, taken from its typed signature: the schema a model reads and the check
its arguments pass."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Self, cast, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined, to_jsonable_python

from deskhand.model.codes import ErrorCode
from deskhand.model.results import ToolErrorDetails
from deskhand.tools.declared import SourcePlace, place_of
from deskhand.tools.json_schema import plain_schema
from deskhand.tools.parameters import (
    BoundParameter,
    Injected,
    hides_authority,
    injected,
    shown_as_key,
)

_EXACT_FLOATS = 2**53


class ArgumentsInvalid(Exception):
    """The arguments do not fit the tool's parameters; `details` says so in words a model can act
    on."""

    def __init__(self, details: ToolErrorDetails) -> None:
        super().__init__(details.message)
        self.details = details

    @classmethod
    def of(cls, tool: str, problems: Sequence[tuple[str, str]], between: str = " ") -> Self:
        """From each argument with what is wrong with it, and what stands between the two."""
        words = "; ".join(f"{argument}{between}{problem}" for argument, problem in problems)
        listed = [{"argument": argument, "problem": problem} for argument, problem in problems]
        return cls(
            ToolErrorDetails(
                error_type=ErrorCode.TOOL_ARGUMENTS_INVALID,
                message=f"invalid arguments for {tool}: {words}",
                details={"problems": listed},
            )
        )


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that passed: `values` for the function, `canonical` (plain JSON, defaults
    included) for all others."""

    values: dict[str, Any]
    canonical: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool may be called with."""

    tool: str
    schema: dict[str, Any]
    injected: dict[str, Injected]
    """Parameters the gate fills."""
    fields: dict[str, str]
    model: type[BaseModel]
    bound: dict[str, BoundParameter] = field(default_factory=dict[str, BoundParameter])
    """Parameters that give authority, shown to a model as keys."""
    hints: dict[str, Any] = field(default_factory=dict[str, Any])
    """The types of those that a model fills, as written."""
    returns: frozenset[str] | None = None
    """The fields of a result that is declared as a TypedDict."""

    def check(self, arguments: Mapping[str, Any]) -> Arguments:
        """Types are taken strictly, as JSON can write them: a date is a string, but "5" is not a
        number."""
        try:
            plain = _whole_numbers(to_jsonable_python(dict(arguments)))
            text = json.dumps(plain, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, TypeError, RecursionError) as error:
            problem = ("arguments", f"cannot be read as JSON: {error}")
            raise ArgumentsInvalid.of(self.tool, [problem]) from None
        try:
            checked = self.model.model_validate_json(text, strict=True)
        except ValidationError as error:
            given = json.loads(text)
            problems = [
                self._problem(entry, given)
                for entry in error.errors(include_url=False, include_context=False)
            ]
            raise ArgumentsInvalid.of(self.tool, list(dict.fromkeys(problems))) from None
        values = {name: getattr(checked, field) for name, field in self.fields.items()}
        return Arguments(values, checked.model_dump(mode="json", by_alias=True, warnings=False))

    def survives(self, arguments: Arguments) -> bool:
        """The canonical form says all there is: who approves it approves exactly these values,
        not a masked secret."""
        try:
            return self.check(arguments.canonical).values == arguments.values
        except ArgumentsInvalid:
            return False

    def _problem(self, error: ErrorDetails, given: Any) -> tuple[str, str]:
        where = _path(error["loc"], given) or "arguments"
        match error["type"]:
            case "missing":
                return where, "is required"
            case "extra_forbidden":
                close = get_close_matches(where, self.fields, n=1)
                hint = (
                    f"did you mean {close[0]}?"
                    if close
                    else f"parameters are: {', '.join(self.fields) or 'none'}"
                )
                return where, f"is not a parameter ({hint})"
            case _:
                words = (
                    error["msg"].removeprefix("Value error, ").replace("Input should", "should", 1)
                )
                return where, words + _but_got(error["input"])


@dataclass(frozen=True, slots=True)
class _Declaration:
    """All that a signature is made of. Two functions with the same one have one signature."""

    name: str
    descriptions: tuple[tuple[str, str], ...]
    hints: tuple[tuple[str, Any], ...]
    parameters: tuple[inspect.Parameter, ...]
    written: str
    """Hints and parameters in words: `int | str` equals `str | int`, and 1 equals True."""
    place: SourcePlace = field(compare=False)

    def __hash__(self) -> int:
        """Of words alone: not every default or annotation has a hash."""
        return hash((self.name, self.descriptions, self.written))


def signature_of(
    function: Callable[..., Any], name: str, descriptions: Mapping[str, str]
) -> Signature:
    """Read a function's parameters once; whatever a model could not be told about is a
    ConfigError.

    Every desk that is opened declares the built-in tools anew, and reading one takes about
    10 ms, so what was read is kept.
    """
    place = place_of(function)
    try:
        hints = tuple(get_type_hints(function, include_extras=True).items())
    except Exception as error:
        raise place.error(f"tool {name!r}: an annotation cannot be resolved: {error}") from None
    parameters = tuple(inspect.signature(function).parameters.values())
    written = f"{hints!r} {parameters!r}"
    described = tuple(descriptions.items())
    return _read_signature(_Declaration(name, described, hints, parameters, written, place))


@lru_cache(maxsize=256)
def _read_signature(declaration: _Declaration) -> Signature:
    name, place = declaration.name, declaration.place
    hints, descriptions = dict(declaration.hints), dict(declaration.descriptions)
    fields: dict[str, tuple[Any, FieldInfo]] = {}
    filled: dict[str, Injected] = {}
    bound: dict[str, BoundParameter] = {}
    for parameter in declaration.parameters:
        _check_kind(parameter, name, place, hints)
        if (given := injected(hints[parameter.name])) is not None:
            filled[parameter.name] = given
            continue
        shown, gives = shown_as_key(hints[parameter.name])
        if gives is not None:
            bound[parameter.name] = gives
        elif hides_authority(shown):
            problem = f"tool {name!r}: the gate cannot look into the type of {parameter.name!r}"
            raise place.error(
                problem,
                fix="make each thing that gives authority a parameter of its own, or a list",
            )
        fields[parameter.name] = _field(parameter, shown, name, place, descriptions)
    if strangers := [key for key in descriptions if key not in fields and key not in filled]:
        raise place.error(
            f"tool {name!r}: the docstring describes {strangers[0]!r}, which is not a parameter"
        )
    try:
        # Fields are numbered, since pydantic keeps names such as `schema` or `copy` for itself.
        shape = {f"argument_{number}": field for number, field in enumerate(fields.values())}
        model = create_model(
            name, __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **shape
        )  # type: ignore[call-overload]
        schema = plain_schema(model.model_json_schema(by_alias=True))
    except (PydanticUserError, TypeError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise place.error(f"tool {name!r}: {first}", fix="use types that JSON can carry") from None
    shown_hints = {key: hints[key] for key in fields}
    return Signature(
        name,
        schema,
        filled,
        dict(zip(fields, shape, strict=True)),
        model,
        bound,
        shown_hints,
        returns=_declared_fields(hints.get("return")),
    )


def _declared_fields(hint: Any) -> frozenset[str] | None:
    return frozenset(get_type_hints(hint)) if is_typeddict(hint) else None


def _check_kind(
    parameter: inspect.Parameter, tool: str, place: SourcePlace, hints: Mapping[str, Any]
) -> None:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise place.error(
            f"tool {tool!r}: parameter {parameter} cannot be named by a model",
            fix="name each parameter",
        )
    if parameter.name not in hints:
        raise place.error(
            f"tool {tool!r}: parameter {parameter.name!r} has no type",
            fix=f"write `{parameter.name}: str` or its like",
        )


def _field(
    parameter: inspect.Parameter,
    hint: Any,
    tool: str,
    place: SourcePlace,
    descriptions: Mapping[str, str],
) -> tuple[Any, FieldInfo]:
    name, default = parameter.name, parameter.default
    if isinstance(default, FieldInfo):
        hint, default = Annotated[hint, default], default.default
    settings: dict[str, Any] = {}
    if default is not parameter.empty and default is not PydanticUndefined:
        _check_default(default, hint, f"tool {tool!r}: the default of {name!r}", place)
        settings["default"] = default
    if description := FieldInfo.from_annotation(hint).description or descriptions.get(name):
        settings["description"] = description
    field: FieldInfo = Field(alias=name, **settings)
    return hint, field


def _check_default(default: Any, hint: Any, what: str, place: SourcePlace) -> None:
    try:
        TypeAdapter(hint).validate_python(default)
    except ValidationError:
        raise place.error(f"{what} is {default!r}, which is not of its type") from None
    except PydanticUserError:
        pass  # reported with the whole signature


def _whole_numbers(value: Any) -> Any:
    """JSON has one kind of number: 5.0 (as some models write every 5) is the integer 5."""
    if isinstance(value, dict):
        whole = {**value}
        for key, item in value.items():
            if not isinstance(item, str):  # as most are
                whole[key] = _whole_numbers(item)
        return whole
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOATS:
        return int(value)
    return value


def _path(location: tuple[int | str, ...], given: Any) -> str:
    """Where in the arguments: `items[2].size`, without the type names pydantic puts in between."""
    path, rest = "", given
    for part in location:
        if isinstance(part, int) and isinstance(rest, list):
            path, rest = f"{path}[{part}]", rest[part] if part < len(rest) else None
        elif isinstance(rest, dict) and (part in rest or part == location[-1]):
            path, rest = f"{path}.{part}" if path else str(part), rest.get(part)
    return path


def _but_got(value: Any) -> str:
    if isinstance(value, dict | list):
        return ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f", not {text if len(text) <= 80 else text[:77] + '...'}"


# --- arguments as models write them


def parse_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """The arguments in a model's text; what cannot be read is `{}` with a note that says why."""
    if not text.strip():
        return {}, None
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not JSON: {error}"
    return _object(value)


def read_arguments(parameters: Mapping[str, Any] | str) -> tuple[dict[str, Any], str | None]:
    """The same for arguments that may be parsed already."""
    return parse_arguments(parameters) if isinstance(parameters, str) else _object(parameters)


def _object(value: object) -> tuple[dict[str, Any], str | None]:
    if not isinstance(value, Mapping):
        return {}, f"the arguments are not an object but {type(value).__name__}"
    given = cast(Mapping[object, Any], value)
    return {str(key): item for key, item in given.items()}, None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
