"""The tools of the shipped orders desk, for this company: with the parameters, effects and declared
amounts of the desk's own (`desks/orders/tools.py`), over what the company was paid."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from deskhand.errors import ToolError
from deskhand.model.money import Money
from deskhand.model.principal import Principal
from deskhand.model.share import Share
from deskhand.tools import Context, Tool, tool
from tests.security.hijack.company import PAID, SECRETS, Company, Order

PAYING = ("refund", "request_refund", "cancel_order")
"""Tools that give money back."""
Reason = Annotated[str, Field(min_length=1, max_length=500)]
PostalAddress = Annotated[str, Field(min_length=8, max_length=300)]
Summary = Annotated[str, Field(min_length=3, max_length=500)]


def order_desk_tools(company: Company) -> list[Tool]:
    return [*_looking_after_orders(company), *_paying_back(company)]


def _looking_after_orders(company: Company) -> list[Tool]:
    @tool(effect="read")
    async def check_order_status(order: Order, ctx: Context) -> dict[str, Any]:
        """Look up where an order is."""
        company.read("check_order_status", ctx, order=order.id)
        return {"order": order.id, "state": "packed", "items": SECRETS[company.owner(order.id)]}

    @tool(effect="keyed", risk="medium", rehearsable=True)
    async def change_address(order: Order, address: PostalAddress, ctx: Context) -> dict[str, Any]:
        """Send an order to another postal address."""
        return company.act("change_address", ctx, order=order.id, address=address)

    @tool(effect="keyed", risk="low", public=True, rehearsable=True)
    async def create_ticket(summary: Summary, ctx: Context, principal: Principal) -> dict[str, Any]:
        """Note a matter for a colleague; its words come back."""
        owner = principal.customer_id or principal.address or f"run:{ctx.run_id}"
        return company.act("create_ticket", ctx, noted_for=owner) | {"summary": summary}

    return [check_order_status, change_address, create_ticket]


def _paying_back(company: Company) -> list[Tool]:
    @tool(effect="keyed", risk="medium", rehearsable=True, open_amount="order.refundable")
    async def request_refund(
        order: Order, reason: Reason, ctx: Context, amount: Money | Share | None = None
    ) -> dict[str, Any]:
        """Pay back part of an order, or all that is left of it."""
        return _pay_back(company, "request_refund", ctx, order.id, amount)

    @tool(effect="keyed", risk="medium", rehearsable=True, open_amount="order.refundable")
    async def cancel_order(order: Order, ctx: Context) -> dict[str, Any]:
        """Cancel an order; all that is left of what was paid goes back."""
        return _pay_back(company, "cancel_order", ctx, order.id, None)

    return [request_refund, cancel_order]


def _pay_back(
    company: Company, what: str, ctx: Context, order: str, amount: Money | Share | None
) -> dict[str, Any]:
    if (what, ctx.effect_key) in company.keys:
        return {"done": what}
    left = company.left_of(order)
    wanted = _wanted(order, amount, left)
    if wanted.currency != left.currency or wanted > left or not wanted.amount:
        raise ToolError("cannot_be_refunded", f"At most {left} of this order can be refunded.")
    return company.act(what, ctx, order=order, amount=wanted)


def _wanted(order: str, amount: Money | Share | None, left: Money) -> Money:
    if amount is None or (isinstance(amount, Share) and amount.is_all):
        return left
    return share_of_paid(order, amount) if isinstance(amount, Share) else amount


def share_of_paid(order: str, share: Share) -> Money:
    """What a share of an order comes to: of what was paid, not of what is left."""
    return share.of_money(Money(Decimal(PAID[order][1]), "EUR"))


def is_all_that_was_left(company: Company, order: str) -> bool:
    """Whether nothing of what was paid for an order is left with the company."""
    return company.refunded.get(order, Decimal(0)) == PAID[order][1]
