"""How far each channel has read, and where each run's mail lies."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "channel_marks",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("mark", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "channel", "name"),
    )
    op.create_table(
        "arrivals",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("run", _position, nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "channel", "place"),
    )
    op.create_index("arrivals_run", "arrivals", ["run"])


def downgrade() -> None:
    op.drop_index("arrivals_run", "arrivals")
    op.drop_table("arrivals")
    op.drop_table("channel_marks")
