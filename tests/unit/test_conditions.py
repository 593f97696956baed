"""The condition language: exact, total, deterministic, and readable."""

import math
import timeit
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.conditions import OPERATORS, ConditionError, compile_condition

NAMES = ("category", "confidence", "customer.tier", "customer", "tags")
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
anything = (
    values
    | st.just(math.nan)
    | st.just(Decimal("sNaN"))
    | st.just(object())
    | st.binary(max_size=3)
)
facts_ = st.dictionaries(
    st.sampled_from((*NAMES, "tier")), anything | st.dictionaries(st.just("tier"), anything)
)
numbers = st.integers() | st.floats(allow_nan=False)
operators = st.one_of(
    st.tuples(st.sampled_from(["is", "is_not"]), values),
    st.tuples(st.sampled_from(["in", "not_in"]), st.lists(values, min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["at_least", "at_most", "above", "below"]), numbers),
    st.tuples(st.just("contains"), scalars.filter(lambda value: value != "")),
    st.tuples(st.just("starts_with"), st.text(min_size=1, max_size=3)),
    st.tuples(st.just("exists"), st.booleans()),
)
lines = st.dictionaries(
    st.sampled_from(NAMES),
    scalars | st.lists(operators, min_size=1, max_size=2).map(dict),
    min_size=1,
    max_size=3,
)
conditions = st.recursive(
    lines,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"all": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"any": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=6,
)


def holds(condition: object, /, facts: Mapping[str, Any] | None = None, **named: Any) -> bool:
    return compile_condition(condition).matches(named if facts is None else facts)


def test_every_line_of_a_condition_must_hold() -> None:
    spam = {"category": "spam", "confidence": {"at_least": 0.95}}
    assert holds(spam, category="spam", confidence=0.95)
    assert not holds(spam, category="spam", confidence=0.94)
    assert not holds(spam, category="inquiry", confidence=1)


@pytest.mark.parametrize(
    ("condition", "fact", "expected"),
    [
        ("refund", "refund", True),
        ("refund", "refund_all", False),
        ("refund", "Refund", False),
        (True, True, True),
        (True, 1, False),
        (1, True, False),
        (1, 1.0, True),
        (1, "1", False),
        (0.5, Decimal("0.5"), True),
        (None, None, True),
        (None, "", False),
        ({"is": ["a", 1]}, ["a", 1], True),
        ({"is": ["a", 1]}, ("a", 1), True),
        ({"is": ["a", 1]}, ["a", True], False),
        ({"is": {"a": [1]}}, {"a": [1]}, True),
        ({"is": {"a": [1]}}, {"a": [1], "b": 2}, False),
        ({"is_not": "spam"}, "inquiry", True),
        ({"is_not": "spam"}, 3, True),
        ({"is_not": "spam"}, "spam", False),
        ({"in": ["pro", 2]}, "pro", True),
        ({"in": ["pro", 2]}, 2, True),
        ({"in": ["pro", 2]}, ["pro"], False),
        ({"in": [1]}, True, False),
        ({"not_in": ["pro", 2]}, "free", True),
        ({"not_in": ["pro", 2]}, 2, False),
        ({"at_least": 2}, 2, True),
        ({"at_least": 2}, "3", False),
        ({"at_least": 0}, True, False),
        ({"at_least": 0}, math.nan, False),
        ({"at_most": 2}, 10**400, False),
        ({"above": 2}, Decimal("2.1"), True),
        ({"above": 2}, 2, False),
        ({"below": 2}, Decimal("sNaN"), False),
        ({"below": 2}, 1.9, True),
        ({"contains": "urgent"}, "very urgent!", True),
        ({"contains": "urgent"}, ["urgent"], True),
        ({"contains": "urgent"}, ["very urgent!"], False),
        ({"contains": 1}, [True], False),
        ({"contains": 1}, "1", False),
        ({"contains": "a"}, {"a": 1}, False),
        ({"starts_with": "Re:"}, "Re: hello", True),
        ({"starts_with": "Re:"}, ["Re:"], False),
        ({"exists": True}, None, True),
        ({"exists": False}, None, False),
        ({"at_least": 1, "below": 5}, 3, True),
        ({"at_least": 1, "below": 5}, 5, False),
    ],
)
def test_a_comparison_is_exact(condition: object, fact: Any, expected: bool) -> None:
    assert holds({"fact": condition}, fact=fact) is expected


