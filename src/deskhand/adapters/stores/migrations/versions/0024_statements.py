"""Statements: the digests of a run's records, in a chain, whenever it comes to rest."""

import json
import time
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

Position = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    made = op.create_table(
        "statements",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", Position, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("desk", "run", "number"),
    )
    connection = op.get_bind()
    for desk, last in connection.execute(
        sa.text("SELECT desk, max(position) FROM runs GROUP BY desk ORDER BY desk")
    ).all():
        op.bulk_insert(made, [_begun(connection, desk, last)])


def _begun(connection: sa.Connection, desk: str, last_run: int) -> dict[str, object]:
    """Says up to where records are older than statements, so that none is missed for them."""
    of_desk = {"desk": desk}
    event = sa.text("SELECT max(id) FROM events WHERE desk = :desk")
    modes = sa.text("SELECT category, number FROM mode_changes WHERE desk = :desk")
    stops = sa.text("SELECT desk FROM stops WHERE desk = :desk")
    begun = {
        "runs": last_run,
        "events": connection.execute(event, of_desk).scalar() or 0,
        "mode_changes": [
            f"{desk}/{category}/{number}"
            for category, number in connection.execute(modes, of_desk).all()
        ],
        "stops": list(connection.execute(stops, of_desk).scalars()),
    }
    at = time.time()
    body = json.dumps({"begun": json.dumps(begun)}, separators=(",", ":"))
    first = sha256(f"statements\0@{desk}".encode()).digest()
    chain = sha256(first + f"0\0begun\0{at!r}\0{body}".encode()).digest()
    return {
        "desk": desk,
        "run": 0,
        "number": 0,
        "kind": "begun",
        "at": at,
        "body": body,
        "chain": chain,
        "salt": None,
    }


def downgrade() -> None:
    op.drop_table("statements")
