"""Chats and their lines."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chats",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text()),
        sa.Column("customer", sa.Text()),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("opened_at", sa.Float(), nullable=False),
        sa.Column("spoken_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "id"),
    )
    op.create_index("chats_token", "chats", ["desk", "token_hash"])
    op.create_index("chats_network", "chats", ["desk", "network", "spoken_at"])
    op.create_table(
        "chat_lines",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "chat", "number"),
    )
    op.create_index("chat_lines_key", "chat_lines", ["desk", "key"], unique=True)
    op.create_index("chat_lines_at", "chat_lines", ["desk", "author", "at"])


def downgrade() -> None:
    op.drop_table("chat_lines")
    op.drop_table("chats")
