"""What of a run counts when two of them are compared: what it did and said, not ids, times and
wording of errors."""

from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.run_facts import category_of, question_of, stages_of

_VERDICT = ("verdict", "rule")


def facts_of(run: Document) -> dict[str, Any]:
    review, reply, question = run.get("review"), run.get("reply"), question_of(run)
    return {
        "route": {
            key: run.get(key)
            for key in ("route", "profile", "rule", "flow")
            if run.get(key) is not None
        },
        "status": run["status"],
        "error": run.get("error_code"),
        "category": category_of(run),
        "stages": stages_of(run),
        "tools": [
            {"tool": call.get("tool"), "arguments": call.get("arguments")}
            for call in run["tool_calls"]
        ],
        "verdicts": [_verdict(call) for call in run["tool_calls"]],
        "review": None
        if review is None
        else {"kind": review["kind"], "decision": review["decision"], **_reason(run)},
        "question": None if question is None else question["text"],
        "reply": None
        if reply is None
        else {key: reply.get(key) for key in ("to", "subject", "text")},
    }


def _verdict(call: Document) -> Document:
    known = {key: call.get(key) for key in _VERDICT if call.get(key) is not None}
    return {"tool": call.get("tool"), **known}


def _reason(run: Document) -> Document:
    """Why a person is asked; what an error said is wording, its code is compared by itself."""
    return {} if run.get("error_code") else {"reason": run["review"]["reason"]}
