"""Tools of the acme desk: a typed function with a docstring is all there is to write."""

from decimal import Decimal
from functools import partial
from typing import Any

import sqlalchemy as sa

from deskhand import Context, Money, OwnedOrder, OwnTables, Principal, ToolError, resolver, tool

_metadata = sa.MetaData()
orders = sa.Table(
    "orders",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("carrier", sa.Text, nullable=False),
    sa.Column("eta", sa.Text, nullable=False),
    sa.Column("payment", sa.Text, nullable=False),
    sa.Column("refundable_cents", sa.Integer, nullable=False),
)
FIRST_ORDER = {
    "id": "O-12345",
    "owner": "ann@example.com",
    "status": "shipped",
    "carrier": "UPS",
    "eta": "Friday",
    "payment": "Visa",
    "refundable_cents": 4200,
}


def _create(database: sa.Connection) -> None:
    _metadata.create_all(database)
    database.execute(orders.insert(), [FIRST_ORDER])


class Order(OwnedOrder):
    """One of the customer's own orders."""

    status: str
    carrier: str
    eta: str
    payment: str
    refundable: Money


SHOP = OwnTables("shop", _create, customers={"orders": "owner"})


@resolver(Order)
async def find_order(key: str, principal: Principal, ctx: Context) -> Order | None:
    """The order of this number, whoever it belongs to: the gate decides about that."""
    row = await ctx.database.read(SHOP, partial(_order_row, number=key.strip().upper()))
    if row is None:
        return None
    refundable = Money(Decimal(row["refundable_cents"]) / 100, "EUR")
    return Order(
        id=row["id"],
        owner=row["owner"],
        status=row["status"],
        carrier=row["carrier"],
        eta=row["eta"],
        payment=row["payment"],
        refundable=refundable,
    )


def _order_row(database: sa.Connection, number: str) -> dict[str, Any] | None:
    query = sa.select(orders).where(orders.c.id == number)
    row = database.execute(query).mappings().first()
    return None if row is None else dict(row)


@tool(effect="read")
async def check_order_status(order: Order) -> dict[str, Any]:
    """Look up where one of the customer's own orders is."""
    return {"order": order.id, "status": order.status, "carrier": order.carrier, "eta": order.eta}


@tool(effect="keyed", risk="high", open_amount="order.refundable")
async def request_refund(order: Order, ctx: Context, amount: Money | None = None) -> dict[str, Any]:
    """Refund part or all of an order to the payment method it was paid with."""
    wanted = amount or order.refundable
    if wanted > order.refundable:
        raise ToolError(
            "amount_too_high", f"At most {order.refundable} of this order can be refunded."
        )
    work = partial(_refund, number=order.id, cents=int(wanted.amount * 100))
    await ctx.database.once(SHOP, ctx.effect_key, work)
    return {"order": order.id, "amount": str(wanted), "payment": order.payment}


def _refund(database: sa.Connection, number: str, cents: int) -> None:
    left = orders.c.refundable_cents
    taken = orders.update().where(orders.c.id == number, left >= cents)
    if database.execute(taken.values(refundable_cents=left - cents)).rowcount != 1:
        raise ToolError("amount_too_high", "Less than that is left of this order.")
