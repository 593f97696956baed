"""Reading what agents did from the views over the rows."""

import json
from typing import Any

import sqlalchemy as sa

agent_runs = sa.table(
    "agent_runs",
    *(
        sa.column(name)
        for name in (
            "desk",
            "run_id",
            "stage",
            "profile",
            "status",
            "tool_calls_log",
            "final_message",
            "iterations",
            "error",
            "started_at",
            "finished_at",
        )
    ),
)
email_events = sa.table(
    "email_events",
    *(sa.column(name) for name in ("desk", "run_id", "event_type", "detail", "created_at")),
)


def read_agent_runs(
    core: sa.Connection, desk: str, run_id: str | None, limit: int
) -> list[dict[str, Any]]:
    """Runs of agents, the newest first."""
    query = (
        sa.select(agent_runs)
        .where(agent_runs.c.desk == desk)
        .order_by(agent_runs.c.started_at.desc())
        .limit(limit)
    )
    if run_id is not None:
        query = query.where(agent_runs.c.run_id == run_id)
    rows = [dict(row._mapping) for row in core.execute(query)]
    return [row | {"tool_calls_log": json.loads(row["tool_calls_log"])} for row in rows]


def read_email_events(
    core: sa.Connection, desk: str, run_id: str, limit: int
) -> list[dict[str, Any]]:
    """What happened to a mail, in the order in which it did."""
    query = (
        sa.select(email_events)
        .where(email_events.c.desk == desk, email_events.c.run_id == run_id)
        .order_by(email_events.c.created_at)
        .limit(limit)
    )
    return [dict(row._mapping) for row in core.execute(query)]
