"""What became of each message, and what that adds up to on each day, for the console's metrics.

The process that serves a desk counts a run together with its words for the search, so what changes
figures later is noted in the same place. What there is already is due as well.
"""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LISTED = ("desk", "day", "run", "became", "looked_at", "in_time", "category", "language", "channel")
WHOSE = ("desk", "day", "category", "language", "channel")
_TICKET_TOLD = "new.kind IN ('answered', 'breached', 'triaged')"
_OF_TICKET = (
    "INSERT INTO search_due (desk, run) SELECT desk, run FROM ticket_messages"
    " WHERE desk = new.desk AND ticket = new.ticket"
)
_OF_RUN = "INSERT INTO search_due (desk, run) VALUES (new.desk, new.run)"
_TRIGGERS = (
    ("figures_judged", "judgements", "", _OF_RUN),
    ("figures_ticket_told", "ticket_events", _TICKET_TOLD, _OF_TICKET),
)
"""Each trigger: its name, whose new rows it sees, which of them, and what it notes."""
_RUNS_DUE = (
    "INSERT INTO search_due (desk, run)"
    " SELECT desk, position FROM runs WHERE pruned_at IS NULL ORDER BY position"
)


def upgrade() -> None:
    op.create_table(
        "run_figures",
        sa.Column("run", POSITION, nullable=False, autoincrement=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("became", sa.Text(), nullable=False),
        sa.Column("looked_at", sa.Text()),
        sa.Column("reply_seconds", sa.Float()),
        sa.Column("in_time", sa.Integer()),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("ended_day", sa.Integer()),
        sa.PrimaryKeyConstraint("run"),
    )
    op.create_index("run_figures_day", "run_figures", [*LISTED, "reply_seconds", "ended_day"])
    is_open = sa.text("ended_day IS NULL")
    op.create_index(
        "run_figures_open",
        "run_figures",
        ["desk", "run"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    counts = ("messages", "right", "wrong", "in_time", "late", "ended")
    op.create_table(
        "day_figures",
        *_whose(),
        sa.Column("became", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint(*WHOSE, "became"),
    )
    op.create_table(
        "day_replies",
        *_whose(),
        sa.Column("took", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(*WHOSE, "took"),
    )
    dialect = op.get_bind().dialect.name
    for name, table, when, insert in _TRIGGERS:
        for statement in _statements(dialect, name, table, when, insert):
            op.execute(statement)
    op.execute(_RUNS_DUE)


def _whose() -> list[sa.Column[object]]:
    columns: list[sa.Column[object]] = []
    for name in WHOSE:
        kind = sa.Integer() if name == "day" else sa.Text()
        columns.append(sa.Column(name, kind, nullable=False))
    return columns


def downgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for name, table, _, _ in _TRIGGERS:
        if is_postgres:
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
        else:
            op.execute(f"DROP TRIGGER {name}")
    for table in ("day_replies", "day_figures", "run_figures"):
        op.drop_table(table)


def _statements(dialect: str, name: str, table: str, when: str, insert: str) -> list[str]:
    if dialect != "postgresql":
        condition = f" WHEN {when}" if when else ""
        return [f"CREATE TRIGGER {name} AFTER INSERT ON {table}{condition} BEGIN {insert}; END"]
    condition = f" WHEN ({when})" if when else ""
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert};"
        " RETURN new; END $$",
        f"CREATE TRIGGER {name} AFTER INSERT ON {table} FOR EACH ROW{condition}"
        f" EXECUTE FUNCTION {name}()",
    ]
