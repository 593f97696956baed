"""What the orders desk can do for a customer about his own orders. Somebody else's order does not
exist for him: the gate looks up whose it is before any of these runs."""

import re
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from deskhand import (
    Context,
    Customer,
    Message,
    Money,
    Owned,
    Principal,
    Share,
    ToolError,
    message_fact,
    resolver,
    tool,
)

from . import order_tables
from .order_tables import CURRENCY, TABLES
from .status_words import status_of

Reason = Annotated[str, Field(min_length=1, max_length=500)]
Address = Annotated[str, Field(min_length=8, max_length=300)]
Summary = Annotated[str, Field(min_length=3, max_length=500)]


class Order(Owned):
    """One of the customer's own orders."""

    state: str
    items: str
    total: Money
    refunded: Money
    refundable: Money
    carrier: str
    tracking: str
    payment: str
    expected_on: date | None = None
    delivered_on: date | None = None


_ORDER_NUMBER = re.compile(r"\bO-?\s?\d{5}\b|\b\d{5}\b", re.IGNORECASE)


@message_fact("other_number")
def other_number(message: Message, text: str) -> bool:
    """`message.other_number` in the policy: a number beside the order's, which may be a sum that
    was not understood. All of an order is then not paid back by itself."""
    return re.search(r"\d", _ORDER_NUMBER.sub(" ", f"{message.subject} {text}")) is not None


@resolver(Customer)
async def find_customer(key: str, principal: Principal, ctx: Context) -> Customer | None:
    """The customer whom the shop knows by this id or address."""
    customer_id = await ctx.database.read(TABLES, partial(order_tables.customer_of, key=key))
    return None if customer_id is None else Customer(id=customer_id, address=principal.address)


@resolver(Order)
async def find_order(key: str, principal: Principal, ctx: Context) -> Order | None:
    """The order of this number, whoever it belongs to: the gate decides about that."""
    number = key.strip().upper()
    row = await ctx.database.read(TABLES, partial(order_tables.order_row, number=number))
    if row is None:
        return None
    return Order(
        id=row["id"],
        owner=row["owner"],
        contact=row["email"],
        state=row["state"],
        items=row["items"],
        total=_money(row["total_cents"]),
        refunded=_money(row["refunded_cents"]),
        refundable=_money(row["total_cents"] - row["refunded_cents"]),
        carrier=row["carrier"],
        tracking=row["tracking"],
        payment=row["payment"],
        expected_on=_day(row["expected_on"]),
        delivered_on=_day(row["delivered_on"]),
    )


def _money(cents: int) -> Money:
    return Money(Decimal(cents) / 100, CURRENCY)


def _day(written: str | None) -> date | None:
    return None if written is None else date.fromisoformat(written)


@tool(effect="read")
async def check_order_status(order: Order) -> dict[str, Any]:
    """Look up where one of the customer's own orders is, and when it arrives.

    Args:
        order: the order's number, as in O-10001
    """
    return status_of(
        number=order.id,
        state=order.state,
        items=order.items,
        carrier=order.carrier,
        tracking=order.tracking,
        expected_on=order.expected_on,
        delivered_on=order.delivered_on,
    )


@tool(effect="keyed", risk="medium", rehearsable=True, open_amount="order.refundable")
async def request_refund(
    order: Order, reason: Reason, ctx: Context, amount: Money | Share | None = None
) -> dict[str, Any]:
    """Pay back part or all of an order to the payment method it was paid with.

    Args:
        order: the order's number, as in O-10001
        reason: what was wrong, in the customer's words
        amount: how much, or which share of what the order cost, where it is not all of it
    """
    cents = _wanted_cents(order, amount)
    work = partial(
        order_tables.refund, key=ctx.effect_key, number=order.id, cents=cents, reason=reason
    )
    return await ctx.database.once(TABLES, ctx.effect_key, work)


def _wanted_cents(order: Order, amount: Money | Share | None) -> int | None:
    """None where all that is left shall go back."""
    if amount is None or (isinstance(amount, Share) and amount.is_all):
        return None
    return _cents(amount.of_money(order.total) if isinstance(amount, Share) else amount)


def _cents(amount: Money) -> int:
    if amount.currency != CURRENCY:
        raise ToolError("wrong_currency", f"Orders are paid in {CURRENCY}.")
    cents = amount.amount * 100
    if cents != cents.to_integral_value():
        raise ToolError("amount_too_low", "There are no parts of a cent.")
    return int(cents)


@tool(effect="keyed", risk="medium", rehearsable=True)
async def change_address(order: Order, address: Address, ctx: Context) -> dict[str, Any]:
    """Send an order to another postal address, as long as it has not been shipped.

    Args:
        order: the order's number, as in O-10001
        address: street, number, postcode and town
    """
    work = partial(order_tables.change_address, number=order.id, address=address)
    return await ctx.database.once(TABLES, ctx.effect_key, work)


@tool(effect="keyed", risk="medium", rehearsable=True, open_amount="order.refundable")
async def cancel_order(order: Order, ctx: Context) -> dict[str, Any]:
    """Cancel an order that has not been shipped; what was paid goes back.

    Args:
        order: the order's number, as in O-10001
    """
    work = partial(order_tables.cancel, number=order.id)
    return await ctx.database.once(TABLES, ctx.effect_key, work)


# public: anybody may leave a note for a colleague; the policy says how often
@tool(effect="keyed", risk="low", public=True, rehearsable=True)
async def create_ticket(summary: Summary, ctx: Context, principal: Principal) -> dict[str, Any]:
    """Note a matter for a colleague.

    Args:
        summary: what it is about, in the customer's words
    """
    owner = principal.customer_id or (principal.address or "").casefold() or f"run:{ctx.run_id}"
    work = partial(order_tables.open_ticket, key=ctx.effect_key, owner=owner, summary=summary)
    return await ctx.database.once(TABLES, ctx.effect_key, work)
