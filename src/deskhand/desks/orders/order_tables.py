"""The desk's own tables: orders, what was paid back, and tickets. Every function is one
transaction's work."""

import base64
import csv
import hashlib
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deskhand import OwnTables, ToolError

CURRENCY = "EUR"
PROCESSING, PACKED, SHIPPED = "processing", "packed", "shipped"
CANCELLED = "cancelled"
NOT_SHIPPED = (PROCESSING, PACKED)

_DATA = Path(__file__).parent / "data"
_metadata = sa.MetaData()
now = time.time

orders = sa.Table(
    "orders",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("items", sa.Text, nullable=False),
    sa.Column("total_cents", sa.Integer, nullable=False),
    sa.Column("refunded_cents", sa.Integer, nullable=False),
    sa.Column("carrier", sa.Text, nullable=False),
    sa.Column("tracking", sa.Text, nullable=False),
    sa.Column("payment", sa.Text, nullable=False),
    sa.Column("ship_to", sa.Text, nullable=False),
    sa.Column("ordered_on", sa.Text, nullable=False),
    sa.Column("shipped_on", sa.Text),
    sa.Column("delivered_on", sa.Text),
    sa.Column("expected_on", sa.Text),
    sa.Index("orders_by_email", "email"),
)
refunds = sa.Table(
    "refunds",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("order_id", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("cents", sa.Integer, nullable=False),
    sa.Column("payment", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("made_at", sa.Float, nullable=False),
)
tickets = sa.Table(
    "tickets",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("made_at", sa.Float, nullable=False),
)


def order_row(db: sa.Connection, number: str) -> dict[str, Any] | None:
    row = db.execute(sa.select(orders).where(orders.c.id == number)).mappings().first()
    return None if row is None else dict(row)


def customer_of(db: sa.Connection, key: str) -> str | None:
    """The id of the customer with this id or address; None where nobody ordered under it."""
    by_address = sa.func.lower(orders.c.email) == key.strip().lower()
    owners = sa.select(orders.c.owner).where(sa.or_(orders.c.owner == key, by_address)).distinct()
    ids = db.execute(owners.limit(2)).scalars().all()
    return ids[0] if len(ids) == 1 else None


def refund(
    db: sa.Connection, key: str, number: str, cents: int | None, reason: str
) -> dict[str, Any]:
    """Pays back part of an order, or all that is left of it.

    The order's row is changed only where enough is left: of two refunds at once the second finds
    what the first has taken.
    """
    row = _existing_order(db, number)
    _check_refundable(row)
    left = row["total_cents"] - row["refunded_cents"]
    wanted = left if cents is None else cents
    if wanted > left:
        raise ToolError(
            "amount_too_high", f"At most {amount_of(left)} of this order can be refunded."
        )
    if wanted <= 0:
        raise ToolError("amount_too_low", "There is nothing to refund in that.")
    enough = sa.and_(
        orders.c.id == number, orders.c.total_cents - orders.c.refunded_cents >= wanted
    )
    taken = orders.update().where(enough, orders.c.refunded_cents == row["refunded_cents"])
    changed = db.execute(taken.values(refunded_cents=orders.c.refunded_cents + wanted))
    if changed.rowcount != 1:
        raise ToolError("already_refunded", f"Order {number} is being refunded already.")
    made = {
        "id": number_for("RF", key),
        "order_id": number,
        "owner": row["owner"],
        "cents": wanted,
        "payment": row["payment"],
        "reason": reason,
        "made_at": now(),
    }
    db.execute(refunds.insert().values(made))
    return {
        "refund": made["id"],
        "order": number,
        "amount": amount_of(wanted),
        "payment": row["payment"],
        "left": amount_of(left - wanted),
    }


def _check_refundable(row: dict[str, Any]) -> None:
    number = row["id"]
    if row["refunded_cents"] >= row["total_cents"]:
        raise ToolError("already_refunded", f"Order {number} was refunded in full.")
    if row["state"] == CANCELLED:
        raise ToolError("order_cancelled", f"Order {number} was cancelled.")
    if row["state"] in NOT_SHIPPED:
        raise ToolError("not_shipped_yet", f"Order {number} has not been shipped: cancel it.")
    if row["state"] == SHIPPED:
        raise ToolError("still_on_its_way", f"Order {number} is still on its way.")


def change_address(db: sa.Connection, number: str, address: str) -> dict[str, Any]:
    """Sends an order elsewhere, as long as it has not left."""
    row = _existing_order(db, number)
    _check_here(row)
    here = sa.and_(orders.c.id == number, orders.c.state.in_(NOT_SHIPPED))
    if db.execute(orders.update().where(here).values(ship_to=address)).rowcount != 1:
        raise ToolError("already_shipped", f"Order {number} has been shipped.")
    return {"order": number, "address": address, "changed": True}


def cancel(db: sa.Connection, number: str) -> dict[str, Any]:
    """Stops an order that has not left; what was paid goes back the way it came."""
    row = _existing_order(db, number)
    _check_here(row)
    here = sa.and_(orders.c.id == number, orders.c.state.in_(NOT_SHIPPED))
    stopped = orders.update().where(here).values(state=CANCELLED, expected_on=None)
    if db.execute(stopped).rowcount != 1:
        raise ToolError("already_shipped", f"Order {number} has been shipped.")
    left = row["total_cents"] - row["refunded_cents"]
    return {"order": number, "cancelled": True, "amount": amount_of(left)}


def _check_here(row: dict[str, Any]) -> None:
    number = row["id"]
    if row["state"] == CANCELLED:
        raise ToolError("order_cancelled", f"Order {number} was cancelled.")
    if row["state"] not in NOT_SHIPPED:
        raise ToolError("already_shipped", f"Order {number} has been shipped.")


def open_ticket(db: sa.Connection, key: str, owner: str, summary: str) -> dict[str, Any]:
    number = number_for("T", key)
    made = {"id": number, "owner": owner, "summary": summary, "made_at": now()}
    db.execute(tickets.insert().values(made))
    return {"ticket": number, "summary": summary}


def number_for(prefix: str, key: str) -> str:
    """A number made from an effect's key: a second attempt finds the first."""
    return f"{prefix}-{base64.b32encode(hashlib.sha256(key.encode()).digest())[:8].decode()}"


def amount_of(cents: int) -> str:
    return f"{Decimal(cents) / 100:.2f} {CURRENCY}"


def _existing_order(db: sa.Connection, number: str) -> dict[str, Any]:
    row = order_row(db, number)
    if row is None:
        raise ToolError("not_found", f"There is no order {number}.")
    return row


# --- the sample data


def sample_orders(today: date | None = None) -> Iterator[dict[str, Any]]:
    """The orders of data/orders.csv, whose days count from today."""
    day = today or datetime.now(UTC).date()
    with (_DATA / "orders.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield _order(row, day)


def _order(row: dict[str, str], today: date) -> dict[str, Any]:
    columns = ("id", "owner", "email", "name", "state", "items")
    more = ("carrier", "tracking", "payment", "ship_to")
    order: dict[str, Any] = {name: row[name] for name in (*columns, *more)}
    order["total_cents"] = int(Decimal(row["total"]) * 100)
    order["refunded_cents"] = int(Decimal(row["refunded"]) * 100)
    for name in ("ordered", "shipped", "delivered"):
        order[f"{name}_on"] = _days_from(today, row[f"{name}_ago"], -1)
    order["expected_on"] = _days_from(today, row["expected_in"], 1)
    return order


def _days_from(today: date, days: str, direction: int) -> str | None:
    if not days:
        return None
    return (today + direction * timedelta(days=int(days))).isoformat()


def _create(connection: sa.Connection) -> None:
    _metadata.create_all(connection)
    connection.execute(orders.insert(), list(sample_orders()))


TABLES = OwnTables(
    "orders",
    _create,
    customers={
        "orders": ("owner", "email", "name", "ship_to"),
        "refunds": ("owner", "reason"),
        "tickets": ("owner", "summary"),
    },
)
