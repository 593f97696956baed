"""Codes by which visitors of chats prove what is theirs; of a code only a digest is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chat_codes",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("thing", sa.Text(), nullable=False),
        sa.Column("object", sa.Text()),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("proven_at", sa.Float()),
        sa.PrimaryKeyConstraint("desk", "id"),
    )
    op.create_index("chat_codes_chat", "chat_codes", ["desk", "chat", "created_at"])
    op.create_index("chat_codes_thing", "chat_codes", ["desk", "thing", "created_at"])


def downgrade() -> None:
    op.drop_table("chat_codes")
