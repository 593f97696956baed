"""Runs that were screened out are listed and counted without reading all runs."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_SCREENED = sa.text("status = 'done' AND error_code = 'automatic_mail'")


def upgrade() -> None:
    op.create_index(
        "runs_screened",
        "runs",
        ["desk", "position"],
        sqlite_where=_SCREENED,
        postgresql_where=_SCREENED,
    )


def downgrade() -> None:
    op.drop_index("runs_screened", "runs")
