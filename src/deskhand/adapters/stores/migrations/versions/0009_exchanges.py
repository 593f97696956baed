"""Answered messages, to be found by likeness, and the sentences their replies told."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_POSITION = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "exchanges",
        sa.Column("position", _POSITION, primary_key=True, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", _POSITION, nullable=False, unique=True),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("category", sa.Text()),
        sa.Column("language", sa.Text()),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("answered_at", sa.Float(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("exchanges_owner", "exchanges", ["desk", "owner"])
    op.create_table(
        "told_sentences",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("run", _POSITION, nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "sentence", "run"),
    )
    op.create_index("told_sentences_run", "told_sentences", ["run"])


def downgrade() -> None:
    op.drop_table("told_sentences")
    op.drop_table("exchanges")
