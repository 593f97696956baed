"""The words of runs and people, with each database's own index, for the console's search.

Triggers note whose words are due, whoever changes a record and however. What there is already is
due as well: the process that serves a desk indexes it, so that this migration takes no time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INDEXED = (("search_runs", "run"), ("search_people", "number"))
"""Each table with words, and the number of its rows."""
_AT_REST = "new.status NOT IN ('queued', 'running')"
_TRIGGERS = (
    ("search_run_came", "INSERT ON runs", "", "run", "position"),
    ("search_run_rested", "UPDATE OF status, reason ON runs", _AT_REST, "run", "position"),
    ("search_person_came", "INSERT ON contacts", "", "address", "address"),
    ("search_person_changed", "UPDATE ON contacts", "", "address", "address"),
)
"""Each trigger: its name, when it runs, for which rows, what it notes and from which column."""
_RUNS_DUE = (
    "INSERT INTO search_due (desk, run)"
    " SELECT desk, position FROM runs WHERE pruned_at IS NULL ORDER BY position"
)
_PEOPLE_DUE = "INSERT INTO search_due (desk, address) SELECT desk, address FROM contacts"


def upgrade() -> None:
    op.create_table(
        "search_due",
        sa.Column("number", POSITION, nullable=False, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", POSITION),
        sa.Column("address", sa.Text()),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    op.create_index("search_due_desk", "search_due", ["desk", "number"])
    op.create_table(
        "search_runs",
        sa.Column("run", POSITION, nullable=False, autoincrement=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run"),
    )
    op.create_table(
        "search_people",
        sa.Column("number", POSITION, nullable=False, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("desk", "address", name="search_people_address"),
    )
    dialect = op.get_bind().dialect.name
    for table, number in _INDEXED:
        for statement in _indexes(dialect, table, number):
            op.execute(statement)
    op.execute(_PEOPLE_DUE)
    op.execute(_RUNS_DUE)
    for trigger in _TRIGGERS:
        for statement in _statements(dialect, *trigger):
            op.execute(statement)


def downgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for name, moment, _, _, _ in _TRIGGERS:
        if is_postgres:
            op.execute(f"DROP TRIGGER {name} ON {moment.rpartition(' ')[2]}")
            op.execute(f"DROP FUNCTION {name}()")
        else:
            op.execute(f"DROP TRIGGER {name}")
    for table, _ in _INDEXED:
        if not is_postgres:
            op.execute(f"DROP TABLE {table}_words")
        op.drop_table(table)
    op.drop_table("search_due")


def _indexes(dialect: str, table: str, number: str) -> list[str]:
    """Words are folded and split before they are written; both indexes take them as they are."""
    if dialect == "postgresql":
        return [
            f"ALTER TABLE {table} ADD COLUMN lexemes tsvector GENERATED ALWAYS AS"
            " (array_to_tsvector(string_to_array(words, ' '))) STORED",
            f"CREATE INDEX {table}_lexemes ON {table} USING gin (lexemes)",
        ]
    index = f"{table}_words"
    added = f"INSERT INTO {index}(rowid, words) VALUES (new.{number}, new.words)"  # noqa: S608
    removed = (
        f"INSERT INTO {index}({index}, rowid, words)"  # noqa: S608 our own words
        f" VALUES ('delete', old.{number}, old.words)"
    )
    return [
        f"CREATE VIRTUAL TABLE {index} USING fts5(words, content='{table}',"
        f" content_rowid='{number}', detail=none, prefix='2 3', tokenize=ascii)",
        f"CREATE TRIGGER {table}_added AFTER INSERT ON {table} BEGIN {added}; END",
        f"CREATE TRIGGER {table}_removed AFTER DELETE ON {table} BEGIN {removed}; END",
    ]


def _statements(
    dialect: str, name: str, moment: str, when: str, column: str, source: str
) -> list[str]:
    insert = f"INSERT INTO search_due (desk, {column}) VALUES (new.desk, new.{source})"  # noqa: S608
    if dialect != "postgresql":
        condition = f" WHEN {when}" if when else ""
        return [f"CREATE TRIGGER {name} AFTER {moment}{condition} BEGIN {insert}; END"]
    condition = f" WHEN ({when})" if when else ""
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert};"
        " RETURN new; END $$",
        f"CREATE TRIGGER {name} AFTER {moment} FOR EACH ROW{condition} EXECUTE FUNCTION {name}()",
    ]
