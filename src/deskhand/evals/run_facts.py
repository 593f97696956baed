"""Reading what evals and replays compare out of a run document, whatever the desk's stages are
called."""

from collections.abc import Mapping
from typing import Any, cast

from deskhand.engine.manual_reply import ANSWER
from deskhand.engine.story import Document
from deskhand.language.identify import identify
from deskhand.model.plan import Plan, Respond, ToolCall
from deskhand.model.understanding import Understanding

_SURE = 0.5


def category_of(run: Document) -> str | None:
    """The category that the run's stages gave the message; the intent where none classified it."""
    understanding = Understanding(run["outputs"])
    return understanding.category or understanding.intent_id


def intent_of(run: Document) -> str | None:
    """The intent that the run's stages found; the category where none named an intent."""
    return Understanding(run["outputs"]).topic


def slots_of(run: Document) -> dict[str, Any]:
    """Values by slot: what `extract` stages and plans found; a service's own fields count under
    their names."""
    found: dict[str, Any] = {}
    for output in _outputs(run):
        found |= {
            name: value for name, value in output.items() if not isinstance(value, dict | list)
        }
        for field in ("values", "slots"):
            if isinstance(output.get(field), dict):
                found |= output[field]
    return found


def plan_of(run: Document) -> list[Document]:
    """The plan's steps as `{tool, arguments}`; steps that call no tool by their kind."""
    raw = run["outputs"].get("plan")
    try:
        plan = Plan.parse(raw)
    except ValueError:
        return []
    return [_step(step) for step in plan.steps]


def _step(step: Any) -> Document:
    if isinstance(step, ToolCall):
        return {"tool": step.tool, "arguments": step.parameters}
    return {"tool": "respond" if isinstance(step, Respond) else "ask_user", "arguments": {}}


def stages_of(run: Document) -> list[str]:
    """The flow's stages gone through, without repeated attempts and without the parts of stages."""
    path: list[str] = []
    for step in run["steps"]:
        name = step["name"]
        if "/" not in name and not name.startswith("@") and name != ANSWER and path[-1:] != [name]:
            path.append(name)
    return path


def verdicts_of(run: Document) -> list[tuple[str, str]]:
    """Tool and verdict of every call, the delivery of a reply included."""
    made = [(call["tool"], call["verdict"]) for call in run["tool_calls"] if call.get("verdict")]
    delivery = run.get("delivery")
    return made + (
        [("deliver_reply", delivery["verdict"])] if delivery and delivery.get("verdict") else []
    )


def question_of(run: Document) -> Document | None:
    """What the customer is asked, by which name, and which values the asking stage said were
    missing."""
    asked = run.get("question")
    if asked is None:
        return None
    missing = [
        name
        for output in _outputs(run)
        for name in output.get("missing") or ()
        if isinstance(name, str)
    ]
    return {**asked, "missing": missing}


def language_of_reply(reply: Mapping[str, Any]) -> str | None:
    """The language the text is in; what the draft says of itself counts only where the text does
    not tell."""
    found = identify(str(reply.get("text") or ""))
    return (
        found.code
        if found.code is not None and found.confidence >= _SURE
        else reply.get("language")
    )


def _outputs(run: Document) -> list[dict[str, Any]]:
    return [
        cast(dict[str, Any], output)
        for output in run["outputs"].values()
        if isinstance(output, dict)
    ]
