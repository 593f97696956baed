"""A sender's messages are found without reading all of them: to place a mail, and to forget a
person."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("messages_sender", "messages", ["desk", "sender"])


def downgrade() -> None:
    op.drop_index("messages_sender", "messages")
