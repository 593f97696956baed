"""A run as one flat state: the message, what was found, chosen, written and approved, under the
names of the mail flow.

A projection of the rows like the story beside it, for whatever flow the run went through; what a
flow lacks is empty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.engine.journal import State
from deskhand.model.message import REPLY, Message, iso
from deskhand.model.plan import PLAN, SKIPPED, Plan
from deskhand.model.run import LETS_GO, Run, RunStatus
from deskhand.model.understanding import Understanding

Document = dict[str, Any]


def agent_state(run: Run, message: Message | None, told: Sequence[State]) -> Document:
    """Fields may be added here, never renamed."""
    after = told[-1].after if told else None
    outputs: Mapping[str, Any] = after.outputs if after is not None else {}
    metadata: Mapping[str, Any] = after.metadata if after is not None else {}
    understanding = Understanding(outputs)
    reply = outputs.get(REPLY)
    text = str(reply.get("text") or "") if isinstance(reply, Mapping) else ""
    decided = (metadata.get("decision") or {}).get("decision")
    let_go = run.status in (RunStatus.SENT, RunStatus.ANSWERED) or decided in LETS_GO
    asks = run.status is RunStatus.WAITING_REVIEW or decided is not None
    draft = outputs.get(str(metadata.get("drafted_by")))
    return {
        "email": _email(message),
        "classification": understanding.category,
        "confidence": understanding.confidence,
        "context": list(understanding.newest("context") or []),
        "selected_tools": _selected(outputs.get(PLAN)),
        "tool_results": _results(understanding),
        "draft_response": str(draft.get("text") or "") if isinstance(draft, Mapping) else text,
        "requires_approval": asks or understanding.requires_approval,
        "final_response": text if let_go else "",
        "error": after.errors[-1].message if after is not None and after.errors else None,
        "steps": [_step(state) for state in told],
    }


def _email(message: Message | None) -> Document | None:
    if message is None:
        return None
    return {
        "id": message.id,
        "subject": message.subject,
        "body": message.body,
        "sender": str(message.sender),
        "received_at": iso(message.received_at),
    }


def _selected(plan: Any) -> list[str]:
    try:
        return [] if plan is None else Plan.parse(plan).selected_tools
    except ValueError:
        return []


def _results(understanding: Understanding) -> Document:
    """Data or error by tool; a list of them for a tool that was called more than once."""
    by_tool: dict[str, list[Any]] = {}
    for result in reversed(understanding.results):
        if "tool" in result:
            by_tool.setdefault(str(result["tool"]), []).append(_result(result))
    return {tool: made[0] if len(made) == 1 else made for tool, made in by_tool.items()}


def _result(one: Mapping[str, Any]) -> Any:
    if one.get("intended"):
        return {"intended": True}
    if one.get("status") == "success":
        return one.get("data")
    if one.get("status") == SKIPPED:
        return {"skipped": one.get("reason")}
    error = one.get("error")
    return {
        "error": error.get("message")
        if isinstance(error, Mapping)
        else str(error or one.get("status"))
    }


def _step(state: State) -> Document:
    row, result = state.row, state.result
    return {
        "step_name": row.name,
        "step_order": row.seq,
        "outcome": row.outcome,
        "latency_ms": row.latency_ms,
        "error_message": result.error.message if result.error else None,
    }