@pytest.mark.parametrize("operator", [name for name in OPERATORS if name != "exists"])
def test_a_missing_fact_makes_its_line_false(operator: str) -> None:
    operand: Any = {"in": ["x"], "not_in": ["x"], "contains": "x", "starts_with": "x"}.get(
        operator, 1
    )
    assert not holds({"fact": {operator: operand}}, facts={})


def test_exists_tells_a_missing_fact_from_a_present_one() -> None:
    assert holds({"fact": {"exists": False}}, facts={})
    assert not holds({"fact": {"exists": True}}, facts={})


def test_a_text_enum_compares_as_its_text() -> None:
    class Tier(StrEnum):
        PRO = "pro"

    assert holds({"tier": "pro", "customer": {"in": ["pro"]}}, tier=Tier.PRO, customer=Tier.PRO)


def test_dotted_names_reach_into_mappings_and_prefer_the_exact_key() -> None:
    condition = {"customer.tier": "pro"}
    assert holds(condition, facts={"customer": {"tier": "pro"}})
    assert holds(condition, facts={"customer.tier": "pro", "customer": {"tier": "free"}})
    assert not holds(condition, facts={"customer.tier": "free", "customer": {"tier": "pro"}})
    assert not holds(condition, facts={"customer": "tier"})
    assert not holds(condition, facts={"customer": {}})
    assert holds({"a.b.c": 1}, facts={"a": {"b.c": 1, "b": {"c": 2}}})
    assert holds({"a.b.c": 1}, facts={"a": {"b": {"c": 1}}})
    assert holds({"a.b.c": {"exists": False}}, facts={"a": {"b": None}})


def test_combinators_nest() -> None:
    condition = {
        "any": [{"tier": "pro"}, {"all": [{"tier": "free"}, {"not": {"open": {"above": 0}}}]}]
    }
    assert holds(condition, tier="pro")
    assert holds(condition, tier="free", open=0)
    assert not holds(condition, tier="free", open=1)


def test_not_is_true_for_a_missing_fact() -> None:
    assert holds({"not": {"category": "spam"}}, facts={})


def test_changing_the_source_afterwards_changes_nothing() -> None:
    source = {"tier": {"in": ["pro"]}, "tags": {"is": ["a"]}}
    compiled = compile_condition(source)
    source["tier"]["in"].append("free")
    source["tags"]["is"].append("b")
    assert compiled.matches({"tier": "pro", "tags": ["a"]})
    assert not compiled.matches({"tier": "free", "tags": ["a"]})


def test_it_names_the_facts_it_reads() -> None:
    condition = {
        "a": 1,
        "any": [{"b.c": 2}, {"not": {"d": {"exists": True}}}],
        "e": {"at_least": 1, "below": 2},
    }
    assert compile_condition(condition).facts() == {"a", "b.c", "d", "e"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            {"category": "spam", "confidence": {"at_least": 0.95}},
            "category is spam and confidence at least 0.95",
        ),
        ({"tier": {"in": ["pro", "two words"]}}, 'tier is one of [pro, "two words"]'),
        ({"done": True, "code": "true"}, 'done is true and code is "true"'),
        ({"code": "12"}, 'code is "12"'),
        ({"name": "Škoda"}, "name is Škoda"),
        ({"order": {"exists": True}}, "order exists"),
        ({"order": {"exists": False}}, "order does not exist"),
        ({"subject": {"starts_with": "Re:"}}, 'subject starts with "Re:"'),
        ({"any": [{"a": 1}, {"b": 2}], "c": None}, "(a is 1 or b is 2) and c is null"),
        ({"any": [{"a": 1, "b": 2}, {"c": 3}]}, "(a is 1 and b is 2) or c is 3"),
        ({"not": {"a": 1}}, "not (a is 1)"),
        ({"n": {"above": 1, "at_most": 3}}, "n above 1 and n at most 3"),
    ],
)
def test_it_reads_in_words(condition: object, words: str) -> None:
    assert str(compile_condition(condition)) == words


