"""Telemetry: how far each sink has been told, and what was told to the one in the database."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0030"
branch_labels = None
depends_on = None

_position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("statements", sa.Column("told", sa.Integer()))
    op.create_index("statements_told", "statements", ["desk", "told"], unique=True)
    untold = sa.text("told IS NULL AND run > 0")
    op.create_index(
        "statements_untold",
        "statements",
        ["desk", "run", "number"],
        sqlite_where=untold,
        postgresql_where=untold,
    )
    op.create_table(
        "telemetry_marks",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("sink", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("told_at", sa.Float()),
        sa.Column("failure", sa.Text()),
        sa.PrimaryKeyConstraint("desk", "sink"),
    )
    op.create_table(
        "telemetry_events",
        sa.Column("desk", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", _position, nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("timestamp", sa.Text(), nullable=False),
        sa.Column("interaction_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("intent_id", sa.Text()),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("desk", "id"),
    )
    op.create_index(
        "telemetry_events_position", "telemetry_events", ["desk", "position"], unique=True
    )
    op.create_index("telemetry_events_run", "telemetry_events", ["run_id"])
    op.create_index("telemetry_events_session", "telemetry_events", ["desk", "session_id"])


def downgrade() -> None:
    op.drop_index("telemetry_events_session", "telemetry_events")
    op.drop_index("telemetry_events_run", "telemetry_events")
    op.drop_index("telemetry_events_position", "telemetry_events")
    op.drop_table("telemetry_events")
    op.drop_table("telemetry_marks")
    op.drop_index("statements_untold", "statements")
    op.drop_index("statements_told", "statements")
    op.drop_column("statements", "told")
