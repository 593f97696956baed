"""How long the gate takes over one call: all rules, the facts, where arguments came from, a
policy of 200 rules."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

from bench.harness import Floor, Report
from bench.policy import RULES, policy
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.money import Money
from deskhand.model.principal import Principal, asserted
from deskhand.model.run import Effect, EffectKey, EffectState
from deskhand.model.totals import Limit, Total
from deskhand.tools import Context, Gate, Owned, Terms, ToolRegistry, resolver, tool
from tests.memory_ledger import FixedContext

WORDS = (
    "I bought this in spring and it never worked as it should; I would like to have it mended or my"
    " money back. "
)


class Order(Owned):
    status: str


@resolver(Order)
async def find_order(key: str, principal: Principal, ctx: Context) -> Order | None:
    return Order(id=key, owner="c-1", status="delivered")


@tool(effect="keyed", risk="medium")
async def refund(order: Order, amount: Money, reason: str = "damaged") -> dict[str, Any]:
    """Refund an order."""
    return {"refunded": str(amount)}


class Ledger:
    """Keeps nothing: look-ups and commits are the database's time, not the gate's."""

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: Any = None
    ) -> Effect:
        return Effect(key, tool, call_hash, EffectState.INTENDED)

    async def reopen(self, key: EffectKey) -> None: ...

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None: ...

    async def effects(
        self, run_id: str | None = None, state: EffectState | None = None
    ) -> list[Effect]:
        return []

    async def stopped(self) -> None: ...

    async def totals(self, places: Any) -> list[Total]:
        return [Total("day", "refund", "EUR", 1_200_000), Total("day", "refund", "calls", 2)]


def _context(principal: Principal) -> FixedContext:
    """Of a run in the middle: a long message, five tool results."""
    message = Message(
        id="m",
        conversation="c",
        sender=Address(address="ann@example.com"),
        body=WORDS * 50 + "It is order P-1.",
        received_at=datetime.now(UTC),
        principal=principal,
    )
    results: list[dict[str, Any]] = []
    for number in range(5):
        fields = {f"field {n}": f"value {n} of {number}" for n in range(200)}
        results.append({"data": fields})
    context = FixedContext(principal=principal)
    context.envelope = Envelope.of(message).changed(
        outputs={"act": {"results": results, "category": "refund"}}
    )
    return context


async def _spent(times: int) -> list[float]:
    """CPU milliseconds of each call, tool and look-up included, since both do nothing; in order."""
    terms = Terms(policy=policy(same_tool=True), caps=(Limit("day", "EUR", 10**9),))
    gate = Gate(ToolRegistry([refund]), Ledger(), desk="bench", terms=terms, resolvers=[find_order])
    context = _context(asserted("c-1", by="the bench", address="ann@example.com", tier="gold"))
    spent: list[float] = []
    for number in range(times + 20):
        arguments = {"order": "P-1", "amount": f"{number % 199 + 1} EUR"}
        begun = time.process_time_ns()
        answer = await gate.call("refund", arguments, allowed=["refund"], ctx=context)
        spent.append((time.process_time_ns() - begun) / 1e6)
        assert answer.verdict == "allow", answer
    return sorted(spent[20:])


def bench(*, quick: bool) -> Report:
    report = Report(
        "gate",
        f"CPU of one call through the gate with {RULES} rules for its tool, a 5 KB message and 5"
        " tool results",
    )
    spent = asyncio.run(_spent(300 if quick else 3000))
    median, p99 = spent[len(spent) // 2], spent[int(len(spent) * 0.99)]
    report.table.append(
        {"what": "one call, all rules", "median ms": round(median, 3), "p99 ms": round(p99, 3)}
    )
    report.floors.append(Floor("p99 of one call through the gate", p99, most=5, unit=" ms"))
    return report
