"""The text that reviews are searched by."""

import sqlalchemy as sa
from alembic import op

from deskhand.adapters.stores.review_texts import write_all_texts

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reviews", sa.Column("search_text", sa.Text()))
    write_all_texts(op.get_bind())


def downgrade() -> None:
    with op.batch_alter_table("reviews") as table:
        table.drop_column("search_text")
