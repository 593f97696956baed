"""When a mail was about to leave: until then, it cannot have left."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("effects", sa.Column("leaving_at", sa.Float()))
    op.add_column("notices", sa.Column("leaving_at", sa.Float()))
    # What was on its way before there was this mark may have left.
    op.execute(
        "UPDATE effects SET leaving_at = updated_at"
        " WHERE tool = 'deliver_reply' AND state IN ('intended', 'unknown')"
    )
    op.execute("UPDATE notices SET leaving_at = created_at WHERE state = 'due' AND attempts > 0")


def downgrade() -> None:
    op.drop_column("notices", "leaving_at")
    op.drop_column("effects", "leaving_at")