@pytest.mark.parametrize(
    ("condition", "path", "problem", "fix"),
    [
        (
            {"confidence": {"atleast": 1}},
            ("confidence", "atleast"),
            "no operator `atleast`",
            "did you mean `at_least`",
        ),
        (
            {"customer": {"tier": "pro"}},
            ("customer", "tier"),
            "no operator `tier`",
            "`customer.tier`",
        ),
        ({"tier": ["pro", "free"]}, ("tier",), "bare list", "{in: [...]}"),
        ({"tier": {}}, ("tier",), "no operator", "at_least"),
        ({}, (), "empty", "{category: spam}"),
        ("spam", (), '"spam" is no condition', "{category: spam}"),
        (None, (), "nothing is no condition", "{category: spam}"),
        ({1: "x"}, (), "1 is not text", '"1"'),
        ({"a": {1: "x"}}, ("a", "1"), "no operator `1`", "at_least"),
        ({"all": True}, ("all",), "needs a list", "all: [{...}, {...}]"),
        ({"any": []}, ("any",), "needs a list", "any: [{...}, {...}]"),
        ({"any": [{"a": 1}, {"b": {"blow": 2}}]}, ("any", 1, "b", "blow"), "`blow`", "`below`"),
        ({"not": [{"a": 1}]}, ("not",), "a list is no condition", "mapping"),
        ({"amount": {"at_most": "fifty"}}, ("amount", "at_most"), 'cannot use "fifty"', "a number"),
        ({"amount": {"at_most": True}}, ("amount", "at_most"), "cannot use true", "a number"),
        ({"amount": math.nan}, ("amount",), "cannot be compared", "number"),
        ({"tier": {"in": "pro"}}, ("tier", "in"), 'cannot use "pro"', "a list"),
        ({"tier": {"in": []}}, ("tier", "in"), "an empty list", "a list"),
        ({"subject": {"contains": ""}}, ("subject", "contains"), 'cannot use ""', "piece"),
        ({"subject": {"starts_with": 3}}, ("subject", "starts_with"), "the number 3", "text"),
        ({"subject": {"exists": "yes"}}, ("subject", "exists"), 'cannot use "yes"', "`true`"),
        ({"a..b": 1}, ("a..b",), "no name of a fact", "dots"),
        ({"when": object()}, ("when",), "cannot be compared", "quotes"),
    ],
)
def test_a_wrong_condition_says_where_and_what_to_write(
    condition: object, path: tuple[str | int, ...], problem: str, fix: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(condition)
    assert caught.value.path == path
    assert problem in caught.value.problem
    assert fix in caught.value.fix
    assert caught.value.problem in str(caught.value)


def test_endless_nesting_is_refused_not_followed() -> None:
    loop: dict[str, Any] = {}
    loop["not"] = loop
    value: list[Any] = []
    value.append(value)
    for condition in (loop, {"a": {"is": value}}):
        with pytest.raises(ConditionError, match="nested more than"):
            compile_condition(condition)


@given(conditions, facts_)
def test_matching_is_total_and_deterministic(
    condition: dict[str, Any], facts: dict[str, Any]
) -> None:
    compiled = compile_condition(condition)
    first = compiled.matches(facts)
    assert isinstance(first, bool)
    assert compiled.matches(facts) is first
    assert str(compiled)
    assert compiled.facts() <= set(NAMES)


@given(conditions, conditions, facts_)
def test_de_morgan(a: dict[str, Any], b: dict[str, Any], facts: dict[str, Any]) -> None:
    assert holds({"not": {"all": [a, b]}}, facts) is holds({"any": [{"not": a}, {"not": b}]}, facts)
    assert holds({"not": {"any": [a, b]}}, facts) is holds({"all": [{"not": a}, {"not": b}]}, facts)


@given(lines, facts_)
def test_a_mapping_is_all_of_its_lines(condition: dict[str, Any], facts: dict[str, Any]) -> None:
    assert holds(condition, facts) is all(
        holds({key: value}, facts) for key, value in condition.items()
    )


@given(values, values)
def test_is_and_is_not_divide_all_present_facts(fact: Any, operand: Any) -> None:
    assert holds({"fact": {"is": operand}}, fact=fact) is not holds(
        {"fact": {"is_not": operand}}, fact=fact
    )


@given(values)
def test_every_value_is_itself(value: Any) -> None:
    assert holds({"fact": {"is": value}}, fact=value)
    assert holds({"fact": {"in": [value]}}, fact=value)


def test_a_match_costs_microseconds() -> None:
    compiled = compile_condition(
        {"category": "spam", "confidence": {"at_least": 0.95}, "customer.tier": "pro"}
    )
    facts = {"category": "spam", "confidence": 0.99, "customer": {"tier": "pro"}}
    assert min(timeit.repeat(lambda: compiled.matches(facts), number=1000, repeat=5)) < 0.05
