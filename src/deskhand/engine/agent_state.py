"""A run as one flat state under the names of the mail flow, whatever flow it went through.

Like the story it is computed from the rows; what a flow lacks is empty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.engine.journal import State
from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY, Message, iso
from deskhand.model.plan import PLAN, SKIPPED, Plan
from deskhand.model.run import LETS_GO, Run, RunStatus
from deskhand.model.understanding import Understanding

Document = dict[str, Any]


def agent_state(run: Run, message: Message | None, states: Sequence[State]) -> Document:
    """The state after the last step. Fields may be added here, never renamed."""
    after = states[-1].after if states else Envelope(run_id=run.id)
    outputs = after.outputs
    understanding = Understanding(outputs)
    decision = (after.metadata.get("decision") or {}).get("decision")
    let_go = run.status in (RunStatus.SENT, RunStatus.ANSWERED) or decision in LETS_GO
    asks = run.status is RunStatus.WAITING_REVIEW or decision is not None
    text = _text_of(outputs.get(REPLY)) or ""
    draft = _text_of(outputs.get(str(after.metadata.get("drafted_by"))))
    final_text = text if let_go else ""
    return {
        "email": _email(message),
        "classification": understanding.category,
        "confidence": understanding.confidence,
        "context": list(understanding.newest("context") or []),
        "selected_tools": _selected(outputs.get(PLAN)),
        "tool_results": _results(understanding),
        "draft_response": text if draft is None else draft,
        "requires_approval": asks or understanding.requires_approval,
        "final_response": final_text,
        "error": _last_error(after),
        "steps": list(map(_step, states)),
    }


def _text_of(output: Any) -> str | None:
    """The text of a stage's output; None where the stage gave nothing of the kind."""
    return str(output.get("text") or "") if isinstance(output, Mapping) else None


def _last_error(envelope: Envelope) -> str | None:
    return envelope.errors[-1].message if envelope.errors else None


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
    return {tool: _single(made) for tool, made in by_tool.items()}


def _single(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else items


def _result(result: Mapping[str, Any]) -> Any:
    if result.get("intended"):
        return {"intended": True}
    if result.get("status") == "success":
        return result.get("data")
    if result.get("status") == SKIPPED:
        return {"skipped": result.get("reason")}
    error = result.get("error")
    if isinstance(error, Mapping):
        return {"error": error.get("message")}
    return {"error": str(error or result.get("status"))}


def _step(state: State) -> Document:
    row = state.row
    result = state.result
    return {
        "step_name": row.name,
        "step_order": row.seq,
        "outcome": row.outcome,
        "latency_ms": row.latency_ms,
        "error_message": result.error.message if result.error else None,
    }
