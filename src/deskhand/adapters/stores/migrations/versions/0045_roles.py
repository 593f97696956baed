"""What people may do, the first login, and what they did."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0046"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    for name in ("role", "limit", "mail"):
        op.add_column("users", sa.Column(name, sa.Text()))
    op.create_table(
        "setup_links",
        sa.Column("digest", sa.LargeBinary(), primary_key=True),
        sa.Column("made_at", sa.Float(), nullable=False),
    )
    op.create_table(
        "console_actions",
        sa.Column("number", _position, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
    )
    op.create_index("console_actions_at", "console_actions", ["at"])


def downgrade() -> None:
    op.drop_table("console_actions")
    op.drop_table("setup_links")
    for name in ("mail", "limit", "role"):
        op.drop_column("users", name)
