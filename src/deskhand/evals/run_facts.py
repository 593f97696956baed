"""Reads out of a run what evals and replays compare, whatever the desk's stages are called."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from deskhand.config.sections.outgoing import ClauseSpec
from deskhand.engine.journal import ANSWER
from deskhand.engine.story import Document, Records
from deskhand.evals.recorded_tools import result_in
from deskhand.language.identify import identify
from deskhand.model.message import OWN_TOOLS
from deskhand.model.plan import Plan, Respond, ToolCall
from deskhand.model.run import ReviewKind, ReviewState
from deskhand.model.understanding import Understanding
from deskhand.outgoing.backing import Backing
from deskhand.outgoing.commitments import check_commitments, unbacked

_SURE = 0.5


def category_of(run: Document) -> str | None:
    """Returns the category that the run's stages gave; the intent where none classified it."""
    understanding = Understanding(run["outputs"])
    return understanding.category or understanding.intent_id


def intent_of(run: Document) -> str | None:
    """Returns the intent that the run's stages found; the category where none named an intent."""
    return Understanding(run["outputs"]).topic


def slots_of(run: Document) -> dict[str, Any]:
    """Returns values by slot: those of `extract` stages and plans, and a service's own fields."""
    slots: dict[str, Any] = {}
    for output in _outputs(run):
        for name, value in output.items():
            if not isinstance(value, dict | list):
                slots[name] = value
        for field in ("values", "slots"):
            if isinstance(output.get(field), dict):
                slots |= output[field]
    return slots


def plan_of(run: Document) -> list[Document]:
    """Returns the plan's steps as `{tool, arguments}`; steps that call no tool by their kind."""
    try:
        plan = Plan.parse(run["outputs"].get("plan"))
    except ValueError:
        return []
    return [_step(step) for step in plan.steps]


def _step(step: Any) -> Document:
    if isinstance(step, ToolCall):
        return {"tool": step.tool, "arguments": step.parameters}
    return {"tool": "respond" if isinstance(step, Respond) else "ask_user", "arguments": {}}


def stages_of(run: Document) -> list[str]:
    """Returns the stages gone through, without repeated attempts and without parts of stages."""
    path: list[str] = []
    for step in run["steps"]:
        name = step["name"]
        is_stage = "/" not in name and not name.startswith("@") and name != ANSWER
        if is_stage and path[-1:] != [name]:
            path.append(name)
    return path


def verdicts_of(run: Document) -> list[tuple[str, str]]:
    """Returns tool and verdict of every call, the delivery of a reply included."""
    verdicts = [
        (call["tool"], call["verdict"]) for call in run["tool_calls"] if call.get("verdict")
    ]
    delivery = run.get("delivery")
    if delivery and delivery.get("verdict"):
        verdicts.append(("deliver_reply", delivery["verdict"]))
    return verdicts


def question_of(run: Document) -> Document | None:
    """Returns what the customer is asked, with the values that the asking stage said it lacks."""
    question = run.get("question")
    if question is None:
        return None
    missing: list[str] = []
    for output in _outputs(run):
        missing += [name for name in output.get("missing") or () if isinstance(name, str)]
    return {**question, "missing": missing}


def language_of_reply(reply: Mapping[str, Any]) -> str | None:
    """Returns the language of the text; where the text does not tell, what the draft says.

    What it quotes does not count: an article may be in another language than the reply.
    """
    lines = str(reply.get("text") or "").splitlines()
    language = identify("\n".join(line for line in lines if not line.startswith(">")))
    if language.code is not None and language.confidence >= _SURE:
        return language.code
    return reply.get("language")


def unbacked_promises(
    records: Records, reply: Document | None, clauses: Sequence[ClauseSpec]
) -> list[str]:
    """Returns the sentences of a reply that neither a tool's result nor a clause backs."""
    if reply is None or records.message is None:
        return []
    message = records.message
    asked = f"{message.subject}\n{message.body}"
    backing = Backing(message.received_at, _good_results(records), clauses, message=asked)
    commitments = check_commitments(str(reply["text"]), reply.get("language"), backing)
    return list(dict.fromkeys(commitment.sentence for commitment in unbacked(commitments)))


def acts_of(records: Records) -> list[Document]:
    """Returns the calls that changed something, or would have outside the sandbox; a reply, a
    draft and a hand-over are no acts."""
    acts: list[Document] = []
    for state in records.states:
        call = state.result.call
        if call is None or call.get("verdict") != "allow" or call.get("tool") in OWN_TOOLS:
            continue
        if (call.get("facts") or {}).get("effect", "read") != "read":
            acts.append({"tool": call["tool"], "arguments": call.get("arguments") or {}})
    return acts


def held_by_mode(records: Records) -> bool:
    """Whether nothing but the mode keeps the run's reply from leaving."""
    if not records.reviews:
        return False
    review = records.reviews[-1]
    waits = review.state is ReviewState.OPEN and review.kind is ReviewKind.REPLY
    return waits and review.payload.get("counts") is True


def asks_of(run: Document) -> list[Document]:
    """Returns what the brain took for the customer's asks, each with its article."""
    for output in Understanding(run["outputs"]).outputs:
        asks = output.get("asks")
        if isinstance(asks, list):
            return [ask for ask in asks if isinstance(ask, dict)]
    return []


def articles_of(run: Document) -> set[str]:
    """Returns the articles that the reply rests on; a translation is named with its original."""
    articles: set[str] = set()
    for output in _outputs(run):
        for source in output.get("sources") or ():
            if isinstance(source, dict) and isinstance(source.get("article"), str):
                articles |= {source["article"], source["article"].rpartition(".")[0]}
    return articles - {""}


def _good_results(records: Records) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for state in records.states:
        call = state.result.call
        result = result_in(state.result)
        if call is None or result is None or not result.ok:
            continue
        results.append(
            {
                "tool": call["tool"],
                "arguments": call.get("arguments") or {},
                "data": result.data,
                "effect": (call.get("facts") or {}).get("effect", "read"),
            }
        )
    return results


def _outputs(run: Document) -> list[dict[str, Any]]:
    return [
        cast(dict[str, Any], output)
        for output in run["outputs"].values()
        if isinstance(output, dict)
    ]
