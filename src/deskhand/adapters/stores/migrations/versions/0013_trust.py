"""What people and customers made of replies, and the modes that followed from it."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "judgements",
        sa.Column("id", position, autoincrement=True, nullable=False),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("run", position, nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("judged", sa.Text(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("facts", sa.Integer(), nullable=False),
        sa.Column("counts", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("judgements_run", "judgements", ["run", "judged"], unique=True)
    op.create_index("judgements_category", "judgements", ["desk", "category", "id"])
    op.create_table(
        "mode_changes",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("figures", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "category", "number"),
    )


def downgrade() -> None:
    op.drop_table("mode_changes")
    op.drop_index("judgements_category", "judgements")
    op.drop_index("judgements_run", "judgements")
    op.drop_table("judgements")
