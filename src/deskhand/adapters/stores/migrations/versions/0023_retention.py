"""Runs whose rows went for their age, and the seals that closed their chains before."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("pruned_at", sa.Float()))
    op.add_column("runs", sa.Column("pruned_rows", sa.Integer()))
    op.add_column("runs", sa.Column("pruned_chain", sa.LargeBinary()))
    op.add_column("runs", sa.Column("steps_pruned_at", sa.Float()))
    op.add_column("seals", sa.Column("kind", sa.Text()))


def downgrade() -> None:
    op.drop_column("seals", "kind")
    for column in ("steps_pruned_at", "pruned_chain", "pruned_rows", "pruned_at"):
        op.drop_column("runs", column)
