"""What agents did, as views over the rows: `agent_runs` and `email_events`, beside the table
`llm_calls`."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# An agent's work is one stage of one run that asked a model turn by turn. What it came to stands in
# the stage's own rows (each holds what changed), its calls in the rows of its steps; after an
# erasure the bodies are gone, and so is what they said.

_AGENT_RUNS = """
CREATE VIEW agent_runs AS
WITH work AS (
  SELECT c.desk, c.run_id, c.stage, r.position, min(c.at) AS started_at
  FROM llm_calls c JOIN runs r ON r.id = c.run_id WHERE c.call_type = 'agent'
  GROUP BY c.desk, c.run_id, c.stage, r.position
), told AS (
  SELECT w.*, s.outcome, s.started_at + s.latency_ms / 1000.0 AS finished_at, {body} AS body
  FROM work w LEFT JOIN steps s ON s.run = w.position AND s.name = w.stage AND s.seq =
    (SELECT max(n.seq) FROM steps n WHERE n.run = w.position AND n.name = w.stage)
), turns AS (
  SELECT w.run_id, w.stage, s.seq, s.body FROM work w JOIN steps s ON s.run = w.position
    AND substr(s.name, 1, length(w.stage) + 6) = w.stage || '/turn '
)
SELECT t.desk, t.run_id, t.stage,
  coalesce(
    (SELECT {turn_profile} FROM turns s WHERE s.run_id = t.run_id AND s.stage = t.stage ORDER BY s.seq DESC LIMIT 1),
    (SELECT {route_profile} FROM messages m WHERE m.run = t.position),
    t.stage) AS profile,
  CASE WHEN t.outcome = 'error' AND {retry_at} IS NULL THEN 'error' ELSE coalesce({status}, 'running') END AS status,
  {calls} AS tool_calls_log,
  {final_message} AS final_message,
  (SELECT count(*) FROM turns s WHERE s.run_id = t.run_id AND s.stage = t.stage) AS iterations,
  CASE WHEN t.outcome = 'error' THEN {fault} ELSE {error} END AS error,
  t.started_at,
  t.finished_at
FROM told t
"""  # noqa: E501

_SQLITE_CALLS = """
  (SELECT coalesce(json_group_array(json(one.call)), '[]') FROM (
     SELECT json_object('tool', json_extract(i.value, '$.tool'),
       'arguments', json(coalesce(json_extract(i.value, '$.arguments'), '{}')),
       'result', json(CASE WHEN json_extract(i.value, '$.error.message') IS NULL
         THEN coalesce(json_extract(i.value, '$.data'), '{}')
         ELSE json_object('error', json_extract(i.value, '$.error.message')) END),
       'iteration', json_extract(i.value, '$.iteration')) AS call
     FROM steps s, json_each(CAST(s.body AS TEXT), '$.delta.append') a, json_each(a.value) i
     WHERE s.run = t.position AND substr(s.name, 1, length(t.stage) + 1) = t.stage || '/'
       AND substr(a.key, -8) = '.results' AND json_extract(i.value, '$.iteration') IS NOT NULL
     ORDER BY s.seq) one)"""

_POSTGRES_CALLS = """
  (SELECT coalesce(json_agg(json_build_object('tool', i.value -> 'tool',
       'arguments', coalesce(i.value -> 'arguments', '{}'::json),
       'result', CASE WHEN i.value -> 'error' -> 'message' IS NULL
         THEN coalesce(i.value -> 'data', '{}'::json)
         ELSE json_build_object('error', i.value -> 'error' -> 'message') END,
       'iteration', i.value -> 'iteration') ORDER BY s.seq), '[]'::json)::text
     FROM steps s, json_each(convert_from(s.body, 'UTF8')::json -> 'delta' -> 'append') a,
       json_array_elements(a.value) i
     WHERE s.run = t.position AND substr(s.name, 1, length(t.stage) + 1) = t.stage || '/'
       AND right(a.key, 8) = '.results' AND i.value -> 'iteration' IS NOT NULL)"""


_SQLITE_NEWEST = """
  (SELECT json_extract(e.value, '$.FIELD')
   FROM steps s, json_each(CAST(s.body AS TEXT), '$.delta.merge') e
   WHERE s.run = t.position AND s.name = t.stage AND json_type(e.value, '$.FIELD') IS NOT NULL
   ORDER BY s.seq DESC LIMIT 1)"""
"""A field of the stage's output as its newest row that wrote it has it."""

_POSTGRES_NEWEST = """
  (SELECT e.value ->> 'FIELD'
   FROM steps s, json_each(convert_from(s.body, 'UTF8')::json -> 'delta' -> 'merge') e
   WHERE s.run = t.position AND s.name = t.stage AND e.value -> 'FIELD' IS NOT NULL
   ORDER BY s.seq DESC LIMIT 1)"""

_FIELDS = ("status", "final_message", "error")

_SQLITE = {
    "body": "CAST(s.body AS TEXT)",
    "turn_profile": "json_extract(CAST(s.body AS TEXT), '$.answered.profile')",
    "route_profile": "json_extract(CAST(m.body AS TEXT), '$.route.profile')",
    "retry_at": "json_extract(t.body, '$.retry_at')",
    "fault": "json_extract(t.body, '$.error.message')",
    "calls": _SQLITE_CALLS,
} | {field: _SQLITE_NEWEST.replace("FIELD", field) for field in _FIELDS}

_POSTGRES = {
    "body": "convert_from(s.body, 'UTF8')::json",
    "turn_profile": "convert_from(s.body, 'UTF8')::json -> 'answered' ->> 'profile'",
    "route_profile": "convert_from(m.body, 'UTF8')::json -> 'route' ->> 'profile'",
    "retry_at": "(t.body ->> 'retry_at')",
    "fault": "(t.body -> 'error' ->> 'message')",
    "calls": _POSTGRES_CALLS,
} | {field: _POSTGRES_NEWEST.replace("FIELD", field) for field in _FIELDS}

_EMAIL_EVENTS = """
CREATE VIEW email_events AS
SELECT desk, run_id, 'agent_' || status AS event_type,
  profile || ': ' || status || ' after ' || iterations || ' turns' || coalesce('; ' || error, '') AS detail,
  finished_at AS created_at
FROM agent_runs WHERE status <> 'running'
UNION ALL
SELECT desk, run_id, kind AS event_type, {payload} AS detail, at AS created_at FROM events WHERE run_id IS NOT NULL
"""  # noqa: E501


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _create(
            _AGENT_RUNS.format(**_POSTGRES),
            _EMAIL_EVENTS.format(payload="convert_from(payload, 'UTF8')"),
        )
    else:
        _create(
            _AGENT_RUNS.format(**_SQLITE), _EMAIL_EVENTS.format(payload="CAST(payload AS TEXT)")
        )


def downgrade() -> None:
    for view in ("email_events", "agent_runs"):
        op.execute(f"DROP VIEW {view}")


def _create(*views: str) -> None:
    """Create views in the driver's own words, where what looks like a parameter is none."""
    for view in views:
        op.get_bind().exec_driver_sql(view)
