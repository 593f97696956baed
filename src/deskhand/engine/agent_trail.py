"""What agents and models did in a run, told for an auditor by the names of the tables and views."""

from typing import Any

from deskhand.model.documents import document, with_times
from deskhand.ports import Store


async def read_trail(store: Store, run_id: str) -> dict[str, Any]:
    """The same; NotFound for a run that is not there."""
    return await trail_of(store, (await store.run(run_id)).id)


async def trail_of(store: Store, run_id: str) -> dict[str, Any]:
    """`agent_runs` with their tool_calls_log, every `llm_calls` row without its text, and the
    `email_events`."""
    calls = [document(call) for call in await store.calls(run_id)]
    return {
        "agent_runs": [with_times(row) for row in await store.agent_runs(run_id)],
        "llm_calls": [
            {name: value for name, value in call.items() if name != "answer"} for call in calls
        ],
        "email_events": [with_times(row) for row in await store.email_events(run_id)],
    }
