"""What customers pay for: plan, months, seats and region."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("contacts", sa.Column("plan", sa.Text()))
    op.add_column("contacts", sa.Column("tenure_months", sa.Integer()))
    op.add_column("contacts", sa.Column("seats", sa.Integer()))
    op.add_column("contacts", sa.Column("region", sa.Text()))
    op.create_index("contacts_customer", "contacts", ["desk", "customer_id"])


def downgrade() -> None:
    op.drop_index("contacts_customer", "contacts")
    for column in ("region", "seats", "tenure_months", "plan"):
        op.drop_column("contacts", column)
