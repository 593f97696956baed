"""Compiling the mappings that stand in YAML."""

import json
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from deskhand.conditions.condition import AllOf, AnyOf, Comparison, Condition, Not, Relation
from deskhand.conditions.operators import OPERATIONS, OPERATORS, RELATIONS

Path = tuple[str | int, ...]

_DEEPEST = 50


class ConditionError(ValueError):
    """A condition is written wrong: `path` leads to the place inside it, `fix` says what to
    write."""

    def __init__(self, path: Path, problem: str, fix: str) -> None:
        self.path, self.problem, self.fix = path, problem, fix
        where = ".".join(str(part) for part in path)
        super().__init__(f"{where}: {problem}; {fix}" if where else f"{problem}; {fix}")


def compile_condition(data: object) -> Condition:
    """Compile a YAML mapping; raises ConditionError with the path inside it. The mapping may
    change afterwards."""
    return _condition(data, ())


def _condition(data: object, path: Path) -> Condition:
    if len(path) > _DEEPEST:
        raise ConditionError(
            path[:3], f"it is nested more than {_DEEPEST} deep", "write a flatter condition"
        )
    if not isinstance(data, Mapping):
        raise ConditionError(
            path, f"{_kind(data)} is no condition", "write a mapping, as `{category: spam}`"
        )
    if not data:
        raise ConditionError(
            path, "the condition is empty", "write at least one comparison, as `{category: spam}`"
        )
    parts = [_line(key, value, path) for key, value in data.items()]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _line(key: object, value: object, path: Path) -> Condition:
    if not isinstance(key, str):
        raise ConditionError(path, f"the name {key!r} is not text", f'put it in quotes: `"{key}"`')
    here = (*path, key)
    if key == "not":
        return Not(_condition(value, here))
    if key in ("all", "any"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise ConditionError(
                here, f"`{key}` needs a list of conditions", f"write `{key}: [{{...}}, {{...}}]`"
            )
        parts = tuple(_condition(part, (*here, index)) for index, part in enumerate(value))
        if len(parts) == 1:
            return parts[0]
        return AllOf(parts) if key == "all" else AnyOf(parts)
    if not all(key.split(".")):
        raise ConditionError(
            here, f"{key!r} is no name of a fact", "write a name, or names joined by dots"
        )
    return _comparisons(key, value, here)


def _comparisons(fact: str, value: object, path: Path) -> Condition:
    if isinstance(value, list | tuple):
        raise ConditionError(
            path,
            "a bare list may mean two things",
            "write `{in: [...]}` for one of these, `{is: [...]}` for this list",
        )
    if not isinstance(value, Mapping):
        return _comparison(fact, "is", value, path)
    if not value:
        raise ConditionError(path, "there is no operator", f"write one of {', '.join(OPERATORS)}")
    parts = [
        _comparison(fact, name, operand, (*path, str(name))) for name, operand in value.items()
    ]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _comparison(fact: str, name: object, value: object, path: Path) -> Condition:
    operator = OPERATIONS.get(name) if isinstance(name, str) else None
    if operator is None or not isinstance(name, str):
        raise ConditionError(
            path, f"there is no operator `{name}`", _other_operator(fact, str(name))
        )
    if isinstance(value, Mapping) and set(value) == {"fact"}:
        return _relation(fact, name, value["fact"], path)
    operand = _literal(value, path)
    if not operator.accepts(operand):
        raise ConditionError(
            path, f"`{name}` cannot use {_kind(operand)}", f"give it {operator.wants}"
        )
    return Comparison(fact, name, operand, operator.compile(operand), _way(fact))


def _relation(fact: str, name: str, other: object, path: Path) -> Relation:
    if not isinstance(other, str) or not all(other.split(".")):
        raise ConditionError(
            path,
            f"{other!r} is no name of a fact",
            "write `{fact: NAME}` with the other fact's name",
        )
    if name not in RELATIONS:
        raise ConditionError(
            path, f"`{name}` cannot compare two facts", "give it `true` or `false`"
        )
    return Relation(fact, name, other, _way(fact), _way(other))


def _way(fact: str) -> tuple[tuple[str, str], ...]:
    names = fact.split(".")
    return tuple((names[index], ".".join(names[index + 1 :])) for index in range(len(names) - 1))


def _other_operator(fact: str, name: str) -> str:
    near = get_close_matches(name, OPERATORS, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return (
        f"write one of {', '.join(OPERATORS)}; to look inside `{fact}` write `{fact}.{name}` as the"
        " name"
    )


def _literal(value: object, path: Path, depth: int = 0) -> Any:
    """A private copy in plain types, so that neither YAML's own types nor a later change reach
    the hot path."""
    if depth > _DEEPEST:
        raise ConditionError(
            path, f"the value is nested more than {_DEEPEST} deep", "write a flatter value"
        )
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value)
        return {str(key): _literal(item, path, depth + 1) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [_literal(item, path, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and not math.isnan(value):
        return float(value)
    raise ConditionError(
        path, f"{_kind(value)} cannot be compared", "write text in quotes, a number, true or false"
    )


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return f"the number {value}"
    return f"a {type(value).__name__}"
