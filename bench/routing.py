"""Deciding where a message goes: CPU a message with ten to ten thousand rules, and how mixed
conditions cost."""

import random
import statistics
import time
from datetime import UTC, datetime
from typing import Any

from bench.harness import Floor, Report
from deskhand.config.sections.routing import RoutingRuleSection
from deskhand.model.message import Address, Message
from deskhand.routing.message_router import MessageRouter

SIZES = (10, 100, 1000, 10_000)
BODY = (
    "Dear shop, the teapot that I ordered last week arrived broken. Can you send another one? " * 15
)


def rules(kind: str, number: int) -> list[RoutingRuleSection]:
    """Exact rules, one of each kind in turn, and a catch-all behind them."""
    made = [{"name": f"{kind} {one}", "match": _match(kind, one)} for one in range(number - 1)]
    made.append({"name": "default", "match": {"all": True}})
    return [RoutingRuleSection.model_validate(one) for one in made]


def _match(kind: str, one: int) -> dict[str, Any]:
    exact: tuple[dict[str, Any], ...] = (
        {"sender_email": f"customer{one}@shop{one % 50}.example"},
        {"sender_domain": f"company{one}.example"},
        {"forwarded_from": f"info{one}@helpdesk.example"},
    )
    if kind == "exact":
        return exact[one % 3]
    return {"subject_contains": f"order {one} of", "header_match": {"X-Shop": f"^shop-{one}$"}}


def messages(number: int, most: int) -> list[Message]:
    """Mails of about 1.3 KB: half of them match an exact rule, half the catch-all alone."""
    chance = random.Random(7)
    found: list[Message] = []
    for one in range(number):
        which = chance.randrange(most)
        senders = (
            f"Customer{which}@shop{which % 50}.example",
            f"x@company{which}.example",
            "notify@crisp.example",
        )
        sender, body = "somebody@elsewhere.example", BODY
        if one % 2:
            sender = senders[which % 3]
        if one % 2 and which % 3 == 2:
            body = f"{BODY}\nfrom info{which}@helpdesk.example"
        found.append(
            Message(
                id=str(one),
                conversation=str(one),
                channel="mail",
                sender=Address(address=sender),
                subject="My teapot arrived broken",
                body=body,
                headers={"reply-to": "ann@example.com", "x-shop": "shop"},
                received_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
        )
    return found


def microseconds(router: MessageRouter, mails: list[Message], rounds: int) -> list[float]:
    """CPU of each decision, the quickest of several rounds: other work on the machine only ever
    adds."""
    best = [float("inf")] * len(mails)
    for _ in range(rounds):
        for number, mail in enumerate(mails):
            start = time.thread_time_ns()
            router.route(mail)
            best[number] = min(best[number], (time.thread_time_ns() - start) / 1000)
    return best


def bench(*, quick: bool) -> Report:
    report = Report("routing", "CPU to decide where a message goes")
    rounds = 3 if quick else 20
    for kind, sizes in (("exact", SIZES), ("subject and header", (10, 100))):
        for size in sizes:
            router = MessageRouter(rules(kind, size), "inbox")
            taken = microseconds(router, messages(500, size), rounds)
            middle, late = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
            report.runs[f"{size} {kind}"] = [{"p50_us": middle, "p99_us": late}]
            report.table.append(
                {"rules": f"{size:,} {kind}", "p50 us": round(middle, 1), "p99 us": round(late, 1)}
            )
    hundred, many = (report.runs[f"{size} exact"][0]["p50_us"] for size in (100, 10_000))
    report.floors.append(Floor("p50 with 10,000 exact rules", many, most=50, unit=" us"))
    report.floors.append(
        Floor("10,000 exact rules beside 100", many / hundred, most=2, unit=" times")
    )
    return report
