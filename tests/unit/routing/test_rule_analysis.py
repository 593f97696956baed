"""Rules that hide one another are found, each with a message that shows it; what is reported is
so."""

from typing import Any

import pytest
from hypothesis import given, settings

from deskhand import Router
from deskhand.config.sections.routing import RoutingRuleSection
from deskhand.model.message import Message
from deskhand.routing.examples import example_of, meets, text_for
from deskhand.routing.facts import RoutingFacts
from deskhand.routing.message_router import all_of
from deskhand.routing.rule_analysis import analyse_rules, implies, never
from tests.unit.routing.test_message_router import MESSAGES, RULES, rule


def found(*rules: RoutingRuleSection) -> list[tuple[str, str, str | None]]:
    return [(one.kind, one.rule, one.other) for one in analyse_rules(rules)]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ({"all": True}, {"sender_email": "a@x.cz"}),
        ({"sender_domain": "x.cz"}, {"sender_email": "A@X.cz", "subject_contains": "y"}),
        ({"subject_contains": "tea"}, {"subject_contains": "Teapot"}),
        ({"forwarded_from": "a@x.cz"}, {"sender_email": "a@x.cz"}),
        (
            {"any": [{"sender_domain": "x.cz"}, {"sender_domain": "y.cz"}]},
            {"sender_domain": "y.cz"},
        ),
        (
            {"sender_domain": "x.cz"},
            {"any": [{"sender_email": "a@x.cz"}, {"sender_email": "b@x.cz"}]},
        ),
        ({"not": {"sender_email": "a@x.cz"}}, {"not": {"sender_domain": "x.cz"}}),
        ({"attachment": True}, {"attachment": ".pdf"}),
        ({"header_match": {"X-A": "1"}}, {"header_match": {"x-a": "1", "X-B": "2"}}),
        ({"language": "cs"}, {"language": "cs", "intent": "refund"}),
    ],
)
def test_a_rule_behind_a_wider_one_is_shadowed(
    wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    first, second = rule("wide", **wide), rule("narrow", route="agent", **narrow)
    (finding,) = analyse_rules([first, second])
    assert (finding.kind, finding.rule, finding.other) == ("shadowed", "narrow", "wide")
    assert finding.example is not None
    assert found(second, first) == [], "the exception before the rule is as it should be"


@pytest.mark.parametrize(
    "match",
    [
        {},
        {"any": []},
        {"any": [{}, {"any": []}]},
        {"sender_email": "a@x.cz", "sender_domain": "y.cz"},
        {"sender_email": "a@x.cz", "not": {"sender_domain": "x.cz"}},
        {"all": True, "not": {"all": True}},
    ],
)
def test_a_rule_that_nothing_can_match_is_unreachable(match: dict[str, Any]) -> None:
    assert found(rule("never", **match)) == [("unreachable", "never", None)]


def test_rules_that_share_messages_and_part_ways_conflict() -> None:
    shop = rule("shop", sender_domain="x.cz")
    teapot = rule(
        "teapot",
        route="agent",
        subject_contains="teapot",
        header_match={"X-Shop": "^a[0-9]{2}(b|c)+$"},
    )
    (finding,) = analyse_rules([shop, teapot])
    assert (finding.kind, finding.rule, finding.other) == ("conflicting", "teapot", "shop")
    assert finding.example == {
        "from": "somebody@x.cz",
        "subject": "teapot",
        "channel": "mail",
        "headers": {"x-shop": "a11b"},
    }
    assert found(shop, rule("same way", subject_contains="teapot")) == []
    assert (
        found(rule("one", sender_email="a@x.cz"), rule("two", route="agent", sender_email="b@x.cz"))
        == []
    )


@pytest.mark.parametrize(
    "pattern", ["abc", "^a.c$", "[^a]b", r"\d{3}-\w+", "(one|two)x*", "a?b+?", r"[a-c]\s\."]
)
def test_a_text_is_made_for_a_pattern(pattern: str) -> None:
    import re

    assert re.search(pattern, text_for(pattern))


@settings(max_examples=300, deadline=None)
@given(RULES, MESSAGES)
def test_what_is_reported_is_so(rules: list[RoutingRuleSection], what: Message) -> None:
    faults = {one.rule for one in analyse_rules(rules) if one.kind in ("shadowed", "unreachable")}
    assert Router(rules, "inbox").route(what).rule not in faults
    facts = RoutingFacts(what)
    for one in rules:
        if all_of(one.match)(facts) is not None:
            assert not never(one.match)
            assert all(
                all_of(other.match)(facts) is not None
                for other in rules
                if implies(one.match, other.match)
            )


@settings(max_examples=200, deadline=None)
@given(RULES)
def test_an_example_matches_what_it_is_an_example_of(rules: list[RoutingRuleSection]) -> None:
    for one in rules:
        example = example_of(one.match)
        assert example is None or meets(example, one.match)
        assert example is None or not never(one.match)
