"""What of a run counts when two of them are compared, and where two of them differ.

What a run did and said counts; ids, times and the wording of errors do not.
"""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.story import Document
from deskhand.evals.run_facts import category_of, question_of, stages_of

_ROUTE = ("route", "profile", "rule", "flow")
_VERDICT = ("verdict", "rule")
_CALL = ("tool", "arguments")
_REPLY = ("to", "subject", "text")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Document]:
    """Returns `{what, before, now}` for each fact that differs, in the order of the facts."""
    return [
        {"what": name, "before": before.get(name), "now": after.get(name)}
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


def facts_of(run: Document) -> dict[str, Any]:
    question = question_of(run)
    calls = run["tool_calls"]
    return {
        "route": _present(run, _ROUTE),
        "status": run["status"],
        "error": run.get("error_code"),
        "category": category_of(run),
        "stages": stages_of(run),
        "tools": [_fields(call, _CALL) for call in calls],
        "verdicts": list(map(_verdict, calls)),
        "review": _review(run),
        "question": question and question["text"],
        "reply": run.get("reply") and _fields(run["reply"], _REPLY),
    }


def _fields(document: Document, names: tuple[str, ...]) -> Document:
    return {name: document.get(name) for name in names}


def _present(document: Document, names: tuple[str, ...]) -> Document:
    return {name: document[name] for name in names if document.get(name) is not None}


def _verdict(call: Document) -> Document:
    return {"tool": call.get("tool"), **_present(call, _VERDICT)}


def _review(run: Document) -> Document | None:
    """What a person is asked and decided.

    Of a run that failed, the reason is the wording of its error, whose code is compared by itself.
    """
    review = run.get("review")
    if review is None:
        return None
    facts = {"kind": review["kind"], "decision": review["decision"]}
    if not run.get("error_code"):
        facts["reason"] = review["reason"]
    return facts
