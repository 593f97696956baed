"""Webhooks: addresses that admins name, what happened, and what became of each delivery.

Triggers write down what has happened, whoever changes a record and however. What was on its way to
the address of a desk.yaml becomes a delivery.
"""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0045"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ASKED = "EXISTS (SELECT 1 FROM webhook_endpoints WHERE disabled_at IS NULL)"
_WAITS = "coalesce({}.fallback, '') NOT IN ('approve', 'retry')"
_NEW_WAITS, _OLD_WAITS = _WAITS.format("new"), _WAITS.format("old")
_FINAL = "('sent', 'answered', 'done', 'rejected', 'failed', 'cancelled')"
_TRIGGERS = (
    (
        "webhook_review_opened",
        "INSERT ON reviews",
        f"new.state = 'open' AND {_NEW_WAITS}",
        ("'review.opened'", "new.id", "''", "new.created_at"),
    ),
    (
        "webhook_review_held",
        "UPDATE OF fallback ON reviews",
        f"old.state = 'open' AND new.state = 'open' AND NOT {_OLD_WAITS} AND {_NEW_WAITS}",
        ("'review.opened'", "new.id", "''", "{now}"),
    ),
    (
        "webhook_review_closed",
        "UPDATE OF state ON reviews",
        f"old.state = 'open' AND new.state <> 'open' AND {_OLD_WAITS}",
        ("'review.closed'", "new.id", "''", "coalesce(new.decided_at, {now})"),
    ),
    (
        "webhook_run_ended",
        "UPDATE OF status ON runs",
        f"old.status <> new.status AND new.status IN {_FINAL}",
        ("'run.ended'", "new.id", "new.status", "new.updated_at"),
    ),
    (
        "webhook_deadline_told",
        "INSERT ON ticket_events",
        "new.kind IN ('warned', 'breached')",
        ("'ticket.' || new.kind", "new.ticket", "CAST(new.number AS text)", "new.at"),
    ),
)
"""Each trigger: its name, when it runs, for which rows, and what it writes down."""
_NOW = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "extract(epoch FROM clock_timestamp())",
}
_MOVED = """
    INSERT INTO webhook_deliveries
        (endpoint, id, desk, type, payload, state, attempts, next_at, created_at, error)
    SELECT 'desk.yaml:' || desk, id, desk,
        CASE WHEN id LIKE '%.opened' THEN 'review.opened' ELSE 'review.closed' END,
        payload, state, attempts, next_at, created_at, error
    FROM notices WHERE state = 'due' AND id NOT LIKE 'digest-%'
"""
_LEFT = "DELETE FROM notices WHERE state = 'due' AND id NOT LIKE 'digest-%'"


def upgrade() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("desks", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("content", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("rotated_at", sa.Float()),
        sa.Column("key_check", sa.Text(), nullable=False),
        sa.Column("disabled_at", sa.Float()),
        sa.Column("disabled_because", sa.Text(), nullable=False),
        sa.Column("failing_since", sa.Float()),
    )
    op.create_table(
        "webhook_events",
        sa.Column("number", POSITION, primary_key=True, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_index("webhook_events_desk", "webhook_events", ["desk", "number"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text()),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("tried_at", sa.Float()),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("endpoint", "id"),
    )
    due, log = ["desk", "state", "next_at"], ["endpoint", "created_at", "id"]
    op.create_index("webhook_deliveries_due", "webhook_deliveries", due)
    op.create_index("webhook_deliveries_log", "webhook_deliveries", log)
    op.create_index("webhook_deliveries_run", "webhook_deliveries", ["run_id"])
    op.execute(_MOVED)
    op.execute(_LEFT)
    op.drop_index("reviews_announced", "reviews")
    op.drop_column("reviews", "announced")
    for trigger in _TRIGGERS:
        for statement in _statements(op.get_bind().dialect.name, *trigger):
            op.execute(statement)


def downgrade() -> None:
    for name, moment, _, _ in _TRIGGERS:
        if op.get_bind().dialect.name == "postgresql":
            op.execute(f"DROP TRIGGER {name} ON {moment.rpartition(' ')[2]}")
            op.execute(f"DROP FUNCTION {name}()")
        else:
            op.execute(f"DROP TRIGGER {name}")
    op.add_column("reviews", sa.Column("announced", sa.Integer()))
    op.create_index("reviews_announced", "reviews", ["desk", "announced"])
    for table in ("webhook_deliveries", "webhook_events", "webhook_endpoints"):
        op.drop_table(table)


def _statements(
    dialect: str, name: str, moment: str, when: str, values: tuple[str, ...]
) -> list[str]:
    written = ", ".join(("new.desk", *values)).format(now=_NOW[dialect])
    columns = "webhook_events (desk, kind, reference, detail, at)"
    insert = f"INSERT INTO {columns} VALUES ({written})"  # noqa: S608 our own words
    if dialect != "postgresql":
        begin = f"CREATE TRIGGER {name} AFTER {moment} WHEN {when} AND {_ASKED}"
        return [f"{begin} BEGIN {insert}; END"]
    body = f"BEGIN IF {_ASKED} THEN {insert}; END IF; RETURN new; END"
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$",
        f"CREATE TRIGGER {name} AFTER {moment} FOR EACH ROW WHEN ({when})"
        f" EXECUTE FUNCTION {name}()",
    ]
