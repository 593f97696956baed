"""A recorded run made into a golden case: the message as it came, and what happened as what must
happen."""

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from deskhand.config.yaml import read_text
from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.divergence import turns_in
from deskhand.evals.given_turns import said_in
from deskhand.evals.lessons import edit_of, lesson_of
from deskhand.evals.recorded_runs import (
    AGENT_BRAIN,
    Happened,
    Moment,
    RecordedConversation,
    RecordedRun,
)
from deskhand.evals.recorded_tools import OUR_OWN, result_in
from deskhand.evals.run_facts import category_of, language_of_reply, stages_of
from deskhand.model.message import Message, iso
from deskhand.model.outcome import Outcome
from deskhand.model.principal import PrincipalKind
from deskhand.model.results import ToolResult, normalize_tool_result
from deskhand.model.run import Decision, Review, ReviewState

EDITED = "edited"
"""The tag of cases that a reviewer's edit taught."""
_WIDTH = 110


def case_of(conversation: RecordedConversation, case_id: str, tags: list[str]) -> Document:
    """One message, or the conversation's turns up to the run with what reviewers decided in
    between.

    Where a reviewer rewrote the reply, his decision is no turn of the case but what the desk's own
    reply must come to.
    """
    last = conversation.runs[-1]
    if last.why_not is not None:
        raise ConfigError(f"run {last.run.id} cannot become a case: {last.why_not}")
    moments = [
        one for one in conversation.moments() if one.kind in (Happened.ACCEPTED, Happened.DECIDED)
    ]
    edit = edit_of(last)
    if edit is not None:
        moments = [one for one in moments if one.kind is Happened.ACCEPTED or one.run is not last]
        tags = [*tags, EDITED]
    case: Document = {"id": case_id, "tags": tags} if tags else {"id": case_id}
    tools, said = _given(conversation), _said(conversation)
    given = {name: value for name, value in (("tools", tools), ("agent", said)) if value}
    if len(moments) == 1:
        case |= {"message": _message(last.records.message)}
    else:
        case |= {"turns": [_turn(one, is_last=one is moments[-1]) for one in moments]}
    expected = expected_of(last) if edit is None else _taught(last, edit)
    return case | ({"given": given} if given else {}) | {"expect": expected}


def _taught(recorded: RecordedRun, edit: Review) -> Document:
    """What holds before anybody looks at the reply, and what its reviewer made of it."""
    known = expected_of(recorded)
    kept = {name: known[name] for name in ("route", "flow", "category", "tools") if name in known}
    language = (known.get("reply") or {}).get("language")
    return kept | {"reply": lesson_of(edit) | ({"language": language} if language else {})}


