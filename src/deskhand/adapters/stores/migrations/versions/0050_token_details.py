"""Model calls keep how many of their tokens came from a cache, and how many were thoughts.

Nobody knows it of earlier calls: theirs stay empty, and their digests are what they were.
"""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0047"
branch_labels = None
depends_on = None

_COLUMNS = ("cached_tokens", "reasoning_tokens")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("llm_calls", sa.Column(name, sa.Integer()))


def downgrade() -> None:
    for name in reversed(_COLUMNS):
        op.drop_column("llm_calls", name)
