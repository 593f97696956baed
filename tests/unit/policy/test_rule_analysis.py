"""`policy check` finds exactly the rules that no call reaches, and contradictions, with an
example of each."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.config.fact_types import FactTypes
from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.config.tool_shape import ToolShape
from deskhand.policy.rule_analysis import PolicyFinding, check_policy
from deskhand.policy.rule_policy import RulePolicy, compile_policy

REFUND = ToolShape(
    "refund",
    "keyed",
    "medium",
    {
        "order": {"type": "string"},
        "amount": {"type": "string", "format": "money"},
        "items": {"type": "integer", "minimum": 0},
        "reason": {"type": "string", "enum": ["damaged", "late"]},
        "note": {"type": "string"},
        "tags": {"type": "array"},
    },
    frozenset({"order", "amount", "items", "reason", "note", "tags"}),
    frozenset({"order"}),
)
CANCEL = ToolShape(
    "cancel", "irreversible", "high", {"order": {"type": "string"}}, frozenset({"order"})
)
FIND = ToolShape("find_order", "read", "low", {"number": {"type": "string"}}, frozenset({"number"}))
TYPES = FactTypes([REFUND, CANCEL, FIND])
HOLD_CANCEL = {"name": "cancel", "when": {"tool": "cancel"}, "then": "hold"}


def compiled(*rules: dict[str, Any]) -> RulePolicy:
    return compile_policy(PolicySpec(rules=tuple(RuleSpec.model_validate(rule) for rule in rules)))


def findings(*rules: dict[str, Any]) -> list[PolicyFinding]:
    return check_policy(compiled(*rules, HOLD_CANCEL), TYPES)


def rule(name: str, then: str, **when: Any) -> dict[str, Any]:
    return {
        "name": name,
        "then": then,
        "when": {"tool": "refund"} | {key.replace("__", "."): value for key, value in when.items()},
    }


def test_sound_rules_have_no_findings() -> None:
    assert (
        findings(
            rule(
                "small",
                "allow",
                amount={"at_most": "50 EUR"},
                customer__tier={"in": ["pro", "enterprise"]},
            ),
            rule("rest", "hold"),
        )
        == []
    )


@pytest.mark.parametrize(
    "when",
    [
        {"amount": {"at_most": "50 EUR", "above": "50 EUR"}},
        {"amount": {"at_most": "50 EUR", "above": "10 USD"}},
        {"items": {"above": 4, "below": 5}},
        {"items": {"below": 0}},
        {"reason": "damaged", "not": {"reason": {"in": ["damaged", "late"]}}},
        {"reason": {"not_in": ["damaged", "late"]}},
        {"note": {"starts_with": "a"}, "all": [{"note": {"starts_with": "b"}}]},
        {"order": {"exists": False}},
        {"effect": "read"},
        {"time.hour": {"above": 23}},
        {"customer.tier": "pro", "principal.tier": "free"},
        {"amount": {"at_most": "5 EUR"}, "arguments.amount": {"at_least": "6 EUR"}},
        {"tags": {"contains": "a"}, "not": {"tags": {"contains": "a"}}},
        {"order": {"is": {"fact": "note"}}, "not": {"order": {"is": {"fact": "note"}}}},
        {"order.sent_on": {"below": "2030-01-01", "above": "2030-02-01"}},
        {"order.sent_on.age": {"below": "3 days", "above": "1 week"}},
        {"totals.day.money": {"above": "10 EUR", "below": "10 EUR"}},
    ],
)
def test_a_rule_that_never_matches_is_found(when: dict[str, Any]) -> None:
    found = findings(
        {"name": "never", "when": {"tool": "refund"} | when, "then": "deny"}, rule("rest", "hold")
    )
    assert [(one.kind, one.rule) for one in found] == [("never_matches", "never")]


@pytest.mark.parametrize(
    "when",
    [
        {"items": {"above": 4, "below": 6}},
        {"amount": {"above": "50 EUR", "below": "50.02 EUR"}},
        {
            "note": {"contains": "a"},
            "all": [{"note": {"contains": "b"}}, {"not": {"note": {"starts_with": "c"}}}],
        },
        {"tags": {"contains": "a"}, "not": {"tags": {"contains": "b"}}},
        {"not": {"customer.tier": {"exists": True}}},
        {
            "totals.day.money": {"above": "10 EUR"},
            "all": [{"totals.day.money": {"above": "10 USD"}}],
        },
        {"order": {"is_not": {"fact": "note"}}},
        {"origin.amount": "result:3"},
        {"time.date": {"at_least": "2030-01-01", "at_most": "2030-01-01"}},
    ],
)
def test_a_rule_that_can_match_is_not_accused(when: dict[str, Any]) -> None:
    assert (
        findings(
            {"name": "some", "when": {"tool": "refund"} | when, "then": "deny"},
            rule("rest", "hold"),
        )
        == []
    )


def test_a_shadowed_rule_names_what_decides_first_with_a_call() -> None:
    [found] = findings(
        rule("up to 100", "hold", amount={"at_most": "100 EUR"}),
        rule("above", "hold", amount={"above": "90 EUR"}),
        rule("exactly", "hold", amount={"at_least": "95 EUR", "at_most": "200 EUR"}),
        rule("rest", "deny"),
    )
    assert (found.kind, found.rule, found.others) == ("shadowed", "exactly", ("above",))
    assert found.example["tool"] == "refund"
    assert found.example["amount"].endswith("EUR")


def test_several_rules_together_may_shadow_one() -> None:
    [found] = findings(
        rule("low", "hold", items={"at_most": 5}),
        rule("high", "hold", items={"above": 5}),
        rule("never", "hold"),
    )
    assert (found.rule, found.others) == ("never", ("low", "high"))


def test_a_rule_that_says_the_opposite_too_late_contradicts() -> None:
    [found] = findings(rule("all", "allow"), rule("large ask", "hold", amount={"above": "50 EUR"}))
    assert (found.kind, found.rule, found.others) == ("contradicts", "large ask", ("all",))
    assert "not hold" in found.message


def test_a_looser_rule_before_a_stricter_one_of_the_same_calls_contradicts() -> None:
    [found] = findings(
        rule("small", "allow", amount={"at_most": "50 EUR"}),
        rule("free tier", "deny", customer__tier="free"),
        rule("rest", "hold"),
    )
    assert (found.kind, found.rule, found.others) == ("contradicts", "small", ("free tier",))
    assert found.example == {
        "tool": "refund",
        "amount": found.example["amount"],
        "principal.tier": "free",
    }
    assert (
        findings(
            rule("free tier", "deny", customer__tier="free"),
            rule("small", "allow", amount={"at_most": "50 EUR"}),
            rule("rest", "hold"),
        )
        == []
    )


def test_a_tool_that_nothing_allows_is_found() -> None:
    [found] = check_policy(compiled(rule("small", "allow", amount={"at_most": "50 EUR"})), TYPES)
    assert (found.kind, found.rule, found.example) == ("never_allowed", None, {"tool": "cancel"})
    denied = {"name": "never cancel", "when": {"tool": "cancel"}, "then": "deny"}
    assert check_policy(compiled(rule("small", "allow"), denied), TYPES) == []


# --- against looking at every call
# ------------------------------------------------------------------------------------

SMALL = ToolShape(
    "act", "keyed", "low",
    {"n": {"type": "integer", "minimum": 0, "maximum": 6}, "kind": {"type": "string", "enum": ["a", "b", "c"]}},  # noqa: E501
    frozenset({"n", "kind"}),
)  # fmt: skip
lines = st.one_of(
    st.tuples(
        st.just("n"),
        st.sampled_from(["at_least", "at_most", "above", "below", "is", "is_not"]),
        st.integers(0, 6),
    ),
    st.tuples(st.just("kind"), st.sampled_from(["is", "is_not"]), st.sampled_from("abc")),
    st.tuples(
        st.just("kind"),
        st.sampled_from(["in", "not_in"]),
        st.lists(st.sampled_from("abc"), min_size=1),
    ),
    st.tuples(
        st.just("customer.tier"), st.sampled_from(["is", "is_not"]), st.sampled_from(["x", "y"])
    ),
).map(lambda line: {line[0]: {line[1]: line[2]}})
conditions = st.recursive(
    lines,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"all": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=5,
)
TIERS: list[dict[str, Any]] = [{}]
TIERS += [{"customer.tier": tier, "principal.tier": tier} for tier in "xyz"]
CALLS = [
    {"tool": "act", "n": n, "kind": kind} | tier
    for n, kind, tier in product(range(7), "abc", TIERS)
]


@given(
    st.lists(
        st.tuples(conditions, st.sampled_from(["allow", "hold", "deny"])), min_size=1, max_size=4
    )
)
def test_exactly_the_rules_that_no_call_reaches_are_found(
    written: list[tuple[dict[str, Any], str]],
) -> None:
    rules = [
        {"name": str(index), "when": when, "then": then}
        for index, (when, then) in enumerate(written)
    ]
    policy = compiled(*rules)
    reached = set()
    for facts in CALLS:
        reached.add(next((one.name for one in policy.rules if one.matches(facts)), None))
    found = check_policy(policy, FactTypes([SMALL]))
    dead = {one.rule for one in found if one.kind in ("never_matches", "shadowed")}
    dead |= {
        one.rule for one in found if one.kind == "contradicts" and "never reached" in one.message
    }
    assert dead == {one.name for one in policy.rules} - reached
    for one in found:
        if one.kind == "contradicts" and one.rule not in dead:
            named = {rule.name: rule for rule in policy.rules}
            facts = one.example | {"customer.tier": one.example.get("principal.tier", "z")}
            facts = {
                name: value
                for name, value in facts.items()
                if name != "customer.tier" or "principal.tier" in one.example
            }
            assert one.rule is not None
            assert named[one.rule].matches(facts)
            assert named[one.others[0]].matches(facts)


def test_two_hundred_rules_are_checked() -> None:
    rules = [rule(str(index), "hold", items=index, note={"is_not": "x"}) for index in range(200)]
    assert findings(*rules) == []