def append_case(path: Path, case: Document) -> None:
    """Add a case to a file, keeping its comments; the file is made when it is not there."""
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    whole = yaml.load(read_text(path)) if path.is_file() else CommentedMap()
    cases = whole.setdefault("cases", CommentedSeq())
    cases.append(_readable(case))
    if len(cases) > 1:
        cases.yaml_set_comment_before_after_key(len(cases) - 1, before="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(whole, file)


def expected_of(recorded: RecordedRun) -> Document:
    """What happened, as far as it must happen again; the words of a reply only where no model
    chose them."""
    story = recorded.story
    review, reply = story["review"], story["reply"]
    verdicts = {
        call["tool"]: call["verdict"] for call in story["tool_calls"] if call.get("verdict")
    }
    known: Document = {
        "route": story["route"],
        "flow": story["flow"],
        "category": category_of(story),
        "stages": stages_of(story),
        "tools": [{call["tool"]: call["arguments"]} for call in story["tool_calls"]],
        "verdict": verdicts,
        "review": {"kind": review["kind"], "contains": review["reason"]}
        if _is_open(review)
        else None,
        "status": (_first_rest(recorded) if recorded.run.successor else None) or story["status"],
        "error": story["error_code"],
        "reply": None if reply is None else _reply(recorded, reply),
    }
    return {name: value for name, value in known.items() if value or name == "tools"}


def _is_open(review: Mapping[str, Any] | None) -> bool:
    return review is not None and review["state"] == ReviewState.OPEN and bool(review["reason"])


def _reply(recorded: RecordedRun, reply: Mapping[str, Any]) -> Document:
    known: Document = {}
    if language := language_of_reply(reply):
        known["language"] = language
    by_a_model = any((state.result.answered or {}).get("model") for state in recorded.states)
    if not by_a_model:
        known["equals"] = reply["text"]
    return known


def _turn(moment: Moment, *, is_last: bool) -> Document:
    run = moment.run
    assert run is not None
    if moment.kind is Happened.DECIDED:
        assert moment.review is not None
        return {"reviewer": _reviewer(moment.review)}
    turn: Document = {"customer": _message(run.records.message)}
    status = None if is_last else _first_rest(run)
    return turn | ({"expect": {"status": status}} if status else {})


def _first_rest(run: RecordedRun) -> str | None:
    """Where the run rested before anything else happened to it."""
    if run.records.reviews:
        return "waiting_review" if run.records.reviews[0].kind != "hand_over" else "needs_review"
    asked = run.states and run.states[-1].result.outcome is Outcome.CLARIFY
    return "waiting_user" if asked else None


def _reviewer(review: Review) -> Document | str:
    assert review.decision is not None
    text = (
        (review.edit or {}).get("text")
        if review.decision in (Decision.EDIT, Decision.ANSWER)
        else None
    )
    told = {"decision": str(review.decision), "note": review.note, "text": text}
    known = {name: value for name, value in told.items() if value}
    return str(review.decision) if len(known) == 1 else known


def _message(message: Message | None) -> Document:
    assert message is not None
    principal = message.principal
    known: Document = {
        "from": message.sender.address,
        "name": message.sender.name,
        "subject": message.subject,
        "body": message.body,
        "channel": None if message.channel == "api" else message.channel,
        "headers": dict(message.headers),
        "recipients": [one.address for one in message.recipients],
        "cc": [one.address for one in message.cc],
        "customer_id": principal.customer_id,
        "customer_tier": principal.tier,
        "authenticated": principal.kind is PrincipalKind.SENDER,
        "received_at": iso(message.received_at),
    }
    return {name: value for name, value in known.items() if value}


def _given(conversation: RecordedConversation) -> Document:
    """Results by tool, so that the case does not hang on data that changes."""
    found: dict[str, list[Document]] = {}
    for run in conversation.runs:
        for state in run.states:
            call, result = state.result.call, result_in(state.result)
            if call is not None and result is not None and call["tool"] not in OUR_OWN:
                entry = {"when": call.get("arguments") or {}, "result": _plain(result)}
                if entry not in found.setdefault(call["tool"], []):
                    found[call["tool"]].append(entry)
    return {
        tool: entries[0]["result"] if len(entries) == 1 else entries
        for tool, entries in found.items()
    }


def _said(conversation: RecordedConversation) -> list[Document]:
    """What the agent's model said, turn by turn through the conversation, so that the case needs
    none."""
    turns = [
        (state.row.started_at, item)
        for run in conversation.runs
        for state in run.states
        if (state.result.answered or {}).get("brain") == AGENT_BRAIN
        for item in turns_in(state.result.delta)
    ]
    return [said_in(turn) for _, turn in sorted(turns, key=itemgetter(0))]


def _plain(result: ToolResult) -> Document:
    """The data alone where that is read back as the same result."""
    data = dict(result.data or {})
    if result.ok and normalize_tool_result(data) == result:
        return data
    return result.model_dump(mode="json", exclude_none=True)


def _readable(value: Any) -> Any:
    """Short mappings and lists on one line, texts of several lines as blocks."""
    from ruamel.yaml.scalarstring import LiteralScalarString

    if isinstance(value, dict):
        made = CommentedMap({key: _readable(item) for key, item in value.items()})
        if len(str(value)) < _WIDTH - 20 and "\\n" not in str(value):
            made.fa.set_flow_style()
        return made
    if isinstance(value, list):
        listed = CommentedSeq(_readable(item) for item in value)
        if len(str(value)) < _WIDTH - 20 and all(isinstance(item, str) for item in value):
            listed.fa.set_flow_style()
        return listed
    if (
        isinstance(value, str)
        and "\n" in value
        and all(line.isprintable() for line in value.split("\n"))
    ):
        return LiteralScalarString(value)
    return value
