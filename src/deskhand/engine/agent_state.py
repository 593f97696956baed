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

Document = dict[str, Any]


def agent_state(run: Run, message: Message | None, told: Sequence[State]) -> Document:
    """Fields may be added here, never renamed."""
    after = told[-1].after if told else None
    outputs: Mapping[str, Any] = after.outputs if after is not None else {}
    metadata: Mapping[str, Any] = after.metadata if after is not None else {}
    reply = outputs.get(REPLY)
    text = str(reply.get("text") or "") if isinstance(reply, Mapping) else ""
    decided = (metadata.get("decision") or {}).get("decision")
    let_go = run.status in (RunStatus.SENT, RunStatus.ANSWERED) or decided in LETS_GO
    asks = run.status is RunStatus.WAITING_REVIEW or decided is not None
    draft = outputs.get(str(metadata.get("drafted_by")))
    return {
        "email": _email(message),
        "classification": _newest(outputs, "category"),
        "confidence": _newest(outputs, "confidence", beside="category"),
        "context": list(_newest(outputs, "context") or []),
        "selected_tools": _selected(outputs.get(PLAN)),
        "tool_results": _results(outputs),
        "draft_response": str(draft.get("text") or "") if isinstance(draft, Mapping) else text,
        "requires_approval": asks or bool(_newest(outputs, "requires_approval")),
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


def _newest(outputs: Mapping[str, Any], field: str, beside: str | None = None) -> Any:
    """The value the latest stage gave to a field; `beside` names another that must stand next to
    it."""
    for output in reversed(list(outputs.values())):
        if isinstance(output, Mapping) and field in output and (beside is None or beside in output):
            return output[field]
    return None


def _selected(plan: Any) -> list[str]:
    try:
        return [] if plan is None else Plan.parse(plan).selected_tools
    except ValueError:
        return []


def _results(outputs: Mapping[str, Any]) -> Document:
    """Data or error by tool; of a tool that was called twice, both."""
    found: dict[str, list[Any]] = {}
    for output in outputs.values():
        results = output.get("results") if isinstance(output, Mapping) else None
        for one in results if isinstance(results, list) else ():
            if isinstance(one, Mapping) and "tool" in one:
                found.setdefault(str(one["tool"]), []).append(_result(one))
    return {tool: several[0] if len(several) == 1 else several for tool, several in found.items()}


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
