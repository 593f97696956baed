"""What models said is kept beside what it cost, so that a replay need not ask again."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("llm_calls", sa.Column("answer", sa.LargeBinary()))


def downgrade() -> None:
    with op.batch_alter_table("llm_calls") as table:
        table.drop_column("answer")
