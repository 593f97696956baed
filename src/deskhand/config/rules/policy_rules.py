"""What makes a rule of a policy wrong: tools, facts and arguments nobody knows, values of
another type."""

from collections.abc import Iterator
from typing import Any, cast

from deskhand.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    ConditionError,
    Not,
    Relation,
    compile_condition,
)
from deskhand.config.fact_types import REPLY_SHAPE, FactType, FactTypes
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.policy import RuleSpec
from deskhand.config.suggestions import did_you_mean, near
from deskhand.config.yaml import YamlPlace
from deskhand.measures import measure
from deskhand.model.message import DELIVER

_EXAMPLES = {
    "money": "`50 EUR`",
    "sums": "`50 EUR`",
    "number": "`50`",
    "integer": "`50`",
    "date": "`2030-01-31`",
    "duration": "`30 days`",
}


def policy_findings(draft: DeskDraft) -> ConfigFindings:
    first: dict[str, int] = {}
    types = fact_types(draft)
    for index, rule in enumerate(draft.desk.policy or ()):
        place = ("policy", index)
        if rule.name in first:
            problem = f"there are two rules called `{rule.name}`"
            yield ConfigFinding(
                (*place, "name"), problem, f"rename one; the other is rule {first[rule.name] + 1}"
            )
        first.setdefault(rule.name, index)
        yield from _limit(place, rule)
        yield from _condition(draft, (*place, "when"), rule, types)


def fact_types(draft: DeskDraft) -> FactTypes:
    shapes = [*draft.shapes.values(), REPLY_SHAPE]
    return FactTypes(shapes, draft.categories(), draft.message_facts)


def _limit(place: YamlPlace, rule: RuleSpec) -> ConfigFindings:
    if rule.limit is None:
        return
    if rule.then != "allow":
        problem = f"`limit` has no effect with `then: {rule.then}`"
        yield ConfigFinding(
            (*place, "limit"),
            problem,
            "use it with `then: allow`, or remove it",
            echo_of=(*place, "then"),
        )
    if rule.limit.calls is None and rule.limit.money is None:
        yield ConfigFinding(
            (*place, "limit"), "the limit limits nothing", "add `calls: 3` or `money: 200 EUR`"
        )


def _condition(
    draft: DeskDraft, place: YamlPlace, rule: RuleSpec, types: FactTypes
) -> ConfigFindings:
    if rule.when is None:
        return
    try:
        condition = compile_condition(rule.when)
    except ConditionError as error:
        yield ConfigFinding(
            (*place, *error.path), f"the condition is wrong: {error.problem}", error.fix
        )
        return
    yield from _tools(draft, place, rule.when)
    if not draft.shapes:  # nobody said which arguments the tools have
        return
    tools = [name for name in _tools_meant(condition, list(types.tools)) if name in types.tools]
    for written, part in _lines(rule.when):
        yield from _line((*place, *written), part, types, tools)


def _tools(draft: DeskDraft, place: YamlPlace, when: dict[str, Any]) -> ConfigFindings:
    for written, part in _lines(when):
        if not isinstance(part, Comparison) or part.fact != "tool":
            continue
        operands = part.operand if isinstance(part.operand, list) else [part.operand]
        for name in operands if part.operator in ("is", "is_not", "in", "not_in") else ():
            if name not in draft.tools and name != DELIVER:
                fix = did_you_mean(str(name), draft.tools, otherwise="define a tool of this name")
                yield ConfigFinding((*place, *written), f"there is no tool `{name}`", fix)


def _line(
    place: YamlPlace, part: Comparison | Relation, types: FactTypes, tools: list[str]
) -> ConfigFindings:
    for name in (part.fact, *((part.other,) if isinstance(part, Relation) else ())):
        if types.find(name, tools) is None:
            yield _unknown(place, name, types, tools)
            return
    kind = types.find(part.fact, tools)
    if isinstance(part, Comparison) and kind is not None and part.fact != "tool":
        yield from _operand(place, part, kind)


