"""The review queue: why something waits, who looks at it and when, what reviewers have typed so
far."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reviews", sa.Column("causes", sa.Text()))
    op.add_column("reviews", sa.Column("facts", sa.LargeBinary()))
    op.add_column("reviews", sa.Column("assignee", sa.Text()))
    op.add_column("reviews", sa.Column("snoozed_until", sa.Float()))
    op.create_index("reviews_queue", "reviews", ["desk", "state", "created_at", "id"])
    op.create_table(
        "review_edits",
        sa.Column("review", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("edit", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("review", "by"),
    )
    op.create_index("review_edits_run", "review_edits", ["run"])


def downgrade() -> None:
    op.drop_table("review_edits")
    op.drop_index("reviews_queue", "reviews")
    with op.batch_alter_table("reviews") as table:
        for column in ("snoozed_until", "assignee", "facts", "causes"):
            table.drop_column(column)
