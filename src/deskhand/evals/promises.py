"""What a reply promises and nothing stands behind."""

from collections.abc import Sequence
from typing import Any

from deskhand.config.sections.outgoing import ClauseSpec
from deskhand.engine.story import Document, Records
from deskhand.evals.recorded_tools import result_in
from deskhand.outgoing.commitments import Backing, check_commitments, unbacked


def unbacked_promises(
    records: Records, reply: Document | None, clauses: Sequence[ClauseSpec]
) -> list[str]:
    """The sentences of a run's reply that neither a tool's result nor one of the desk's clauses
    backs."""
    if reply is None or records.message is None:
        return []
    results: list[dict[str, Any]] = []
    for state in records.states:
        call, result = state.result.call, result_in(state.result)
        if call is not None and result is not None and result.ok:
            known = {
                "tool": call["tool"],
                "arguments": call.get("arguments") or {},
                "data": result.data,
            }
            results.append(known | {"effect": (call.get("facts") or {}).get("effect", "read")})
    message = records.message
    backing = Backing(
        message.received_at, results, clauses, message=f"{message.subject}\n{message.body}"
    )
    found = unbacked(check_commitments(str(reply["text"]), reply.get("language"), backing))
    return list(dict.fromkeys(one.sentence for one in found))
