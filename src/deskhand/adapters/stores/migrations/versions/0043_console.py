"""What open consoles follow: changes of reviews, messages and conversations, and who looks."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0040"
branch_labels = None
depends_on = None

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NOW_SQLITE = "(julianday('now') - 2440587.5) * 86400.0"
_NOW_POSTGRESQL = "extract(epoch FROM clock_timestamp())"
_REVIEW = "UPDATE OF state, version, assignee, snoozed_until"
_FOLLOWED = (
    ("console_review_opened", "INSERT", "reviews", "review", "id"),
    ("console_review_changed", _REVIEW, "reviews", "review", "id"),
    ("console_edit_begun", "INSERT", "review_edits", "review", "review"),
    ("console_message_came", "INSERT", "runs", "message", "id"),
    ("console_conversation_known", "INSERT", "conversations", "conversation", "id"),
    ("console_conversation_changed", "UPDATE", "conversations", "conversation", "id"),
    ("console_line_added", "INSERT", "chat_lines", "conversation", "chat"),
)
"""Each trigger: its name, when it runs, on which table, what it tells of and by which column."""


def upgrade() -> None:
    op.create_table(
        "console_changes",
        sa.Column("id", POSITION, nullable=False, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("console_changes_at", "console_changes", ["at"])
    op.create_table(
        "console_lookers",
        sa.Column("window", sa.Text(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("window"),
    )
    for trigger in _FOLLOWED:
        for statement in _statements(op.get_bind().dialect.name, *trigger):
            op.execute(statement)


def downgrade() -> None:
    for name, _, table, _, _ in _FOLLOWED:
        if op.get_bind().dialect.name == "postgresql":
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
        else:
            op.execute(f"DROP TRIGGER {name}")
    op.drop_table("console_lookers")
    op.drop_table("console_changes")


def _statements(
    dialect: str, name: str, moment: str, table: str, kind: str, column: str
) -> list[str]:
    columns = "console_changes (desk, kind, reference, at)"
    values = f"VALUES (new.desk, '{kind}', new.{column}, "
    if dialect != "postgresql":
        insert = f"INSERT INTO {columns} {values}{_NOW_SQLITE})"
        return [f"CREATE TRIGGER {name} AFTER {moment} ON {table} BEGIN {insert}; END"]
    insert = f"INSERT INTO {columns} {values}{_NOW_POSTGRESQL})"
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert};"
        " RETURN new; END $$",
        f"CREATE TRIGGER {name} AFTER {moment} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]