def _unknown(place: YamlPlace, name: str, types: FactTypes, tools: list[str]) -> ConfigFinding:
    fields = types.fields_of(name, tools)
    if fields is not None:
        argument, _, rest = name.removeprefix("arguments.").partition(".")
        field = rest.partition(".")[0]
        otherwise = f"declare `{field}` in its class in tools.py"
        fix = did_you_mean(field, fields, otherwise=otherwise)
        return ConfigFinding(place, f"`{argument}` has no field `{field}`", fix)
    facts = types.facts_for(tools)
    meant = near(name, facts)
    if meant is None and "." not in name and tools:
        quoted = [f"`{tool}`" for tool in tools]
        of = quoted[0] if len(tools) == 1 else f"any of {', '.join(quoted)}"
        arguments = sorted({argument for tool in tools for argument in types.tools[tool].arguments})
        fix = f"its arguments are {', '.join(arguments)}" if arguments else "it takes no arguments"
        return ConfigFinding(place, f"`{name}` is no fact and no argument of {of}", fix)
    fix = (
        f"did you mean `{meant}`?"
        if meant
        else "write one of tool, effect, risk, principal.*, time.*, totals.*, ..."
    )
    return ConfigFinding(place, f"there is no fact `{name}`", fix)


def _operand(place: YamlPlace, part: Comparison, kind: FactType) -> ConfigFindings:
    operator, operand = part.operator, part.operand
    if operator == "exists" or kind.kind == "any":
        return
    if operator in ("at_least", "at_most", "above", "below"):
        measured = measure(operand)
        wanted = {"integer": "number", "sums": "money"}.get(kind.kind, kind.kind)
        compared = "date" if measured and measured[0] == "moment" else measured and measured[0]
        if compared != wanted:
            example = _EXAMPLES.get(kind.kind)
            fix = f"write {example}" if example else "use `is`, `in`, `contains` or `starts_with`"
            yield ConfigFinding(
                place,
                f"`{part.fact}` is {_words(kind)} and cannot be compared with `{operand}`",
                fix,
            )
        return
    operands = operand if operator in ("in", "not_in") else [operand]
    for value in operands:
        if operator in ("is", "is_not", "in", "not_in") and not _fits(value, kind):
            fix = (
                f"write {_EXAMPLES[kind.kind]}"
                if kind.kind in _EXAMPLES
                else f"write {_words(kind)}"
            )
            if kind.values and isinstance(value, str):
                fix = did_you_mean(value, map(str, kind.values), otherwise="remove it")
            yield ConfigFinding(place, f"`{part.fact}` can never be `{value}`", fix)


def _fits(value: Any, kind: FactType) -> bool:
    if value is None:
        return not kind.always
    if kind.values:
        return value in kind.values or (isinstance(value, str) and value.startswith("result:"))
    match kind.kind:
        case "text":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "any":
            return True
        case _:
            measured = measure(value)
            wanted = {"integer": "number", "sums": "money"}.get(kind.kind, kind.kind)
            return (
                measured is not None
                and ("date" if measured[0] == "moment" else measured[0]) == wanted
            )


def _words(kind: FactType) -> str:
    named = {
        "sums": "a sum of money",
        "money": "an amount of money",
        "integer": "a whole number",
        "list": "a list",
    }
    articles = {"text": "text", "boolean": "true or false", "duration": "a length of time"}
    return {**named, **articles}.get(kind.kind, f"a {kind.kind}")


def _tools_meant(condition: Condition, every: list[str]) -> list[str]:
    """The tools a condition can be about, as far as its own lines on `tool` say."""
    if isinstance(condition, Comparison) and condition.fact == "tool":
        return [name for name in every if condition.matches({"tool": name})]
    if isinstance(condition, AllOf):
        meant = every
        for part in condition.parts:
            meant = [name for name in _tools_meant(part, every) if name in meant]
        return meant
    if isinstance(condition, AnyOf):
        chosen = {name for part in condition.parts for name in _tools_meant(part, every)}
        return [name for name in every if name in chosen]
    return every


def _lines(when: Any) -> Iterator[tuple[YamlPlace, Comparison | Relation]]:
    """Every comparison of a condition with its place inside it."""
    for key, value in cast(dict[str, Any], when).items():
        if key == "not":
            yield from (((key, *place), part) for place, part in _lines(value))
        elif key in ("all", "any"):
            for index, inner in enumerate(value):
                yield from (((key, index, *place), part) for place, part in _lines(inner))
        else:
            for part in _leaves(compile_condition({key: value})):
                place = (key, part.operator) if isinstance(value, dict) else (key,)
                yield place, part


def _leaves(condition: Condition) -> Iterator[Comparison | Relation]:
    if isinstance(condition, Comparison | Relation):
        yield condition
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from _leaves(part)
    elif isinstance(condition, Not):
        yield from _leaves(condition.part)
