"""The desk's own tables: products, pharmacies, what is on which shelf, and what is put aside for
whom."""

import csv
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand import OwnTables

_DATA = Path(__file__).parent / "data"
_metadata = sa.MetaData()

products = sa.Table(
    "products",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("brand", sa.Text, nullable=False),
    sa.Column("substance", sa.Text, nullable=False),
    sa.Column("substance_cs", sa.Text, nullable=False),
    sa.Column("strength", sa.Text, nullable=False),
    sa.Column("form", sa.Text, nullable=False),
    sa.Column("pack", sa.Integer, nullable=False),
    sa.Column("prescription", sa.Boolean, nullable=False),
    sa.Column("price_czk", sa.Integer, nullable=False),
)
pharmacies = sa.Table(
    "pharmacies",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("street", sa.Text, nullable=False),
    sa.Column("city", sa.Text, nullable=False),
    sa.Column("hours", sa.Text, nullable=False),
    sa.Column("hours_cs", sa.Text, nullable=False),
    sa.Column("places", sa.Text, nullable=False),
)
stock = sa.Table(
    "stock",
    _metadata,
    sa.Column("product", sa.Text, sa.ForeignKey("products.id"), primary_key=True),
    sa.Column("pharmacy", sa.Text, sa.ForeignKey("pharmacies.id"), primary_key=True),
    sa.Column("packs", sa.Integer, sa.CheckConstraint("packs >= 0"), nullable=False),
)
"""What lies on the shelf and is not put aside."""
reservations = sa.Table(
    "reservations",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False, index=True),
    sa.Column("product", sa.Text, sa.ForeignKey("products.id"), nullable=False),
    sa.Column("pharmacy", sa.Text, sa.ForeignKey("pharmacies.id"), nullable=False),
    sa.Column("packs", sa.Integer, sa.CheckConstraint("packs > 0"), nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
    sa.Index("reservations_by_expiry", "status", "expires_at"),
)


class Product(NamedTuple):
    """One pack as it stands on a shelf."""

    id: str
    brand: str
    substance: str
    substance_cs: str
    strength: str
    form: str
    pack: int
    prescription: bool
    price_czk: int


class Pharmacy(NamedTuple):
    id: str
    name: str
    street: str
    city: str
    hours: str
    hours_cs: str
    places: str
    """What people call where it is, in every case of Czech grammar."""


@cache
def sample_products() -> tuple[Product, ...]:
    return tuple(
        Product(
            **row
            | {
                "pack": int(row["pack"]),
                "prescription": row["prescription"] == "1",
                "price_czk": int(row["price_czk"]),
            }
        )
        for row in _rows("products.csv")
    )


@cache
def sample_pharmacies() -> tuple[Pharmacy, ...]:
    return tuple(Pharmacy(**row) for row in _rows("pharmacies.csv"))


@cache
def aliases() -> dict[str, str]:
    """Other words for a brand or a substance."""
    return {row["alias"]: row["name"] for row in _rows("aliases.csv")}


def _rows(file: str) -> Iterator[dict[str, Any]]:
    with (_DATA / file).open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _create(connection: sa.Connection) -> None:
    _metadata.create_all(connection)
    connection.execute(products.insert(), [product._asdict() for product in sample_products()])
    connection.execute(
        pharmacies.insert(), [pharmacy._asdict() for pharmacy in sample_pharmacies()]
    )
    shelves = [
        {
            "product": product.id,
            "pharmacy": pharmacy.id,
            "packs": _sample_packs(product.id, pharmacy.id),
        }
        for product in sample_products()
        for pharmacy in sample_pharmacies()
    ]
    connection.execute(stock.insert(), shelves)


def _sample_packs(product: str, pharmacy: str) -> int:
    """Made up, and the same every time: a third of the shelves are empty."""
    drawn = hashlib.sha256(f"{product} {pharmacy}".encode()).digest()
    return 0 if drawn[0] < 85 else 1 + drawn[1] % 14


TABLES = OwnTables("pharmacy", _create, customers={"reservations": "owner"})
