"""Word to reviewers: which reviews were announced, and what is on its way."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reviews", sa.Column("announced", sa.Integer()))
    op.create_index("reviews_announced", "reviews", ["desk", "announced"])
    op.create_table(
        "notices",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("desk", "id"),
    )
    op.create_index("notices_due", "notices", ["desk", "state", "next_at"])


def downgrade() -> None:
    op.drop_table("notices")
    op.drop_index("reviews_announced", "reviews")
    with op.batch_alter_table("reviews") as table:
        table.drop_column("announced")
