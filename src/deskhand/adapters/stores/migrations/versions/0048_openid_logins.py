"""Logging in with an OpenID provider: who somebody is there, and logins that were begun."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("identity", sa.Text()))
    op.create_index("users_identity", "users", ["identity"], unique=True)
    op.create_table(
        "begun_logins",
        sa.Column("digest", sa.LargeBinary(), primary_key=True),
        sa.Column("to", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
    )
    op.create_index("begun_logins_at", "begun_logins", ["begun_at"])


def downgrade() -> None:
    op.drop_table("begun_logins")
    op.drop_index("users_identity", "users")
    op.drop_column("users", "identity")
