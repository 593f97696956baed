"""Contacts with their notes, and times that conversations hold."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "contacts",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("language", sa.Text()),
        sa.Column("company", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("customer_id", sa.Text()),
        sa.Column("tier", sa.Text()),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("mail_name", sa.Text(), nullable=False),
        sa.Column("mail_language", sa.Text()),
        sa.Column("seen", _position, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "address"),
    )
    op.create_table(
        "contact_notes",
        sa.Column("id", _position, primary_key=True, autoincrement=True),
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_index("contact_notes_address", "contact_notes", ["desk", "address"])
    op.create_table(
        "bookings",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text()),
        sa.Column("starts_at", sa.Float(), nullable=False),
        sa.Column("ends_at", sa.Float(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Float()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("written", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "key"),
    )
    op.create_index("bookings_time", "bookings", ["desk", "ends_at"])
    op.create_index("bookings_run", "bookings", ["run_id"])
    op.create_table(
        "calendar_turns",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("desk"),
    )


def downgrade() -> None:
    op.drop_table("calendar_turns")
    op.drop_index("bookings_run", "bookings")
    op.drop_index("bookings_time", "bookings")
    op.drop_table("bookings")
    op.drop_index("contact_notes_address", "contact_notes")
    op.drop_table("contact_notes")
    op.drop_table("contacts")
