"""A policy's decision: the first rule that matches wins, and what nothing allows is denied."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.policy import LimitSpec, PolicySpec, RuleSpec
from deskhand.model.money import Money
from deskhand.policy.call_facts import CallFacts, facts_of
from deskhand.policy.rule_policy import NullPolicy, RulePolicy, compile_policy

NOON = datetime(2030, 1, 30, 12, 0, tzinfo=UTC)


def call(tool: str = "refund", effect: str = "keyed", **known: Any) -> CallFacts:
    return CallFacts(tool=tool, effect=effect, risk="medium", at=NOON, **known)


def policy(*rules: dict[str, Any]) -> RulePolicy:
    return compile_policy(PolicySpec(rules=tuple(RuleSpec.model_validate(rule) for rule in rules)))


REFUNDS = policy(
    {
        "name": "small refunds pass",
        "when": {
            "tool": "refund",
            "amount": {"at_most": "50 EUR"},
            "customer.tier": {"in": ["pro", "enterprise"]},
        },
        "then": "allow",
    },
    {
        "name": "other refunds ask",
        "when": {"tool": "refund"},
        "then": "hold",
        "why": "over 50 EUR",
        "say": "We look.",
    },
)


@pytest.mark.parametrize(
    ("amount", "tier", "rule"),
    [
        ("50 EUR", "pro", "small refunds pass"),
        ("50.01 EUR", "pro", "other refunds ask"),
        ("50 EUR", "free", "other refunds ask"),
        ("50 EUR", None, "other refunds ask"),
        ("10 USD", "pro", "other refunds ask"),
        (10, "pro", "other refunds ask"),
        ({"amount": 49.99, "currency": "EUR"}, "enterprise", "small refunds pass"),
    ],
)
def test_the_first_rule_that_matches_decides(amount: Any, tier: str | None, rule: str) -> None:
    decision = REFUNDS.decide(call(arguments={"amount": amount}, principal={"tier": tier}))
    assert decision.rule == rule
    assert decision.verdict == ("allow" if rule.startswith("small") else "hold")


def test_a_hold_tells_the_reviewer_why_and_the_model_only_what_it_may_hear() -> None:
    decision = REFUNDS.decide(call(arguments={"amount": "900 EUR"}))
    assert (decision.reason, decision.say) == ("over 50 EUR", "We look.")
    silent = policy(
        {
            "name": "secret threshold",
            "when": {"tool": "refund"},
            "then": "deny",
            "why": "fraud list",
        }
    )
    assert "fraud" not in silent.decide(call()).say
    assert "secret" not in silent.decide(call()).say


def test_names_are_exact() -> None:
    decision = REFUNDS.decide(
        call("refund_all", arguments={"amount": "1 EUR"}, principal={"tier": "pro"})
    )
    assert (decision.verdict, decision.rule) == ("deny", "no_rule")


def test_without_a_rule_effects_are_denied_and_reads_pass() -> None:
    nothing = policy()
    assert nothing.decide(call(effect="reversible")).verdict == "deny"
    assert nothing.decide(call("find_order", "read")).verdict == "allow"
    assert nothing.decide(call("deliver_reply")).verdict == "allow"


def test_a_rule_may_hold_replies() -> None:
    at_night = policy(
        {
            "name": "night",
            "when": {"tool": "deliver_reply", "time.hour": {"below": 8}},
            "then": "hold",
        }
    )
    assert at_night.decide(call("deliver_reply")).verdict == "allow"
    early = CallFacts(tool="deliver_reply", effect="keyed", risk="medium", at=NOON.replace(hour=3))
    assert at_night.decide(early).verdict == "hold"


def test_an_argument_cannot_pose_as_another_fact() -> None:
    trusted = policy(
        {
            "name": "trusted",
            "when": {"category": "refund", "principal.kind": "login"},
            "then": "allow",
        }
    )
    forged = {"category": "refund", "principal": {"kind": "login"}, "principal.kind": "login"}
    assert trusted.decide(call(arguments=forged)).verdict == "deny"


def test_totals_origins_and_objects_are_facts() -> None:
    facts = call(
        arguments={"order": "P-1", "amount": "10 EUR"},
        principal={"kind": "sender", "address": "a@b.example"},
        objects={
            "order": {
                "status": "delivered",
                "payment": {"kind": "card"},
                "delivered_on": "2030-01-10",
            }
        },
        origin={"amount": "message"},
        totals={"day": {"calls": 3, "money": {"EUR": "120"}, "tools": {"refund": {"calls": 1}}}},
    )
    for condition in (
        {"order.status": "delivered", "order": "P-1"},
        {"order.payment.kind": "card", "arguments.order.payment.kind": "card"},
        {"order.delivered_on.age": {"at_most": "30 days", "above": "2 weeks"}},
        {"origin.amount": "message"},
        {"totals.day.money": {"at_least": "120 EUR", "below": "121 EUR"}},
        {"totals.day.money": {"at_most": "1 USD"}},
        {"totals.day.refund.calls": 1, "totals.day.calls": 3},
        {"time.weekday": "wednesday", "time.date": {"above": "2030-01-29"}},
        {"money": {"is": "10.00 EUR"}},
    ):
        assert (
            policy({"name": "r", "when": condition, "then": "allow"}).decide(facts).verdict
            == "allow"
        ), condition


def test_two_facts_are_compared() -> None:
    rule = policy(
        {
            "name": "another payment method that covers the order",
            "when": {
                "tool": "change_payment",
                "payment": {"is_not": {"fact": "order.payment"}},
                "payment.balance": {"at_least": {"fact": "order.total"}},
            },
            "then": "allow",
        }
    )

    def verdict(payment: str, balance: str, total: str) -> str:
        arguments = {"order": "1", "payment": payment}
        objects = {"order": {"payment": "card_1", "total": total}, "payment": {"balance": balance}}
        return rule.decide(call("change_payment", arguments=arguments, objects=objects)).verdict

    assert verdict("gift_2", "80 EUR", "79.99 EUR") == "allow"
    assert verdict("card_1", "80 EUR", "79.99 EUR") == "deny"
    assert verdict("gift_2", "79 EUR", "79.99 EUR") == "deny"
    assert verdict("gift_2", "80 EUR", "79 USD") == "deny"


def test_a_rule_that_denies_counts_also_for_another_currency() -> None:
    above = {"tool": "refund", "amount": {"above": {"fact": "order.left"}}}

    def verdict(amount: str, when: dict[str, Any]) -> str:
        rules = policy(
            {"name": "never more", "when": when, "then": "deny"},
            {"name": "the rest", "when": {"tool": "refund"}, "then": "hold"},
        )
        objects = {"order": {"left": "25 EUR"}}
        arguments = {"order": "1", "amount": amount}
        return rules.decide(call(arguments=arguments, objects=objects)).verdict

    assert verdict("25 EUR", above) == "hold"
    assert verdict("26 EUR", above) == "deny"
    assert verdict("20 USD", above) == "deny"
    assert verdict("20 USD", {"any": [above, {"tool": "other"}]}) == "deny"
    assert verdict("20 USD", {"all": [above, {"principal.kind": "nobody"}]}) == "hold"


def test_over_its_limit_an_allowing_rule_holds() -> None:
    limit = LimitSpec(per="day", calls=2, money=Money.of("100 EUR"))
    limited = policy({"name": "some", "when": {"tool": "refund"}, "then": "allow", "limit": limit})

    def verdict(amount: str, calls: int = 0, spent: str = "0") -> str:
        totals = {"day": {"tools": {"refund": {"calls": calls, "money": {"EUR": spent}}}}}
        return limited.decide(call(arguments={"amount": amount}, totals=totals)).verdict

    assert verdict("60 EUR", 1, "40") == "allow"
    assert verdict("60 EUR", 1, "40.01") == "hold"
    assert verdict("1 EUR", 2) == "hold"
    assert verdict("1 USD") == "hold"
    assert limited.decide(call()).verdict == "hold"


def test_an_error_of_the_policy_holds_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: CallFacts) -> dict[str, Any]:
        raise RuntimeError("broken")

    monkeypatch.setattr(CallFacts, "named", property(broken))
    decision = REFUNDS.decide(call())
    assert (decision.verdict, decision.rule, decision.requires_escalation) == (
        "hold",
        "policy_error",
        True,
    )
    assert "broken" not in decision.say


def test_the_null_policy_allows_everything() -> None:
    assert NullPolicy().decide(call(effect="irreversible")).verdict == "allow"


def test_recorded_facts_are_judged_as_they_were() -> None:
    facts = call(
        arguments={"order": "P-1", "amount": "10 EUR"},
        principal={"kind": "login", "tier": "pro"},
        objects={
            "order": {
                "delivered_on": datetime(2030, 1, 10, tzinfo=UTC),
                "total": Money.of("10 EUR"),
            }
        },
        totals={"day": {"calls": 1, "money": {"EUR": "5"}}},
        category="refund",
    )
    again = facts_of({"tool": "refund", "facts": facts.record()})
    assert again is not None
    assert REFUNDS.decide(again) == REFUNDS.decide(facts)
    condition = {
        "order.delivered_on.age": {"at_most": "30 days"},
        "order.total": {"at_most": "10 EUR"},
    }
    for known in (facts, again):
        assert (
            policy({"name": "r", "when": condition, "then": "allow"}).decide(known).verdict
            == "allow"
        )


@pytest.mark.parametrize(
    "record", [{}, {"facts": 3}, {"facts": {"tool": "x"}}, {"facts": {"at": "yesterday"}}]
)
def test_a_record_without_facts_has_none(record: dict[str, Any]) -> None:
    assert facts_of(record) is None
