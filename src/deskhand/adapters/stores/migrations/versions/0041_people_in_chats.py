"""People in chats: who wrote a line, its files and what the visitor thought of it; where answers
are mailed, and the mails on their way."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("chats", sa.Column("address", sa.Text()))
    for name in ("name", "files", "thumb"):
        op.add_column("chat_lines", sa.Column(name, sa.Text()))
    op.create_table(
        "chat_mails",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("due_at", sa.Float()),
        sa.Column("until", sa.Float(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.Float()),
        sa.Column("trouble", sa.Text()),
        sa.PrimaryKeyConstraint("desk", "key"),
    )
    op.create_index("chat_mails_due", "chat_mails", ["desk", "due_at"])
    op.create_index("chat_mails_chat", "chat_mails", ["desk", "chat", "kind"])


def downgrade() -> None:
    op.drop_table("chat_mails")
    for name in ("name", "files", "thumb"):
        op.drop_column("chat_lines", name)
    op.drop_column("chats", "address")
