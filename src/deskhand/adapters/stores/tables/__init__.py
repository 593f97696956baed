"""The tables as SQLAlchemy sees them. The migrations build them; a test compares the two.

Every table carries the desk. Rows that belong to a run point at `runs.position`, an integer: a
text key in every row and again in its index took a tenth of the space.
"""

from deskhand.adapters.stores.tables.console import console_changes, console_lookers
from deskhand.adapters.stores.tables.knowledge import (
    exchanges,
    kb_articles,
    kb_chunks,
    kb_versions,
    told_sentences,
)
from deskhand.adapters.stores.tables.office import arrivals, bookings, calendar_turns, channel_marks
from deskhand.adapters.stores.tables.operations import (
    leases,
    model_rates,
    responses,
    seals,
    statements,
    stops,
    telemetry_events,
    telemetry_marks,
    totals,
    workers,
    write_checks,
)
from deskhand.adapters.stores.tables.people import (
    api_keys,
    chat_lines,
    chats,
    contact_notes,
    contacts,
    login_failures,
    sessions,
    users,
)
from deskhand.adapters.stores.tables.reviews import (
    judgements,
    mode_changes,
    notices,
    review_edits,
    reviews,
)
from deskhand.adapters.stores.tables.runs import (
    answer_sources,
    attachments,
    conversations,
    effect_counts,
    effects,
    events,
    llm_calls,
    messages,
    runs,
    runs_active,
    runs_waiting,
    steps,
)
from deskhand.adapters.stores.tables.schema import metadata
from deskhand.adapters.stores.tables.tickets import (
    active_tickets,
    ticket_customers,
    ticket_events,
    ticket_messages,
    tickets,
)

__all__ = [
    "active_tickets",
    "answer_sources",
    "api_keys",
    "arrivals",
    "attachments",
    "bookings",
    "calendar_turns",
    "channel_marks",
    "chat_lines",
    "chats",
    "console_changes",
    "console_lookers",
    "contact_notes",
    "contacts",
    "conversations",
    "effect_counts",
    "effects",
    "events",
    "exchanges",
    "judgements",
    "kb_articles",
    "kb_chunks",
    "kb_versions",
    "leases",
    "llm_calls",
    "login_failures",
    "messages",
    "metadata",
    "mode_changes",
    "model_rates",
    "notices",
    "responses",
    "review_edits",
    "reviews",
    "runs",
    "runs_active",
    "runs_waiting",
    "seals",
    "sessions",
    "statements",
    "steps",
    "stops",
    "telemetry_events",
    "telemetry_marks",
    "ticket_customers",
    "ticket_events",
    "ticket_messages",
    "tickets",
    "told_sentences",
    "totals",
    "users",
    "workers",
    "write_checks",
]
