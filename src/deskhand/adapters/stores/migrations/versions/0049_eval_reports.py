"""Reports of evals that people start in the console."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "eval_reports",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "at"),
    )


def downgrade() -> None:
    op.drop_table("eval_reports")
