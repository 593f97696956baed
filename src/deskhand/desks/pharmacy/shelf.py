"""What is on the shelf and what is put aside: every function is one transaction's work."""

import base64
import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand import ToolError

from .catalogue import Pharmacy, Product, pharmacies, products, reservations, stock
from .product_search import ProductIndex, index_of

KEPT_FOR = 2 * 24 * 3600.0
"""Seconds that something is put aside."""
MOST_PACKS = 5
ACTIVE, CANCELLED, EXPIRED = "active", "cancelled", "expired"

now = time.time


def read_catalogue(db: sa.Connection) -> ProductIndex:
    return index_of(
        tuple(Product(*row) for row in db.execute(sa.select(*products.c).order_by(products.c.id)))
    )


def read_pharmacies(db: sa.Connection) -> list[Pharmacy]:
    return [
        Pharmacy(*row) for row in db.execute(sa.select(*pharmacies.c).order_by(pharmacies.c.id))
    ]


def available(db: sa.Connection, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Where each product is to be had, fullest shelf first; overdue reservations count as free."""
    overdue = (
        sa.select(
            reservations.c.product,
            reservations.c.pharmacy,
            sa.func.sum(reservations.c.packs).label("packs"),
        )
        .where(reservations.c.status == ACTIVE, reservations.c.expires_at <= now())
        .group_by(reservations.c.product, reservations.c.pharmacy)
        .subquery()
    )
    packs = sa.cast(stock.c.packs + sa.func.coalesce(overdue.c.packs, 0), sa.Integer)
    same = sa.and_(overdue.c.product == stock.c.product, overdue.c.pharmacy == stock.c.pharmacy)
    query = (
        sa.select(
            stock.c.product,
            *(pharmacies.c[name] for name in ("id", "name", "street", "city")),
            packs,
        )
        .join(pharmacies, pharmacies.c.id == stock.c.pharmacy)
        .outerjoin(overdue, same)
        .where(stock.c.product.in_(ids), packs > 0)
        .order_by(packs.desc(), pharmacies.c.id)
    )
    shelves: dict[str, list[dict[str, Any]]] = {product: [] for product in ids}
    for row in db.execute(query):
        shelf = dict(
            zip(("pharmacy_id", "pharmacy", "street", "city", "packs"), row[1:], strict=True)
        )
        shelves[row[0]].append(shelf)
    return shelves


def put_aside(
    db: sa.Connection, key: str, owner: str, wanted: Sequence[Product], where: str, packs: int
) -> dict[str, Any]:
    """Reserves the first of the wanted products that some pharmacy has enough of.

    Raises ToolError (`sold_out`) where none has.
    """
    return_overdue(db)
    for product in wanted:
        for shelf in available(db, [product.id])[product.id]:
            if not is_there(shelf, where) or not _take(db, product.id, shelf["pharmacy_id"], packs):
                continue
            made = {
                "id": number_for(key),
                "owner": owner,
                "product": product.id,
                "pharmacy": shelf["pharmacy_id"],
                "packs": packs,
                "status": ACTIVE,
                "made_at": now(),
                "expires_at": now() + KEPT_FOR,
            }
            db.execute(reservations.insert().values(made))
            return _described(db, made["id"])
    raise ToolError(
        "sold_out", f"{_called(wanted)} is not available there in that number.", recoverable=False
    )


def is_there(shelf: Mapping[str, Any], where: str) -> bool:
    """Whether a shelf is in this pharmacy or town; anywhere will do where neither is named."""
    return where in ("", shelf["pharmacy_id"]) or shelf["city"].startswith(where)


def cancel(db: sa.Connection, number: str, owner: str) -> dict[str, Any]:
    """Back on the shelf; whoever comes second finds it cancelled."""
    return_overdue(db)
    _end(db, number, CANCELLED, owner)
    return _described(db, number)


def reserved_for(
    db: sa.Connection, owner: str, ids: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """What one customer has put aside, newest first."""
    mine = (
        sa.select(reservations.c.id)
        .where(reservations.c.owner == owner)
        .order_by(reservations.c.made_at.desc())
    )
    if ids is not None:
        mine = mine.where(reservations.c.product.in_(ids))
    return [_described(db, number) for number in db.execute(mine.limit(20)).scalars().all()]


def reservation_row(db: sa.Connection, number: str) -> dict[str, Any] | None:
    row = db.execute(sa.select(reservations).where(reservations.c.id == number)).mappings().first()
    return None if row is None else dict(row)


def return_overdue(db: sa.Connection) -> None:
    """Puts back what nobody came for, always in the same order, so that no two wait in a circle."""
    overdue = sa.select(reservations.c.id).where(
        reservations.c.status == ACTIVE, reservations.c.expires_at <= now()
    )
    for number in db.execute(overdue.order_by(reservations.c.id).limit(100)).scalars().all():
        _end(db, number, EXPIRED, None)


def number_for(key: str) -> str:
    """The number of a reservation, made from its effect's key: a second attempt finds the first."""
    return f"R-{base64.b32encode(hashlib.sha256(key.encode()).digest())[:8].decode()}"


def _take(db: sa.Connection, product: str, pharmacy: str, packs: int) -> bool:
    here = sa.and_(stock.c.product == product, stock.c.pharmacy == pharmacy)
    enough = stock.update().where(here, stock.c.packs >= packs).values(packs=stock.c.packs - packs)
    return db.execute(enough).rowcount == 1


def _end(db: sa.Connection, number: str, status: str, owner: str | None) -> None:
    """Only who ends it puts it back: the update finds it active once."""
    mine = sa.and_(reservations.c.id == number, reservations.c.status == ACTIVE)
    if owner is not None:
        mine = sa.and_(mine, reservations.c.owner == owner)
    if db.execute(reservations.update().where(mine).values(status=status)).rowcount != 1:
        return
    row = reservation_row(db, number)
    assert row is not None
    here = sa.and_(stock.c.product == row["product"], stock.c.pharmacy == row["pharmacy"])
    db.execute(stock.update().where(here).values(packs=stock.c.packs + row["packs"]))


def _described(db: sa.Connection, number: str) -> dict[str, Any]:
    """A reservation in the words a customer may read."""
    where = sa.and_(
        reservations.c.id == number,
        products.c.id == reservations.c.product,
        pharmacies.c.id == reservations.c.pharmacy,
    )
    row = db.execute(sa.select(reservations, *products.c, *pharmacies.c).where(where)).first()
    assert row is not None
    made, shown = row[: len(reservations.c)], row[len(reservations.c) :]
    product, pharmacy = Product(*shown[: len(products.c)]), Pharmacy(*shown[len(products.c) :])
    status = EXPIRED if made[5] == ACTIVE and made[7] <= now() else made[5]
    return {
        "id": made[0],
        "status": status,
        "packs": made[4],
        "product": product._asdict(),
        "pharmacy_id": pharmacy.id,
        "pharmacy": pharmacy.name,
        "street": pharmacy.street,
        "city": pharmacy.city,
        "until": time.strftime("%Y-%m-%d", time.gmtime(made[7])),
    }


def _called(wanted: Sequence[Product]) -> str:
    return f"{wanted[0].brand} {wanted[0].strength}"
