"""How long a policy takes to decide with 200 rules, and a reply's checks to read a reply."""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bench.harness import Floor, Report
from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.outgoing.backing import Backing
from deskhand.outgoing.commitments import check_commitments
from deskhand.outgoing.content import check_text
from deskhand.outgoing.content_finding import AllowedContent
from deskhand.policy.call_facts import CallFacts
from deskhand.policy.rule_policy import RulePolicy, compile_policy

NOW = datetime(2030, 1, 30, 12, 0, tzinfo=UTC)
RULES = 200
REPLY = (
    "Dear Carla,\n\nthank you for your message. Your parcel P-1001 left our warehouse on 28 January"
    " 2030 and should be with you on Friday. You can follow it at"
    " https://www.acme.example/track/P-1001. The refund of 49.90 EUR is on its way to your original"
    " payment method; it takes 3 to 5 working days.\n\nKind regards,\nsupport@acme.example\n"
)


def policy(same_tool: bool) -> RulePolicy:
    """Rules for one tool each, or the worst case: all for one tool, and only the last one
    matches."""
    rules = []
    for index in range(RULES - 1):
        when = {
            "tool": "refund" if same_tool else f"tool_{index}",
            "amount": {"at_most": f"{index + 1} EUR"},
            "customer.tier": {"in": [f"tier {index}", "gold"]},
            "any": [{"order.status": "delivered"}, {"totals.day.refund.calls": {"below": 3}}],
        }
        rules.append(RuleSpec(name=f"rule {index}", when=when, then="allow"))
    return compile_policy(
        PolicySpec(rules=(*rules, RuleSpec(name="rest", when={"tool": "refund"}, then="hold")))
    )


def facts() -> CallFacts:
    order = {
        "status": "delivered",
        "payment": {"kind": "card"},
        "delivered_on": "2030-01-10",
        "total": "500 EUR",
    }
    return CallFacts(
        "refund", "keyed", "medium", NOW, {"order": "P-1", "amount": "450 EUR", "reason": "damaged"},  # noqa: E501
        {"kind": "sender", "address": "carla@example.com", "tier": "gold"}, category="refund", channel="mail",  # noqa: E501
        totals={"day": {"calls": 3, "money": {"EUR": "120"}, "tools": {"refund": {"calls": 1}}}},
        origin={"amount": "message", "order": "message"}, objects={"order": order},
    )  # fmt: skip


def timed(work: Callable[[], Any], times: int) -> list[float]:
    """CPU milliseconds of each, in order."""
    spent = []
    for _ in range(times):
        begun = time.process_time_ns()
        work()
        spent.append((time.process_time_ns() - begun) / 1e6)
    return sorted(spent)


def bench(*, quick: bool) -> Report:
    report = Report(
        "policy",
        f"CPU of one decision with {RULES} rules, facts flattened anew each time, and of a reply's"
        " checks",
    )
    times = 500 if quick else 5000
    own = AllowedContent(hosts=("*.acme.example",), addresses=("support@acme.example",))
    backing = Backing(now=NOW)
    spread, same = policy(same_tool=False), policy(same_tool=True)
    cases: dict[str, Callable[[], Any]] = {
        f"decide, {RULES} rules for {RULES} tools": lambda: spread.decide(facts()),
        f"decide, {RULES} rules for one tool, the last matches": lambda: same.decide(facts()),
        f"content check, {len(REPLY)} characters": lambda: check_text(REPLY, own),
        f"commitments check, {len(REPLY)} characters": lambda: check_commitments(
            REPLY, "en", backing
        ),
    }
    for what, work in cases.items():
        work()
        spent = timed(work, times if what.startswith("decide") else times // 10)
        median, high = statistics.median(spent), spent[int(len(spent) * 0.99)]
        report.table.append({"what": what, "median ms": round(median, 4), "p99 ms": round(high, 4)})
        if what.startswith("decide"):
            report.floors.append(Floor(f"p99 of {what}", high, most=5, unit=" ms"))
    return report
