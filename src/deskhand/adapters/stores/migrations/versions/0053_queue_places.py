"""What lists of the console are read by: a review's place in the queue, in columns of its row, and
indexes of open reviews, of reviews by time and of runs by status."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from deskhand.adapters.stores.record_values import queue_columns, unpack

revision = "0053"
down_revision = "0048"
branch_labels = None
depends_on = None

CHUNK = 1000
COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "rank": sa.Integer(),
    "deadline": sa.Float(),
    "category": sa.Text(),
    "language": sa.Text(),
}
MADE_FROM = ("id", "kind", "causes", "facts", "expires_at")
PLACE = ("desk", "state", "rank", "deadline", "created_at", "id")
COUNTED_BY = ("snoozed_until", "fallback", "assignee", "category", "language")
"""With these in the index too, the queue is counted without its rows."""


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.add_column("reviews", sa.Column(name, kind))
    _fill(op.get_bind())
    _index("reviews_open", "reviews", [*PLACE, *COUNTED_BY], "state = 'open'")
    op.create_index("reviews_time", "reviews", ["desk", "created_at", "id", "causes"])
    _index("runs_status", "runs", ["status", "desk", "position"], "pruned_at IS NULL")


def _index(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("runs_status", "runs")
    op.drop_index("reviews_time", "reviews")
    op.drop_index("reviews_open", "reviews")
    for name in COLUMNS:
        op.drop_column("reviews", name)


def _fill(core: sa.Connection) -> None:
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in (*MADE_FROM, *COLUMNS)]
    reviews = sa.table("reviews", *columns)
    here = reviews.c
    read = sa.select(*(here[name] for name in MADE_FROM))
    in_order = read.order_by(here.id).limit(CHUNK)
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in COLUMNS}
    update = sa.update(reviews).where(here.id == sa.bindparam("this")).values(**values)
    after = ""
    while rows := core.execute(in_order.where(here.id > after)).all():
        core.execute(update, [_values(*row) for row in rows])
        after = rows[-1].id


def _values(
    review_id: str, kind: str, causes: str | None, facts: bytes | None, expires_at: float | None
) -> dict[str, Any]:
    place = queue_columns(kind, (causes or "").split(), unpack(facts), expires_at)
    return {"this": review_id} | {f"new_{name}": place[name] for name in COLUMNS}
