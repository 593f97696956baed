"""A call that names no amount may still move money: its tool says how much, and every cap, limit
and rule counts it."""

from typing import Any

import pytest

from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.errors import ConfigError
from deskhand.model.envelope import Envelope
from deskhand.model.money import Money
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.totals import Limit, counted_money
from deskhand.policy.call_facts import facts_of
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools import Context, Gate, GateAnswer, Terms, Tool, ToolRegistry, tool
from deskhand.tools.authority import Owned, resolver
from tests.kit import a_message
from tests.memory_ledger import FixedContext, MemoryLedger

ANN = Principal(kind=PrincipalKind.LOGIN, customer_id="ann", how="a test")
PAID = {"o1": "40 EUR", "o2": "45.50 EUR", "o3": "20 USD"}
DAY = (Limit("day", "EUR", counted_money("60")),)
UP_TO_42 = {"name": "small", "when": {"tool": "cancel_order", "money": {"at_most": "42 EUR"}}}


class Order(Owned):
    """An order."""

    refundable: Money
    note: str = ""


@resolver(Order)
async def find_order(key: str, principal: Principal, ctx: Context) -> Order | None:
    return Order(id=key, owner="ann", refundable=Money.of(PAID[key])) if key in PAID else None


@tool(effect="keyed", risk="medium", open_amount="order.refundable")
async def cancel_order(order: Order, ctx: Context) -> dict[str, Any]:
    """Cancel an order; what was paid goes back."""
    return {"cancelled": order.id}


@tool(effect="keyed", risk="medium", open_amount="order.refundable")
async def refund(order: Order, ctx: Context, amount: Money | None = None) -> dict[str, Any]:
    """Pay back part or all of an order."""
    return {"refunded": order.id}


@tool(effect="keyed", risk="medium", open_amount="orders.refundable")
async def refund_all(orders: list[Order], ctx: Context) -> dict[str, Any]:
    """Pay back several orders."""
    return {"refunded": [order.id for order in orders]}


class Desk:
    def __init__(self, **terms: Any) -> None:
        self._runs = 0
        self._gate = Gate(
            ToolRegistry([cancel_order, refund, refund_all]),
            MemoryLedger(),
            desk="d",
            terms=Terms(**terms),
            resolvers=[find_order],
        )

    async def ask(self, name: str, **arguments: Any) -> GateAnswer:
        self._runs += 1
        run = f"run{self._runs}"
        ctx = FixedContext(run_id=run, principal=ANN)
        words = f"Please cancel {arguments.get('order')}."
        ctx.envelope = Envelope.of(a_message(run, body=words).changed(principal=ANN), run_id=run)
        return await self._gate.call(name, arguments, allowed=[name], ctx=ctx)


async def test_a_cap_counts_what_goes_back_with_a_cancelled_order() -> None:
    desk = Desk(caps=DAY)
    assert (await desk.ask("cancel_order", order="o1")).verdict == "allow"
    second = await desk.ask("cancel_order", order="o2")
    assert (second.verdict, second.rule) == ("hold", "over_cap")


async def test_a_refund_counts_the_amount_it_names_and_all_of_the_order_without_one() -> None:
    desk = Desk(caps=DAY)
    assert (await desk.ask("refund", order="o2", amount="15 EUR")).verdict == "allow"
    assert (await desk.ask("refund", order="o2")).rule == "over_cap"
    assert (await desk.ask("refund", order="o1")).verdict == "allow"


async def test_the_sums_of_several_things_are_counted_together() -> None:
    assert (await Desk(caps=DAY).ask("refund_all", orders=["o1", "o2"])).rule == "over_cap"
    assert (await Desk(caps=DAY).ask("refund_all", orders=["o2"])).verdict == "allow"


async def test_another_currency_waits_for_a_person() -> None:
    assert (await Desk(caps=DAY).ask("cancel_order", order="o3")).rule == "over_cap"


async def test_two_people_approve_a_large_cancellation() -> None:
    desk = Desk(caps=(Limit("day", "EUR", 1),), four_eyes_over=Money.of("42 EUR"))
    assert (await desk.ask("cancel_order", order="o1")).approvals_needed == 1
    assert (await desk.ask("cancel_order", order="o2")).approvals_needed == 2


async def test_rules_and_their_limits_see_it() -> None:
    small = {**UP_TO_42, "then": "allow", "limit": {"per": "principal", "money": "70 EUR"}}
    policy = compile_policy(PolicySpec(rules=(RuleSpec.model_validate(small),)))
    desk = Desk(policy=policy)
    first = await desk.ask("cancel_order", order="o1")
    assert first.verdict == "allow"
    assert (await desk.ask("cancel_order", order="o2")).verdict == "deny"
    second = await desk.ask("cancel_order", order="o1")
    assert second.verdict == "hold", "40 and 40 are more than 70"
    kept = facts_of(first.record())
    assert kept is not None
    assert kept.money == Money.of("40 EUR"), "what is recorded is judged the same again"


def test_a_mistake_in_the_declaration_is_told_with_its_place() -> None:
    async def spare(order: Order, ctx: Context, other: Order | None = None) -> dict[str, Any]:
        """Do something."""
        return {}

    for wrong in ("order", "order.note", "order.nothing", "other.refundable", "ctx.refundable"):
        with pytest.raises(ConfigError, match=r"test_open_amounts\.py"):
            tool(effect="keyed", open_amount=wrong)(spare)
    made: Tool = tool(effect="keyed", open_amount="order.refundable")(spare)
    assert made.open_amount == ("order", "refundable")
